"""Between the code and the services: latency, lost messages, clients that try again, and crashes at every call.

Everything that boto3 and PynamoDB do goes through one method of botocore's clients. The service carries a request out
when it arrives, whether or not its sender is still alive then.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError, ConnectionClosedError, ReadTimeoutError

from tests.simulation.bucket import Bucket
from tests.simulation.faults import Fault, Faults
from tests.simulation.machines import Machines
from tests.simulation.message_queues import Queues
from tests.simulation.scheduler import Crashed, Violation, World
from tests.simulation.services import Refused
from tests.simulation.table import Table

_ATTEMPTS = 5
_LATENCY = (0.002, 0.012)
_RETRIED = frozenset(
    {"ProvisionedThroughputExceededException", "ThrottlingException", "TransactionInProgressException"}
)
"""Codes that botocore's standard mode tries again; TransactionConflictException is none of them."""
_POLL_SECONDS = 0.25

_SLOWNESS, _LATE_SECONDS = 100, 8.0


class _Fate(NamedTuple):
    """What a caller gets in the place of an answer, and after how many seconds."""

    kind: type[BotoCoreError]
    seconds: float

    def __call__(self) -> tuple[Exception, float]:
        """A new exception each time: one that is raised again and again keeps all its tracebacks."""
        return self.kind(endpoint_url="the service"), self.seconds


_LOST, _GONE = _Fate(ConnectionClosedError, 1.0), _Fate(ReadTimeoutError, 3.0)
_BEFORE = {Fault.LOST_REQUEST: _LOST, Fault.OUTAGE: _GONE}
_AFTER = {Fault.LOST_REPLY: _LOST, Fault.OUTAGE_AFTER: _GONE}
"""Before the request has had its effect, and after."""

type Answer = Callable[[Any], None]


