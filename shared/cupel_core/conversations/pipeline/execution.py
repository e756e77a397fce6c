"""Executes the operations of one hook: as many at a time as the mode allows, each once its dependencies are done."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import field
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.profiles import ExecutionMode
from cupel_core.domain.pipeline.results import PaidAnswer, StepResult
from cupel_core.domain.pipeline.steps import HookSteps, Results, ready_steps, settle

type PerformStep = Callable[[ProfileOperation, Results], Coroutine[Any, Any, StepResult]]
type OnPaid = Callable[[Results, Mapping[str, PaidAnswer]], Awaitable[None]]


@dataclass
class HookExecution:
    """`on_paid` stores the results after a call that was paid for, before anything that depends on it starts."""

    steps: HookSteps
    mode: ExecutionMode
    perform: PerformStep
    on_paid: OnPaid
    results: dict[str, StepResult] = field(default_factory=dict)
    """Operations whose results an earlier attempt has recorded are not executed again."""
    answers: dict[str, PaidAnswer] = field(default_factory=dict)
    """It has the answers that models gave to `perform`, also in an earlier attempt; not all have become results."""
    _running: dict[str, asyncio.Task[StepResult]] = field(default_factory=dict, init=False)

    async def run(self) -> Results:
        """Return the results of all operations. An exception that prevents or postpones a call passes through, once
        every call in flight has ended and what it cost is stored."""
        try:
            while self._start_next():
                if not any(task.done() for task in self._running.values()):
                    await asyncio.wait(self._running.values(), return_when=asyncio.FIRST_COMPLETED)
                await self._collect()
        except BaseException:
            await self._drain()
            raise
        return self.results

    def _start_next(self) -> bool:
        """Start the operations that are ready, and return whether any operation is running."""
        self.results = settle(self.steps, self.results)
        loop = asyncio.get_running_loop()
        for step in ready_steps(self.steps, self.results, self._running.keys(), self.mode):
            # Most operations only render a template: such a task has ended when it is made.
            self._running[step.id] = asyncio.Task(self.perform(step, self.results), loop=loop, eager_start=True)
        return bool(self._running)

    async def _collect(self) -> None:
        """Record what has ended. Raises what prevented one of them."""
        ended = [name for name, task in self._running.items() if task.done()]
        tasks = {name: self._running.pop(name) for name in ended}
        made = {name: task.result() for name, task in tasks.items() if not task.cancelled() and not task.exception()}
        self.results |= made
        if any(result.spend.has_calls for result in made.values()):
            await self.on_paid(self.results, self.answers)
        for task in tasks.values():
            task.result()

    async def _drain(self) -> None:
        """Calls in flight may be paid for: they end and are stored, unless this task is cancelled itself."""
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            for task in self._running.values():
                task.cancel()
        if self._running:
            await asyncio.wait(self._running.values())
        paid = {name: task.result() for name, task in self._running.items() if _has_result(task)}
        self._running.clear()
        self.results |= paid
        if any(result.spend.has_calls for result in paid.values()) or self.answers.keys() - self.results.keys():
            await self.on_paid(self.results, self.answers)


def _has_result(task: asyncio.Task[StepResult]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
