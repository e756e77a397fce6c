"""botocore hooks that fail one call of one function: before it is sent, or after its effect with the reply lost."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from cupel_core.store import clients, table


class When(StrEnum):
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, order=True)
class Call:
    """The nth call of an operation by a function within a workflow, from 1."""

    function: str
    operation: str
    number: int


@dataclass(frozen=True)
class Fault:
    call: Call
    when: When

    def __str__(self) -> str:
        return f"{self.when} {self.call.function}:{self.call.operation}:{self.call.number}"


@dataclass
class Faults:
    """Counts the calls of the current function, and fails the call it was armed with."""

    armed: Fault | None = None
    was_injected: bool = False
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    receipts: set[tuple[str, str]] = field(default_factory=set)
    """(queue URL, receipt) of every received message."""
    _function: str | None = None
    _lock: Any = field(default_factory=Lock)

    def attach(self) -> None:
        for client in _aws_clients():
            client.meta.events.register_first("before-call", self._before)
            client.meta.events.register_first("after-call", self._after)

    def arm(self, fault: Fault | None) -> None:
        self.armed, self.was_injected = fault, False
        self.seen.clear()
        self.receipts.clear()

    @contextmanager
    def within(self, function: str) -> Iterator[None]:
        """Attribute calls made within the block to this function."""
        self._function = function
        try:
            yield
        finally:
            self._function = None

    def calls(self) -> list[Call]:
        """All calls since `arm`."""
        return [Call(*kind, n) for kind, count in sorted(self.seen.items()) for n in range(1, count + 1)]

    def _before(self, model: Any, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if self._function is None:
            return
        operation = f"{model.service_model.service_id.hyphenize()}.{model.name}"
        with self._lock:
            self.seen[self._function, operation] += 1
            call = Call(self._function, operation, self.seen[self._function, operation])
        context["cupel_call"] = call
        if model.name == "ReceiveMessage":
            context["cupel_queue"] = json.loads(params["body"])["QueueUrl"]
        if self._injects(call, When.BEFORE):
            raise EndpointConnectionError(endpoint_url=params["url"])

    def _after(self, model: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        call = context.get("cupel_call")
        if call is None:
            return
        for message in parsed.get("Messages", []):
            self.receipts.add((context["cupel_queue"], message["ReceiptHandle"]))
        if self._injects(call, When.AFTER):
            raise ReadTimeoutError(endpoint_url=model.name)

    def _injects(self, call: Call, when: When) -> bool:
        if self.armed != Fault(call, when):
            return False
        self.was_injected = True
        return True


def _aws_clients() -> list[Any]:
    """All AWS clients of the functions: those of `cupel_core`, and one of each PynamoDB connection."""
    own = [getattr(clients, name)() for name in ("dynamodb", "s3", "sqs", "stepfunctions", "secretsmanager")]
    models = [model._get_connection().connection.client for model in table.Item.__subclasses__()]
    return list({id(client): client for client in [*own, table.connection().client, *models]}.values())