class Network:
    def __init__(
        self, world: World, faults: Faults, table: Table, queues: Queues, bucket: Bucket, machines: Machines
    ) -> None:
        self._world = world
        self._faults = faults
        self._table = table
        self._queues = queues
        self._services: dict[str, Any] = {
            "dynamodb": table,
            "sqs": queues,
            "s3": bucket,
            "stepfunctions": machines,
        }

    def call(self, client: BaseClient, operation: str, request: Any) -> Any:
        """What `client` answers, raising what botocore raises. Outside of invocations nothing takes time or fails."""
        service = client.meta.service_model.service_name
        if self._world.current is None:
            return self._checked(client, operation, self._at_once(service, operation, request))
        if operation == "TransactWriteItems":
            # botocore gives all attempts at a transaction one token; DynamoDB carries them out once.
            request = {"ClientRequestToken": f"{self._world.rng.getrandbits(64):x}", **request}
        return self._checked(client, operation, self._tried(service, operation, request))

    def _tried(self, service: str, operation: str, request: Any) -> Any:
        for attempt in range(_ATTEMPTS):
            answer = self._attempt(service, operation, request)
            if not _is_retried(answer):
                break
            if attempt + 1 < _ATTEMPTS:
                self._world.sleep(self._world.rng.uniform(0, min(20.0, 2.0**attempt)))
        if not isinstance(answer, Refused) and isinstance(answer, Exception) and self._world.current is not None:
            self._world.current.invocation.was_hurt = True
        return answer

    def _attempt(self, service: str, operation: str, request: Any) -> Any:
        """The reply, or the exception in its place."""
        world, fault = self._world, self._faults.of_call(can_conflict=operation == "TransactWriteItems")
        invocation = world.current.invocation if world.current else None
        assert invocation is not None
        if invocation.is_dead:
            raise Crashed
        if _is_in_event_loop():
            world.fail(Violation(f"{operation} {_gist(request)} blocks the event loop of {invocation.name}"))
            raise Crashed
        world.log(f"{operation} {_gist(request)}{f' !! {fault}' if fault else ''}")
        if fault is Fault.CRASH_BEFORE:
            world.kill(invocation)
            raise Crashed
        slot: list[Any] = []
        ticket = world.ticket()

        def arrive(answer: Any, delay: float) -> None:
            slot.append(answer)
            world.wake(ticket, delay)

        def answered(answer: Any) -> None:
            if fault is Fault.CRASH_AFTER:
                world.kill(invocation)
            else:
                late = _LATE_SECONDS if fault is Fault.LATE else 0.0
                arrive(*(_AFTER[fault]() if fault in _AFTER else (answer, world.rng.uniform(*_LATENCY) + late)))

        if fault in _BEFORE:
            arrive(*_BEFORE[fault]())
        else:
            invocation.was_late |= fault is Fault.LATE
            latency = world.rng.uniform(*_LATENCY) * (_SLOWNESS if fault is Fault.SLOW else 1)
            world.after(latency, lambda: self._serve(service, operation, request, fault, answered))
        world.suspend()
        return slot[0]

    def _serve(self, service: str, operation: str, request: Any, fault: Fault | None, answered: Answer) -> None:
        """What the service does when the request has arrived."""
        if fault is Fault.THROTTLED:
            answered(Refused("ThrottlingException", "Rate exceeded"))
        elif fault is Fault.CONFLICT:
            reasons = [{"Code": "TransactionConflict"} for _ in request["TransactItems"]]
            answered(Refused("TransactionCanceledException", "conflict", CancellationReasons=reasons))
        elif operation == "TransactWriteItems":
            self._transact(request, answered)
        elif operation == "ReceiveMessage":
            self._receive(request, self._world.now + request.get("WaitTimeSeconds", 0), answered)
        else:
            answered(self._at_once(service, operation, request))

    def _at_once(self, service: str, operation: str, request: Any) -> Any:
        try:
            if operation == "TransactWriteItems":
                return self._table.commit(request, self._table.begin(request) or [])
            return self._services[service].execute(operation, request)
        except Refused as refusal:
            self._count(refusal)
            return refusal

    def _transact(self, request: Any, answered: Answer) -> None:
        """In two steps, so that transactions can meet."""
        try:
            keys = self._table.begin(request)
        except Refused as refusal:
            self._count(refusal)
            answered(refusal)
            return
        if keys is None:
            answered({})
            return

        def commit() -> None:
            try:
                answered(self._table.commit(request, keys))
            except Refused as refusal:
                self._count(refusal)
                answered(refusal)

        self._world.after(self._world.rng.uniform(*_LATENCY), commit)

    def _receive(self, request: Any, deadline: float, answered: Answer) -> None:
        answer = self._queues.execute("ReceiveMessage", request)
        if answer or self._world.now >= deadline:
            answered(answer)
        else:
            self._world.after(_POLL_SECONDS, lambda: self._receive(request, deadline, answered))

    def _count(self, refusal: Refused) -> None:
        codes = [reason["Code"] for reason in refusal.more.get("CancellationReasons", [])]
        if refusal.code == "ConditionalCheckFailedException" or "ConditionalCheckFailed" in codes:
            self._faults.count(Fault.CONDITION)
        if refusal.code == "TransactionConflictException" or "TransactionConflict" in codes:
            self._faults.count(Fault.CONFLICT)

    def _checked(self, client: BaseClient, operation: str, answer: Any) -> Any:
        if isinstance(answer, Refused):
            self._world.log(f"{operation} refused: {answer}")
            response: Any = {
                "Error": {"Code": answer.code, "Message": answer.message},
                "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {}},
                **answer.more,
            }
            raise client.exceptions.from_code(answer.code)(response, operation)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _is_retried(answer: Any) -> bool:
    """An outage is an error that has outlived botocore's attempts already."""
    if isinstance(answer, Refused):
        return answer.code in _RETRIED
    return isinstance(answer, ConnectionClosedError)


def _gist(request: Any) -> str:
    """What a trace tells of a request."""
    if "TransactItems" in request:
        return " + ".join(_gist(next(iter(write.values()))) for write in request["TransactItems"])
    key = request.get("Key") or request.get("Item")
    if isinstance(key, dict) and "pk" in key:
        place = f"{key['pk']['S'].rpartition('run_')[2][22:] or key['pk']['S']}/{key['sk']['S']}"
        values = request.get("ExpressionAttributeValues") or {}
        return f"{place} {request.get('UpdateExpression', '')} {values if 'UpdateExpression' in request else ''}"
    if isinstance(key, str):
        return key
    if "QueueUrl" in request:
        bodies = [entry.get("MessageBody", entry.get("ReceiptHandle")) for entry in request.get("Entries", [])]
        return f"{request['QueueUrl'].rpartition('/')[2]} {bodies or request.get('ReceiptHandle', '')}"
    return str(request.get("name") or request.get("ExpressionAttributeValues") or "")
