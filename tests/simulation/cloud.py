"""The cloud of one schedule: its services, and the functions they invoke."""

from collections.abc import Callable
from random import Random
from typing import Any

from cupel_core.analysis import jobs, workflow
from cupel_core.base.messages import DispatchRequest, JobRequest, RunRef
from cupel_core.runs import dispatch
from cupel_core.runs.finishing import phases
from cupel_core.runs.finishing.phases import record_costs, summarize_slice
from cupel_core.runs.probing.worker import Worker
from cupel_core.runs.workflow_tasks import (
    LeafRangeFields,
    LeftFields,
    leaf_range_items,
    leaf_ranges_output,
    slice_output,
)
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import Lane
from cupel_core.workspace.sweeping import sweep
from cupel_core.workspace.sweeping.job_recovery import recover_jobs
from tests.simulation import loops
from tests.simulation.bills import Bills
from tests.simulation.bucket import Bucket
from tests.simulation.faults import ANY, Conditions, Fault
from tests.simulation.harness import simulation
from tests.simulation.invariants import Invariants
from tests.simulation.invocations import FunctionCloud, OnEnd
from tests.simulation.machines import StateMachines, TaskResult
from tests.simulation.message_queues import Queues
from tests.simulation.models import Models
from tests.simulation.network import Network
from tests.simulation.operations import Operations
from tests.simulation.scheduler import Invocation
from tests.simulation.table import Table
from tests.simulation.tools import Tools

DISPATCH, ANALYZE = "sim-dispatch", "sim-analyze"
PROBES = ("sim-probe_sim", "sim-probe_sim-high", "sim-probe_sim-low")
_PROBE_SECONDS, _DISPATCH_SECONDS, _FINISH_SECONDS, _SWEEP_SECONDS = 60.0, 60.0, 120.0, 55.0
_SUMMARIZE_SECONDS = 900.0
_JOB_SECONDS = 60.0
_MAX_ROUNDS = 2
"""Few, so that executions end with transcripts left for the next one."""
_VISIBILITY_SECONDS = 90.0
_TOOLS_RATE = 0.25
"""Of schedules whose targets have tools."""
_PROFILE_RATE = 0.25
"""Of schedules without tools whose run has an operation profile."""
_WORKSPACE_BUDGET_RATE = 0.15
"""Of schedules whose workspace has budgets for days and months."""


