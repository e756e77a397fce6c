"""Invocations of functions, by name or by the messages of their queues, with skewed clocks, crashes and timeouts."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from pynamodb.exceptions import PynamoDBException

from cupel_core.base.errors import AppError
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import settings
from tests.simulation.faults import Fault, Faults
from tests.simulation.machines import StateMachines, TaskResult
from tests.simulation.message_queues import QueuedMessage, Queues
from tests.simulation.network import Network
from tests.simulation.scheduler import Invocation, Scheduler, Violation
from tests.simulation.table import Table

if TYPE_CHECKING:
    from tests.simulation.tools import Tools

_CONCURRENCY = 2
_MAX_SKEW_SECONDS, _MAX_LARGE_SKEW_SECONDS = 0.5, 600.0
EXPECTED_ERRORS = (AppError, *AWS_ERRORS, PynamoDBException)
"""Errors that may end an invocation; any other is a bug."""

type OnEnd = Callable[[TaskResult], None]


class FunctionCloud:
    """What the clouds of all schedules have in common."""

    models: Any
    invariants: Any
    table: Table
    queues: Queues
    machines: StateMachines
    network: Network
    tools: "Tools | None" = None
    has_large_skew: bool = False
    has_limited_sweeper: bool = False
    has_workspace_budget: bool = False
    chat_retention: timedelta | None = None
    """How long chats are kept that nobody changes."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None) -> None:
        self.seed = seed
        self.scheduler = Scheduler(seed, trace)
        self.faults = Faults(self.scheduler.rng)
        self.active_invocations = 0
        self._running: dict[str, int] = {}
        """By queue with a function, how many of its messages are being processed."""
        self._numbers = count(1)

    def invoke(self, name: str, seconds: float, work: Callable[[Invocation], Any], then: OnEnd) -> None:
        """Invoke a function; `then` is called exactly once with its result, even after a crash or a timeout."""
        skew = self._skew()
        results: list[TaskResult] = []

        def end(result: TaskResult) -> None:
            if not results:
                results.append(result)
                self.active_invocations -= 1
                self.scheduler.log(f"{invocation.name} ended: {result.error or 'success'}")
                then(result)

        invocation = Invocation(
            f"{name}-{next(self._numbers)}", skew, on_crash=lambda: end(TaskResult(error="crashed"))
        )

        def job() -> None:
            try:
                result = TaskResult(work(invocation))
            except EXPECTED_ERRORS as error:
                invocation.had_failure = True
                result = TaskResult(error=f"{type(error).__name__}: {error}", cause=error)
            self.scheduler.end_threads(invocation)
            end(result)

        def time_out() -> None:
            if not results and not invocation.was_delayed:
                raise Violation(f"{invocation.name} did not end within {seconds:.0f} s")
            crash()

        def crash() -> None:
            if not results:
                self.scheduler.kill(invocation)

        self.active_invocations += 1
        self.scheduler.spawn(invocation, job)
        self.scheduler.after(seconds, time_out)
        if self.faults.happens(Fault.CRASH, self.faults.crash_rate):
            self.scheduler.after(self.scheduler.rng.expovariate(0.5), crash)

    def _skew(self) -> float:
        max_seconds = _MAX_LARGE_SKEW_SECONDS if self.has_large_skew else _MAX_SKEW_SECONDS
        return self.scheduler.rng.uniform(-max_seconds, max_seconds) if self.faults.happens(Fault.SKEW, 0.5) else 0.0

    # -- event source mappings

    def _notify(self, name: str, seconds: float) -> None:
        if name in self._running:
            self.scheduler.after(seconds + self.scheduler.rng.uniform(0.001, 0.02), lambda: self._poll(name))

    def _poll(self, name: str) -> None:
        """Deliver the queue's messages to its function, one per invocation."""
        queue = self.queues.get_queue(name)
        while self._running[name] < _CONCURRENCY:
            messages = self.queues.receive(queue, 1)
            if not messages:
                return
            self._running[name] += 1
            self._deliver(name, messages[0])

    def _deliver(self, name: str, message: QueuedMessage) -> None:
        def on_end(result: TaskResult) -> None:
            self._running[name] -= 1
            if result.error is None and message.id not in result.result:
                self.queues.delete(self.queues.get_queue(name), message.receipt)
            self._poll(name)

        delivery = Delivery(settings().queue_url(name), message.id, message.receipt, message.body, message.receives)
        self._consume(name, delivery, on_end)

    def _consume(self, name: str, delivery: Delivery, on_end: OnEnd) -> None:
        """Invoke the queue's function with a message. Its result is the ids of the messages to deliver again."""
        raise NotImplementedError
