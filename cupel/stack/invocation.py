"""Sends an event to a function of the local stack, as `sam local invoke` does where there is a container runtime."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from cupel.errors import UsageError
from cupel.stack.clients import Accessible, make_client
from cupel.stack.paths import STACK_NAME


class Invocation(NamedTuple):
    payload: Any
    failed: bool

    @property
    def failure(self) -> str | None:
        return str(self.payload.get("errorMessage")).partition("\n")[0] if self.failed else None


def function_names(sources: Path) -> list[str]:
    return sorted(handler.parent.name for handler in (sources / "functions").glob("*/app.py"))


def read_event(path: Path) -> Any:
    """Read the event. Raises UsageError for a file that is not JSON."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: is no file with the JSON of an event: {error}") from None


def invoke(cloud: Accessible, function: str, event: Any) -> Invocation:
    response = make_client("lambda", cloud).invoke(
        FunctionName=f"{STACK_NAME}-{function}", Payload=json.dumps(event).encode()
    )
    return Invocation(json.loads(response["Payload"].read()), "FunctionError" in response)


def try_invoke(cloud: Accessible, function: str, event: Any) -> Invocation:
    """Call a function that the stack can be used without: an error of the call counts as one of the function."""
    try:
        return invoke(cloud, function, event)
    except (BotoCoreError, ClientError) as error:
        return Invocation({"errorMessage": str(error)}, failed=True)