class Cloud(FunctionCloud):
    def __init__(self, seed: int, trace: Callable[[str], None] | None = None, conditions: Conditions = ANY) -> None:
        super().__init__(seed, trace)
        rng = self.scheduler.rng
        self.invariants: Invariants = Invariants(self)
        self.bills = Bills(self)
        self.models: Models = Models(self, has_slow_models=conditions.has_slow_models is True)
        self.table = Table(lambda: self.scheduler.now, rng, self.invariants.observe)
        self.queues = Queues(lambda: self.scheduler.now, rng, self._notify)
        self.queues.duplicate_rate = rng.choice((0.0, 0.02, 0.2))
        for name in (DISPATCH, ANALYZE, *PROBES):
            self.queues.create(name, _VISIBILITY_SECONDS)
        self.machines = StateMachines(rng, self.scheduler.after, self._finish, self._should_abort_execution)
        self.network = Network(self.scheduler, self.faults, self.table, self.queues, Bucket(), self.machines)
        self._running = dict.fromkeys((DISPATCH, ANALYZE, *PROBES), 0)
        large_skew, limited = rng.random() < 0.15, rng.random() < 0.5
        self.has_large_skew = large_skew if conditions.has_large_skew is None else conditions.has_large_skew
        self.has_limited_sweeper = limited if conditions.has_limited_sweeper is None else conditions.has_limited_sweeper
        has_tools = conditions == ANY and Random(f"tools {seed}").random() < _TOOLS_RATE
        self.tools = Tools(self) if conditions.has_tools or has_tools else None
        """None if the targets have no tools."""
        has_profile = conditions == ANY and Random(f"profile {seed}").random() < _PROFILE_RATE and not self.tools
        self.operations = Operations(self) if conditions.has_profile or has_profile else None
        """None if the run has no operation profile."""
        has_workspace_budget = (
            conditions == ANY and Random(f"workspace budget {seed}").random() < _WORKSPACE_BUDGET_RATE
        )
        self.has_workspace_budget = conditions.has_workspace_budget or has_workspace_budget
        self.queues.max_receives = 1_000 if self.has_limited_sweeper else rng.choice((1, 2, 5))

    def _should_abort_execution(self) -> bool:
        return self.faults.happens(Fault.EXECUTION, self.faults.crash_rate / 3)

    # -- functions, each as its handler

    def _consume(self, name: str, delivery: Delivery, on_end: OnEnd) -> None:
        if name == DISPATCH:
            self.invoke("dispatch", _DISPATCH_SECONDS, lambda _: self._dispatch(delivery), on_end)
        elif name == ANALYZE:
            self.invoke("analyze", _JOB_SECONDS, lambda _: self._carry_out_job(delivery), on_end)
        else:
            self.invoke("probe", _PROBE_SECONDS, lambda invocation: self._probe(invocation, delivery), on_end)

    def _dispatch(self, delivery: Delivery) -> set[str]:
        ends_at = simulation.time() + _DISPATCH_SECONDS
        dispatch.execute(
            DispatchRequest.model_validate_json(delivery.body), simulation.now(), lambda: ends_at - simulation.time()
        )
        return set()

    def _carry_out_job(self, delivery: Delivery) -> set[str]:
        jobs.run_job(JobRequest.model_validate_json(delivery.body), _JOB_SECONDS)
        return set()

    def _probe(self, invocation: Invocation, delivery: Delivery) -> set[str]:
        lane = Lane.from_arn(delivery.queue_url)

        async def work() -> list[Delivery]:
            worker = Worker(lane.provider, simulation.time() + _PROBE_SECONDS, priority=lane.priority)
            return await worker.run([delivery])

        return {unfinished.id for unfinished in loops.run(self.scheduler, invocation, work())}

    def _finish(self, payload: dict[str, Any], then: Callable[[TaskResult], None]) -> None:
        # Summarizing waits for an account that is blocked as long as the function may run; the other phases never wait.
        seconds = _SUMMARIZE_SECONDS if payload["op"] == "summarize" else _FINISH_SECONDS
        self.invoke("finish", seconds, lambda invocation: self._phase(invocation, payload), then)

    def _phase(self, invocation: Invocation, payload: dict[str, Any]) -> dict[str, Any]:
        ref, fencing_token = RunRef(payload["workspace"], payload["runId"]), payload["fencingToken"]
        match payload["op"]:
            case "settle":
                settled = phases.settle(ref, fencing_token, simulation.now())
                files = leaf_range_items(workflow.file_slices(settled.total))
                return {**leaf_ranges_output(settled.status, settled.slices), "maxRounds": _MAX_ROUNDS, "files": files}
            case "summarize":
                ends_at = simulation.time() + _SUMMARIZE_SECONDS
                names = ("firstLeaf", "leaves", "rounds", "maxRounds")
                task = LeafRangeFields.model_validate({name: payload[name] for name in names})
                work = summarize_slice(ref, fencing_token, task.leaf_range, lambda: ends_at - simulation.time())
                progress = loops.run(self.scheduler, invocation, work)
                record_costs(ref, fencing_token, task.leaf_range)
                return slice_output(task, progress)
            case "tabulate" | "analyze" if LeftFields(left=payload["left"]).is_continued:
                return {}
            case "tabulate":
                part = {name: payload[name] for name in ("firstLeaf", "leaves")}
                workflow.tabulate_slice(ref, fencing_token, LeafRangeFields.model_validate(part).leaf_range)
                return {}
            case "analyze":
                return {"analysis": workflow.analyze(ref, fencing_token, simulation.now())}
            case "skip_analysis":
                (where, cause), *_ = payload["error"].items()
                failure = workflow.AnalysisFailure(where, cause["Cause"])
                workflow.record_failure(ref, fencing_token, failure, simulation.now())
                return {}
            case "complete":
                if LeftFields(left=payload["left"]).is_continued:
                    return {"status": "SUMMARIZING"}
                return {"status": phases.complete(ref, fencing_token, simulation.now())}
        where, cause = next(iter(payload["error"].items()))
        return {"status": phases.fail(ref, fencing_token, where, cause["Cause"], simulation.now())}

    def sweep_every_minute(self) -> None:
        self.invoke("sweep", _SWEEP_SECONDS, lambda _: self._sweep(), lambda _: None)
        self.scheduler.after(60.0, self.sweep_every_minute)

    def _sweep(self) -> None:
        ends_at = simulation.time() + _SWEEP_SECONDS
        sweep.sweep(simulation.now(), lambda: ends_at - simulation.time())
        recover_jobs(simulation.now(), lambda: ends_at - simulation.time())

    # -- state

    def is_quiet(self) -> bool:
        """The sweeper has recorded all dead letters, too."""
        has_dead_letters = any(map(self.queues.has_dead_letters, PROBES))
        is_idle = not self.active_invocations and not has_dead_letters
        return is_idle and self.queues.is_quiet() and self.machines.is_quiet()
