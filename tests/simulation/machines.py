"""Step Functions in memory: named executions of the finishing machine, with the retries that its ASL asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import orjson

from tests.simulation.scheduler import Violation
from tests.simulation.services import Refused

_RETRIES = 5
_MOST_DELAY_SECONDS = 30.0


class Done(NamedTuple):
    """How a task ended; `error` is why it failed."""

    result: Any = None
    error: str | None = None
    cause: Exception | None = None


type Task = Callable[[dict[str, Any], Callable[[Done], None]], None]


@dataclass
class Execution:
    name: str
    input: str
    status: str = "RUNNING"


class Machines:
    """`task` invokes the finishing function and tells what became of it; `dies` whether an execution is aborted."""

    def __init__(
        self,
        rng: Random,
        after: Callable[[float, Callable[[], object]], None],
        task: Task,
        dies: Callable[[], bool] = lambda: False,
    ) -> None:
        self._rng = rng
        self._dies = dies
        self._after = after
        self._task = task
        self.executions: dict[str, Execution] = {}

    def is_quiet(self) -> bool:
        return all(execution.status != "RUNNING" for execution in self.executions.values())

    def execute(self, operation: str, request: Any) -> Any:
        return getattr(self, f"_{operation}")(request)

    def _StartExecution(self, request: Any) -> Any:  # noqa: N802
        name = request.get("name") or f"unnamed-{self._rng.getrandbits(64):x}"
        known = self.executions.get(name)
        others = [each for each in self.executions.values() if each.input == request["input"] and each.name != name]
        if known is None and any(each.status == "RUNNING" for each in others):
            raise Violation(f"2: two finishing executions of one epoch at a time: {request['input']}")
        if known is None:
            execution = self.executions[name] = Execution(name, request["input"])
            self._after(self._rng.uniform(0, 0.5), lambda: _Course(self, execution).begin())
            if self._dies():
                self._after(self._rng.uniform(0, 3), lambda: self._abort(execution))
        elif known.status != "RUNNING" or known.input != request["input"]:
            raise Refused("ExecutionAlreadyExists", name)
        return {"executionArn": f"{request['stateMachineArn']}:{name}".replace("stateMachine", "execution")}

    @staticmethod
    def _abort(execution: Execution) -> None:
        if execution.status == "RUNNING":
            execution.status = "ABORTED"

    def _DescribeExecution(self, request: Any) -> Any:  # noqa: N802
        name = request["executionArn"].rpartition(":")[2]
        if name not in self.executions:
            raise Refused("ExecutionDoesNotExist", name)
        return {"name": name, "status": self.executions[name].status, "input": self.executions[name].input}

    def attempt(self, payload: dict[str, Any], then: Callable[[Done], None], tries: int = 0) -> None:
        """One task with its retries."""

        def ended(done: Done) -> None:
            if done.error is None or tries == _RETRIES:
                then(done)
                return
            wait = self._rng.uniform(0, min(_MOST_DELAY_SECONDS, 2.0**tries))
            self._after(wait, lambda: self.attempt(payload, then, tries + 1))

        self._task(payload, ended)


class _Course:
    """One execution: settle, then the slices of the Map two at a time, then complete; fail where one gives up."""

    def __init__(self, machines: Machines, execution: Execution) -> None:
        self._machines = machines
        self._execution = execution
        self._input: dict[str, Any] = orjson.loads(execution.input)
        self._slices: list[dict[str, Any]] = []
        self._running = 0

    def begin(self) -> None:
        self._do({"op": "settle"}, self._settled)

    def _do(self, payload: dict[str, Any], then: Callable[[Any], None]) -> None:
        def ended(done: Done) -> None:
            if self._execution.status != "RUNNING":
                return
            if done.error is None:
                then(done.result)
            elif payload["op"] == "fail":
                self._execution.status = "FAILED"
            else:
                error = {payload["op"]: {"Error": "Error", "Cause": done.error}}
                self._do({"op": "fail", "error": error}, self._failed)

        self._machines.attempt({**payload, **self._input}, ended)

    def _failed(self, _: Any) -> None:
        self._execution.status = "FAILED"

    def _settled(self, result: Any) -> None:
        if result["status"] != "SUMMARIZING":
            self._execution.status = "SUCCEEDED"
            return
        self._slices = list(result["slices"])
        self._next()

    def _next(self) -> None:
        while self._slices and self._running < 2:
            self._running += 1
            self._do({"op": "summarize", **self._slices.pop(0)}, self._summarized)
        if not self._slices and not self._running:
            self._running = 1
            self._do({"op": "complete"}, self._completed)

    def _summarized(self, _: Any) -> None:
        self._running -= 1
        self._next()

    def _completed(self, _: Any) -> None:
        self._execution.status = "SUCCEEDED"
