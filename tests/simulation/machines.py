"""In-memory Step Functions: named executions of the finishing machine, with the retries its definition specifies."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import orjson

from tests.simulation.scheduler import Violation
from tests.simulation.services import ServiceError

_MAX_RETRIES = 5
_MAX_DELAY_SECONDS = 30.0


class TaskResult(NamedTuple):
    """The outcome of a task; `error` says why it failed."""

    result: Any = None
    error: str | None = None
    cause: Exception | None = None


type Task = Callable[[dict[str, Any], Callable[[TaskResult], None]], None]


@dataclass
class Execution:
    name: str
    input: str
    status: str = "RUNNING"


class StateMachines:
    """`task` invokes the finishing function and passes on its result; `should_abort` decides to abort an execution."""

    def __init__(
        self,
        rng: Random,
        after: Callable[[float, Callable[[], object]], None],
        task: Task,
        should_abort: Callable[[], bool] = lambda: False,
    ) -> None:
        self._rng = rng
        self._should_abort = should_abort
        self._after = after
        self._task = task
        self.executions: dict[str, Execution] = {}

    def is_quiet(self) -> bool:
        return all(execution.status != "RUNNING" for execution in self.executions.values())

    def execute(self, operation: str, request: Any) -> Any:
        return getattr(self, f"_{operation}")(request)

    def _StartExecution(self, request: Any) -> Any:  # noqa: N802
        name = request.get("name") or f"unnamed-{self._rng.getrandbits(64):x}"
        existing = self.executions.get(name)
        others = [other for other in self.executions.values() if other.input == request["input"] and other.name != name]
        if existing is None and any(other.status == "RUNNING" for other in others):
            raise Violation(f"2: two concurrent finishing executions of one fencing token: {request['input']}")
        if existing is None:
            execution = self.executions[name] = Execution(name, request["input"])
            self._after(self._rng.uniform(0, 0.5), lambda: _ExecutionRun(self, execution).start())
            if self._should_abort():
                self._after(self._rng.uniform(0, 3), lambda: self._abort(execution))
        elif existing.status != "RUNNING" or existing.input != request["input"]:
            raise ServiceError("ExecutionAlreadyExists", name)
        return {"executionArn": f"{request['stateMachineArn']}:{name}".replace("stateMachine", "execution")}

    @staticmethod
    def _abort(execution: Execution) -> None:
        if execution.status == "RUNNING":
            execution.status = "ABORTED"

    def _DescribeExecution(self, request: Any) -> Any:  # noqa: N802
        name = request["executionArn"].rpartition(":")[2]
        if name not in self.executions:
            raise ServiceError("ExecutionDoesNotExist", name)
        return {"name": name, "status": self.executions[name].status, "input": self.executions[name].input}

    def wait(self, seconds: float, then: Callable[[], object]) -> None:
        """Go on after a Wait state, or at once if there is none."""
        if seconds:
            self._after(seconds, then)
        else:
            then()

    def attempt(self, payload: dict[str, Any], then: Callable[[TaskResult], None], retry_count: int = 0) -> None:
        """Run one task with its retries."""

        def on_end(result: TaskResult) -> None:
            if result.error is None or retry_count == _MAX_RETRIES:
                then(result)
                return
            wait = self._rng.uniform(0, min(_MAX_DELAY_SECONDS, 2.0**retry_count))
            self._after(wait, lambda: self.attempt(payload, then, retry_count + 1))

        self._task(payload, on_end)


class _ExecutionRun:
    """One execution: settle, then the slices of the first Map, two at a time, then those of the Map that counts, then
    analyze and complete; fail if retries run out, but for the analysis, which is then recorded as failed."""

    def __init__(self, machines: StateMachines, execution: Execution) -> None:
        self._machines = machines
        self._execution = execution
        self._input: dict[str, Any] = orjson.loads(execution.input)
        self._slices: list[dict[str, Any]] = []
        self._files: list[dict[str, Any]] = []
        self._left: list[int] = []
        self._running = 0
        self._is_analysis_skipped = False

    def start(self) -> None:
        self._run_task({"op": "settle"}, self._settled)

    def _run_task(self, payload: dict[str, Any], then: Callable[[Any], None]) -> None:
        def on_end(result: TaskResult) -> None:
            if self._execution.status != "RUNNING":
                return
            if result.error is None:
                then(result.result)
            elif payload["op"] == "fail":
                self._execution.status = "FAILED"
            elif payload["op"] == "skip_analysis":
                self._complete(None)
            elif payload["op"] in ("tabulate", "analyze"):
                self._skip_analysis({payload["op"]: {"Error": "Error", "Cause": result.error}})
            else:
                error = {payload["op"]: {"Error": "Error", "Cause": result.error}}
                self._run_task({"op": "fail", "error": error}, self._failed)

        self._machines.attempt({**payload, **self._input}, on_end)

    def _failed(self, _: Any) -> None:
        self._execution.status = "FAILED"

    def _settled(self, result: Any) -> None:
        if result["status"] != "SUMMARIZING":
            self._execution.status = "SUCCEEDED"
            return
        self._slices = [{**part, "maxRounds": result["maxRounds"]} for part in result["slices"]]
        self._files = list(result["files"])
        self._next()

    def _next(self) -> None:
        while self._slices and self._running < 2:
            self._running += 1
            self._summarize(self._slices.pop(0), {"rounds": 0, "waited": 0})
        if not self._slices and not self._running:
            self._tabulate_next()

    def _tabulate_next(self) -> None:
        """A failed task ends the Map; what its other task writes then has no effect."""
        while self._files and self._running < 2 and not self._is_analysis_skipped:
            self._running += 1
            self._run_task({"op": "tabulate", "left": self._left, **self._files.pop(0)}, self._tabulated)
        if not self._files and not self._running and not self._is_analysis_skipped:
            self._running = 1
            self._run_task({"op": "analyze", "left": self._left}, self._complete)

    def _tabulated(self, _: Any) -> None:
        self._running -= 1
        self._tabulate_next()

    def _skip_analysis(self, error: dict[str, Any]) -> None:
        if not self._is_analysis_skipped:
            self._is_analysis_skipped = True
            self._run_task({"op": "skip_analysis", "error": error}, self._complete)

    def _complete(self, _: Any) -> None:
        self._run_task({"op": "complete", "left": self._left}, self._completed)

    def _summarize(self, part: dict[str, Any], counts: dict[str, Any]) -> None:
        def summarized(result: Any) -> None:
            if result["again"]:
                counts = {name: result[name] for name in ("rounds", "waited")}
                self._machines.wait(result["waitSeconds"], lambda: self._summarize(part, counts))
                return
            self._left.append(result["left"])
            self._running -= 1
            self._next()

        self._run_task({"op": "summarize", **part, **counts}, summarized)

    def _completed(self, _: Any) -> None:
        self._execution.status = "SUCCEEDED"
