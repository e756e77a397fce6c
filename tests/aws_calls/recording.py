"""The AWS calls that the functions of a stack make in the tests, as recorded by hook/sitecustomize.py.

The tests that use a stack compare their own calls with the policies of the template: none may be refused. The other
way, `recorded.json` has the calls that sessions have made, by function and IAM action, so that a unit test finds
permissions that no call needs. `UPDATE_RECORDED_CALLS=1 make test` adds the calls of a session; calls that the code no
longer makes are deleted by hand.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

HOOK = Path(__file__).parent / "hook"
RECORDED_FILE = Path(__file__).parent / "recorded.json"

type Calls = Mapping[str, Mapping[str, list[str]]]
"""Resources by function and IAM action."""

_ACTIONS = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:DeleteObjects": "s3:DeleteObject",
    "bedrock:Converse": "bedrock:InvokeModel",
}
"""IAM actions of operations that have another name."""


def variables(file: Path) -> dict[str, str]:
    """The emulator's variables that make its functions record their calls in `file`."""
    return {"PYTHONPATH": str(HOOK), "RECORDED_CALLS_FILE": str(file)}


def read(file: Path, stack_name: str) -> Calls:
    lines = file.read_text().splitlines() if file.exists() else []
    return group(_call(stack_name, *json.loads(line)) for line in lines)


def group(calls: Iterable[tuple[str, str, str]]) -> Calls:
    grouped: dict[str, dict[str, set[str]]] = {}
    for function, action, resource in calls:
        grouped.setdefault(function, {}).setdefault(action, set()).add(resource)
    return {
        function: {action: sorted(resources) for action, resources in sorted(actions.items())}
        for function, actions in sorted(grouped.items())
    }


def pairs(calls: Calls) -> set[tuple[str, str, str]]:
    return {
        (function, action, resource)
        for function, actions in calls.items()
        for action, resources in actions.items()
        for resource in resources
    }


def recorded() -> Calls:
    calls: Calls = json.loads(RECORDED_FILE.read_text())
    return calls


def update(calls: Calls) -> None:
    """Add the calls to the recorded ones; for `UPDATE_RECORDED_CALLS=1`."""
    if os.environ.get("UPDATE_RECORDED_CALLS"):
        RECORDED_FILE.write_text(json.dumps(group(pairs(recorded()) | pairs(calls)), indent=2) + "\n")


def _call(stack_name: str, function: str, service: str, operation: str, resource: str) -> tuple[str, str, str]:
    action = f"{service}:{operation}"
    return (
        function.removeprefix(f"{stack_name}-"),
        _ACTIONS.get(action, action),
        _resource(stack_name, service, resource),
    )


def _resource(stack_name: str, service: str, resource: str) -> str:
    """The part of an ARN that policies distinguish, without generated names."""
    match service:
        case "dynamodb":
            return "index" if "/index/" in resource else "table"
        case "s3":
            return resource.partition("/")[2] or "bucket"
        case "sqs":
            return _queue(resource.rpartition("/")[2].removeprefix(f"{stack_name}-"))
        case "states":
            return resource.split(":")[6].removeprefix(f"{stack_name}-")
        case "secretsmanager":
            return resource.partition("/")[0]
        case "scheduler":
            return "schedule"
        case "bedrock":
            return "model"
    raise AssertionError(
        f"calls of {service} are not recorded yet: say here which part of a resource policies distinguish"
    )


def _queue(name: str) -> str:
    """All providers and priorities have the same kind of queue."""
    if name.startswith("probe_"):
        return "probe_*-dlq" if name.endswith("-dlq") else "probe_*"
    return name
