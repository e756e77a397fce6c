"""Between the code and the services: latency, lost messages, retrying clients, and crashes at every call.

All calls of boto3 and PynamoDB pass through one method of botocore's clients. The service executes a request when it
arrives, whether or not its sender is still alive.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError, ConnectionClosedError, ReadTimeoutError

from tests.simulation.bucket import Bucket
from tests.simulation.faults import Fault, Faults
from tests.simulation.machines import StateMachines
from tests.simulation.message_queues import Queues
from tests.simulation.scheduler import Crashed, Scheduler, Violation
from tests.simulation.services import ServiceError
from tests.simulation.table import Table

_ATTEMPTS = 5
_LATENCY = (0.002, 0.012)
_RETRIED_CODES = frozenset(
    {"ProvisionedThroughputExceededException", "ThrottlingException", "TransactionInProgressException"}
)
"""Codes that botocore's standard mode retries; TransactionConflictException is not among them."""
_POLL_SECONDS = 0.25

_SLOW_FACTOR, _LATE_SECONDS = 100, 8.0


class _InjectedError(NamedTuple):
    """The exception a caller gets instead of a response, and after how many seconds."""

    kind: type[BotoCoreError]
    seconds: float

    def __call__(self) -> tuple[Exception, float]:
        """A new exception each time: one raised repeatedly would accumulate tracebacks."""
        return self.kind(endpoint_url="the service"), self.seconds


_CONNECTION_CLOSED, _READ_TIMEOUT = _InjectedError(ConnectionClosedError, 1.0), _InjectedError(ReadTimeoutError, 3.0)
_BEFORE = {Fault.LOST_REQUEST: _CONNECTION_CLOSED, Fault.OUTAGE: _READ_TIMEOUT}
_AFTER = {Fault.LOST_REPLY: _CONNECTION_CLOSED, Fault.OUTAGE_AFTER: _READ_TIMEOUT}
"""Errors raised before the request takes effect, and after."""

type Respond = Callable[[Any], None]


