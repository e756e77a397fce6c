"""The policies of the functions, in the names of recorded calls."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tests.aws_calls.recording import Calls, pairs, recorded
from tests.unit.test_template import as_list, functions, resources


class Permission(NamedTuple):
    effect: str
    action: str
    resource: str
    """Pattern of the names in recorded.json."""

    def covers(self, action: str, resource: str) -> bool:
        return fnmatchcase(action, self.action) and fnmatchcase(resource, self.resource)


def permissions(document: dict[str, Any]) -> list[Permission]:
    return [
        Permission(_effect(statement["Effect"]), action, resource_pattern(resource))
        for statement in document["Statement"]
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    ]


def _effect(written: str | dict[str, Any]) -> str:
    """The effect when the condition of one that depends on a parameter is met."""
    return written if isinstance(written, str) else str(written["Fn::If"][1])


def resource_pattern(reference: Any) -> str:
    match reference:
        case {"Fn::If": [_, _, otherwise]}:
            return resource_pattern(otherwise)
        case {"Fn::GetAtt": [key, _]} | {"Ref": key}:
            properties = resources().get(key, {}).get("Properties", {})
            name = properties.get("QueueName", properties.get("Name"))
            return _without_stack_name(name["Fn::Sub"]) if name else str(key).lower()
        case {"Fn::Sub": str(text)}:
            return _pattern_of_text(text)
    raise AssertionError(f"unexpected resource: {reference}")


def _pattern_of_text(text: str) -> str:
    if text.startswith("${Table.Arn}/"):
        return "index"
    if text.startswith("${Bucket.Arn}/"):
        return text.split("/")[1]
    service, *_, name = text.replace("AWS::", "").split(":", 5)[2:]
    fixed = {"secretsmanager": "cupel", "scheduler": "schedule", "bedrock": "model"}
    return fixed.get(service) or _without_stack_name(name).removesuffix(":*")


def _without_stack_name(text: str) -> str:
    return text.replace("AWS::", "").rpartition("${StackName}-")[2]


def own_permissions(folder: str) -> list[Permission]:
    documents = [policy for policy in functions()[folder]["Policies"] if "Statement" in policy]
    return [permission for document in documents for permission in permissions(document)]


def shared_permissions(key: str) -> list[Permission]:
    return permissions(resources()[key]["Properties"]["PolicyDocument"])


def shared_policies(folder: str) -> list[str]:
    return [policy["Ref"] for policy in functions()[folder]["Policies"] if "Ref" in policy]


def all_permissions(folder: str) -> list[Permission]:
    shared = [permission for key in shared_policies(folder) for permission in shared_permissions(key)]
    return [*own_permissions(folder), *shared]


def is_allowed(folder: str, action: str, resource: str) -> bool:
    if folder not in functions():
        return False
    return {each.effect for each in all_permissions(folder) if each.covers(action, resource)} == {"Allow"}


def refused(calls: Calls) -> list[str]:
    """The calls that the template's policies do not allow; on AWS, they would fail with AccessDenied."""
    return [
        f"functions/{folder} calls {action} on {resource}, which its policies in template.yaml do not allow"
        for folder, action, resource in sorted(pairs(calls))
        if not is_allowed(folder, action, resource)
    ]


def unused(granted: Iterable[Permission], folders: set[str]) -> list[Permission]:
    calls = [(action, resource) for folder, action, resource in pairs(recorded()) if folder in folders]
    return [
        permission
        for permission in granted
        if permission.effect == "Allow" and not any(permission.covers(*call) for call in calls)
    ]