class Network:
    def __init__(
        self,
        scheduler: Scheduler,
        faults: Faults,
        table: Table,
        queues: Queues,
        bucket: Bucket,
        machines: StateMachines,
    ) -> None:
        self._scheduler = scheduler
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
        """Return the response, or raise as botocore would. Calls outside of invocations are instant and never fail."""
        service = client.meta.service_model.service_name
        if self._scheduler.current is None:
            return self._raise_or_return(client, operation, self._execute_now(service, operation, request))
        if operation == "TransactWriteItems":
            # botocore gives all attempts at a transaction one token; DynamoDB executes them once.
            request = {"ClientRequestToken": f"{self._scheduler.rng.getrandbits(64):x}", **request}
        return self._raise_or_return(client, operation, self._call_with_retries(service, operation, request))

    def _call_with_retries(self, service: str, operation: str, request: Any) -> Any:
        for attempt in range(_ATTEMPTS):
            response = self._attempt(service, operation, request)
            if not _is_retried(response):
                break
            if attempt + 1 < _ATTEMPTS:
                self._scheduler.sleep(self._scheduler.rng.uniform(0, min(20.0, 2.0**attempt)))
        if (
            not isinstance(response, ServiceError)
            and isinstance(response, Exception)
            and self._scheduler.current is not None
        ):
            self._scheduler.current.invocation.had_failure = True
        return response

    def _attempt(self, service: str, operation: str, request: Any) -> Any:
        """The response, or the exception that replaces it."""
        scheduler, fault = self._scheduler, self._faults.draw_for_call(can_conflict=operation == "TransactWriteItems")
        invocation = scheduler.current.invocation if scheduler.current else None
        assert invocation is not None
        if invocation.is_dead:
            raise Crashed
        if _is_in_event_loop():
            scheduler.fail(Violation(f"{operation} {_describe(request)} blocks the event loop of {invocation.name}"))
            raise Crashed
        scheduler.log(f"{operation} {_describe(request)}{f' !! {fault}' if fault else ''}")
        if fault is not None:
            invocation.last_fault_at = scheduler.now
        if fault is Fault.CRASH_BEFORE:
            scheduler.kill(invocation)
            raise Crashed
        slot: list[Any] = []
        ticket = scheduler.ticket()

        def arrive(response: Any, delay: float) -> None:
            slot.append(response)
            scheduler.wake(ticket, delay)

        def respond(response: Any) -> None:
            if fault is Fault.CRASH_AFTER:
                scheduler.kill(invocation)
            else:
                late = _LATE_SECONDS if fault is Fault.LATE else 0.0
                arrive(*(_AFTER[fault]() if fault in _AFTER else (response, scheduler.rng.uniform(*_LATENCY) + late)))

        if fault in _BEFORE:
            arrive(*_BEFORE[fault]())
        else:
            invocation.was_delayed |= fault is Fault.LATE
            latency = scheduler.rng.uniform(*_LATENCY) * (_SLOW_FACTOR if fault is Fault.SLOW else 1)
            scheduler.after(latency, lambda: self._serve(service, operation, request, fault, respond))
        scheduler.suspend()
        return slot[0]

    def _serve(self, service: str, operation: str, request: Any, fault: Fault | None, respond: Respond) -> None:
        """Handle a request that has arrived at the service."""
        if fault is Fault.THROTTLED:
            respond(ServiceError("ThrottlingException", "Rate exceeded"))
        elif fault is Fault.CONFLICT:
            reasons = [{"Code": "TransactionConflict"} for _ in request["TransactItems"]]
            respond(ServiceError("TransactionCanceledException", "conflict", CancellationReasons=reasons))
        elif operation == "TransactWriteItems":
            self._transact(request, respond)
        elif operation == "ReceiveMessage":
            self._receive(request, self._scheduler.now + request.get("WaitTimeSeconds", 0), respond)
        else:
            respond(self._execute_now(service, operation, request))

    def _execute_now(self, service: str, operation: str, request: Any) -> Any:
        try:
            if operation == "TransactWriteItems":
                return self._table.commit(request, self._table.begin(request) or [])
            return self._services[service].execute(operation, request)
        except ServiceError as error:
            self._count(error)
            return error

    def _transact(self, request: Any, respond: Respond) -> None:
        """In two steps, so that transactions can conflict."""
        try:
            keys = self._table.begin(request)
        except ServiceError as error:
            self._count(error)
            respond(error)
            return
        if keys is None:
            respond({})
            return

        def commit() -> None:
            try:
                respond(self._table.commit(request, keys))
            except ServiceError as error:
                self._count(error)
                respond(error)

        self._scheduler.after(self._scheduler.rng.uniform(*_LATENCY), commit)

    def _receive(self, request: Any, deadline: float, respond: Respond) -> None:
        response = self._queues.execute("ReceiveMessage", request)
        if response or self._scheduler.now >= deadline:
            respond(response)
        else:
            self._scheduler.after(_POLL_SECONDS, lambda: self._receive(request, deadline, respond))

    def _count(self, error: ServiceError) -> None:
        codes = [reason["Code"] for reason in error.fields.get("CancellationReasons", [])]
        if error.code == "ConditionalCheckFailedException" or "ConditionalCheckFailed" in codes:
            self._faults.count(Fault.CONDITION)
        if error.code == "TransactionConflictException" or "TransactionConflict" in codes:
            self._faults.count(Fault.CONFLICT)

    def _raise_or_return(self, client: BaseClient, operation: str, response: Any) -> Any:
        if isinstance(response, ServiceError):
            self._scheduler.log(f"{operation} failed: {response}")
            error_response: Any = {
                "Error": {"Code": response.code, "Message": response.message},
                "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {}},
                **response.fields,
            }
            raise client.exceptions.from_code(response.code)(error_response, operation)
        if isinstance(response, Exception):
            raise response
        return response


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _is_retried(response: Any) -> bool:
    """An outage is not retried: it stands for an error that persisted through botocore's attempts."""
    if isinstance(response, ServiceError):
        return response.code in _RETRIED_CODES
    return isinstance(response, ConnectionClosedError)


def _describe(request: Any) -> str:
    """A request as shown in a trace."""
    if "TransactItems" in request:
        return " + ".join(_describe(next(iter(write.values()))) for write in request["TransactItems"])
    key = request.get("Key") or request.get("Item")
    if isinstance(key, dict) and "pk" in key:
        item_key = f"{key['pk']['S'].rpartition('run_')[2][22:] or key['pk']['S']}/{key['sk']['S']}"
        values = request.get("ExpressionAttributeValues") or {}
        return f"{item_key} {request.get('UpdateExpression', '')} {values if 'UpdateExpression' in request else ''}"
    if isinstance(key, str):
        return key
    if "QueueUrl" in request:
        bodies = [entry.get("MessageBody", entry.get("ReceiptHandle")) for entry in request.get("Entries", [])]
        return f"{request['QueueUrl'].rpartition('/')[2]} {bodies or request.get('ReceiptHandle', '')}"
    return str(request.get("name") or request.get("ExpressionAttributeValues") or "")
