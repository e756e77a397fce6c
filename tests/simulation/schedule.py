"""One schedule from a seed: a run is started and controlled under faults, and must come to rest once they stop."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from random import Random
from typing import Any

from cupel_core.analysis import comparisons
from cupel_core.base.errors import ClientError, Conflict
from cupel_core.budgets import workspace_budgets
from cupel_core.definitions import catalog
from cupel_core.domain.analysis.comparison_requests import ComparisonSpec, SideSpec
from cupel_core.domain.budgets.money import usd
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.conversation import Criteria, FailureCriteriaMode
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import TERMINAL, Priority, RunStatus
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.runs import continuation, control
from cupel_core.runs.budgets import change_budget
from cupel_core.runs.start import start
from cupel_core.store import evaluation_settings, governor
from tests.added_scenarios import add_scenarios
from tests.simulation.cloud import Cloud
from tests.simulation.faults import ANY, Conditions, Fault
from tests.simulation.harness import CALL_USD, FANOUT, clear_caches, simulation
from tests.simulation.invariants import require
from tests.simulation.machines import TaskResult
from tests.simulation.scheduler import Invocation, Violation

_WORKSPACE = "ws_sim"
_API_SECONDS = 29.0
_MAX_REST_SECONDS = 6 * 3_600.0
"""More than anything may take once the faults have stopped: a run that has not ended by then never will."""
_MAX_SCENARIOS = FANOUT**3 // 4
"""With two models and two repeats the tree has three levels, like that of a run of a million probes."""
_PATTERN = {"pattern": r"(?im)^rating:\s*([1-5])"}
_JUDGE = {"rubric": "the number that was rated", "judgeModel": "sim/steady"}


@dataclass(frozen=True)
class Plan:
    """The run of a schedule, the actions on it, and for how long faults occur."""

    scenario_count: int
    spec: dict[str, Any]
    criteria: Criteria
    content: dict[str, Any]
    actions: list[str]
    final_actions: list[str]
    """Actions after the run has ended."""
    mean_interval_seconds: float
    """Average time between two actions."""
    fault_seconds: float
    budget_shares: list[float]
    """Of what the run is expected to cost: its first budget, and those to which it is changed. None if it is empty."""

    @classmethod
    def draw(cls, rng: Random, budget_shares: list[float]) -> "Plan":
        names = ("pause", "resume", "pause and resume", "cancel", "retry", "expand")
        follow_ups = ["And why?"] * rng.choice((0, 0, 1, 2))
        decision = _JUDGE if rng.random() < 0.2 else _PATTERN
        has_judge = rng.random() < 0.3
        return cls(
            scenario_count=rng.randint(1, _MAX_SCENARIOS),
            spec={
                "targets": plain_targets("sim/steady", "sim/bold")[: rng.randint(1, 2)],
                "sample_percentage": rng.choice((100, 100, 50)),
                "repeats": rng.choice((1, 1, 2)),
                "sample_seed": 1,
                "priority": rng.choice((Priority.NORMAL, Priority.NORMAL, Priority.HIGH, Priority.LOW)),
                "grader_config": GraderConfig("sim/contrarian", "sim/echo") if has_judge else GraderConfig(),
            },
            criteria=Criteria("it is rated", "it is rude", rng.choice(list(FailureCriteriaMode)))
            if has_judge
            else Criteria(),
            content={"decision": decision, "followUps": follow_ups},
            actions=rng.choices(names, weights=(5, 4, 4, 1, 5, 2), k=rng.choice((0, 0, 1, 3, 6))),
            final_actions=rng.choices(("retry", "retry", "expand"), k=rng.choice((0, 1, 2, 4))),
            mean_interval_seconds=rng.choice((0.5, 3.0, 10.0)),
            fault_seconds=rng.choice((10.0, 60.0, 180.0)),
            budget_shares=budget_shares,
        )

    def with_one_target(self) -> "Plan":
        return replace(self, spec=self.spec | {"targets": self.spec["targets"][:1]})

    @property
    def calls(self) -> int:
        """About how many the run makes, if every conversation goes on to its end."""
        turns = 1 + len(self.content["followUps"])
        judged = 3 if self.criteria else 1
        return self.scenario_count * len(self.spec["targets"]) * self.spec["repeats"] * turns * judged

    def budget_usd(self, share: float) -> float:
        return max(share * self.calls, 4.0) * CALL_USD


def draw_budgets(seed: int, has_budget: bool | None) -> list[float]:
    """With a random source of its own, so that schedules without budgets stay as they are."""
    rng = Random(f"budget {seed}")
    if not (rng.random() < 0.25 if has_budget is None else has_budget):
        return []
    return [rng.choice((0.2, 0.5, 1.0, 3.0)), *(rng.uniform(0.1, 2.0) for _ in range(rng.choice((0, 1, 2, 3))))]


@dataclass(frozen=True)
class Result:
    """The result of one schedule; `violation` is the broken invariant, if any."""

    seed: int
    steps: int
    calls: int
    faults: Counter[Fault]
    transitions: Counter[str]
    status: RunStatus | None
    seconds: float
    violation: str | None = None


def run_schedule(seed: int, trace: Callable[[str], None] | None = None, conditions: Conditions = ANY) -> Result:
    """Run the schedule of a seed. Must be called within `harness.install`."""
    clear_caches()
    cloud = simulation.cloud = Cloud(seed, trace, conditions)
    violation = None
    try:
        _Schedule(cloud, conditions).start()
        cloud.scheduler.run()
        cloud.table.have_reads_caught_up = True
        cloud.invariants.check_final_state()
    except Exception as error:
        violation = f"{type(error).__name__}: {error}"
        if trace is not None and not isinstance(error, Violation):
            raise
    cloud.faults.counts[Fault.TWICE] = cloud.queues.duplicated_count
    cloud.faults.counts[Fault.EXPIRED] = cloud.queues.expired_count
    run, scheduler = cloud.invariants.run, cloud.scheduler
    return Result(
        seed,
        scheduler.steps,
        cloud.models.call_count,
        +cloud.faults.counts,
        cloud.invariants.transitions,
        run.status if run else None,
        scheduler.now,
        violation,
    )


class _Schedule:
    def __init__(self, cloud: Cloud, conditions: Conditions) -> None:
        self._cloud = cloud
        self._scheduler = cloud.scheduler
        self._plan = Plan.draw(self._scheduler.rng, draw_budgets(cloud.seed, conditions.has_budget))
        if cloud.operations:
            self._plan = self._plan.with_one_target()
        self._account_rng = Random(f"account {cloud.seed}")
        self._comparison_rng = Random(f"comparison {cloud.seed}")
        self._run_ids: list[str] = []
        self._active_users = 0
        self._treasurers = 0
        """Of the active users, those that stay until the others have gone."""
        self._workspace_rng = Random(f"chief treasurer {cloud.seed}")
        self._has_faults = True

    def start(self) -> None:
        tools = self._cloud.tools
        content = self._plan.content | (tools.prepare(_WORKSPACE) if tools else {})
        definition = catalog.create(_WORKSPACE, Labels(name="simulated"), content, simulation.now())
        cases = (
            Scenario(
                "", f"case {n}", (Message(MessageRole.USER, f"{n}?"),), criteria=self._plan.criteria, max_messages=6
            )
            for n in range(self._plan.scenario_count)
        )
        add_scenarios(_WORKSPACE, definition.head.id, cases)
        operations = self._cloud.operations
        profile = {"profile_id": operations.create_profile(_WORKSPACE)} if operations else {}
        self._cloud.models.has_distinct_conversations = (
            len(self._plan.spec["targets"]) == self._plan.spec["repeats"] == 1
        )
        shares = self._plan.budget_shares
        budget = {"max_budget_usd": self._plan.budget_usd(shares[0])} if shares else {}
        has_budget = shares or self._cloud.has_workspace_budget
        spec = RunSpec(
            definition_id=definition.head.id,
            **self._plan.spec,
            **profile,
            **budget,
            confirmed_usd=inf if has_budget else None,
        )
        self._scheduler.log(f"{self._plan}")
        if self._cloud.has_workspace_budget:
            limits = self._drawn_limits()
            self._cloud.bills.note_limits(limits)
            self._write_limits(limits)
            self._scheduler.log(f"{limits}")
        for number in range(self._scheduler.rng.choice((1, 1, 2, 3))):
            self._spawn_user(f"starter-{number}", lambda: self._start(spec))
        self._spawn_user("owner", self._control_run)
        self._spawn_user("administrator", self._control_account)
        if len(self._plan.spec["targets"]) == 2 and self._comparison_rng.random() < 0.3:
            self._spawn_user("analyst", self._compare_targets)
        if shares:
            self._treasurers += 1
            self._spawn_user("treasurer", self._control_budget)
        if self._cloud.has_workspace_budget:
            self._treasurers += 1
            self._spawn_user("chief treasurer", self._control_workspace_budget)
        self._scheduler.after(self._scheduler.rng.uniform(0, 60), self._cloud.sweep_every_minute)
        self._scheduler.after(self._plan.fault_seconds, self._stop_faults)

    def _spawn_user(self, name: str, work: Callable[[], None]) -> None:
        """Start an API user, who sends one request after the other and never crashes."""
        self._active_users += 1

        def job() -> None:
            work()
            self._active_users -= 1

        self._scheduler.spawn(Invocation(name), job)

    def _start(self, spec: RunSpec) -> None:
        """Repeat the request with the same key until it succeeds."""
        self._scheduler.sleep(self._scheduler.rng.uniform(0, 2))
        while True:
            result = self._request("start", lambda: start(_WORKSPACE, spec, "the key", simulation.now()).run.id)
            if result.error is None:
                self._run_ids.append(result.result)
                require(len(set(self._run_ids)) == 1, f"6: one key gave the runs {self._run_ids}")
                return
            require(
                isinstance(result.cause, Conflict) or not isinstance(result.cause, ClientError),
                f"start: {result.error}",
            )
            self._scheduler.sleep(self._scheduler.rng.uniform(0.5, 20))

    def _control_run(self) -> None:
        """Perform the plan's actions one by one at random times, then its final actions once the run has ended."""
        for action in self._plan.actions:
            self._scheduler.sleep(self._scheduler.rng.expovariate(1 / self._plan.mean_interval_seconds))
            self._act(action)
        final_actions = list(self._plan.final_actions)
        while self._has_faults or not self._has_ended():
            self._scheduler.sleep(self._scheduler.rng.uniform(1, 15))
            run = self._cloud.invariants.run
            if self._has_ended() and final_actions:
                self._act(final_actions.pop())
                self._scheduler.sleep(self._scheduler.rng.uniform(0, 6))
                self._act(self._scheduler.rng.choice(("pause and resume", "none")))
            elif not self._has_faults and run is not None and run.status is RunStatus.PAUSED:
                self._act("resume")

    def _control_account(self) -> None:
        """Pause the account of all models in some schedules, and resume it."""
        for _ in range(self._account_rng.choice((0, 0, 0, 1, 2))):
            self._scheduler.sleep(self._account_rng.expovariate(1 / 5))
            self._set_account_paused(True)
            self._scheduler.sleep(self._account_rng.uniform(5, 60))
            self._set_account_paused(False)

    def _control_budget(self) -> None:
        """Change the budget at random times; once faults have stopped, raise it whenever it is used up."""
        rng = Random(f"treasurer {self._cloud.seed}")
        for share in self._plan.budget_shares[1:]:
            self._scheduler.sleep(rng.expovariate(1 / 10))
            self._set_budget(self._plan.budget_usd(share))
        while self._active_users > self._treasurers:
            self._scheduler.sleep(rng.uniform(1, 15))
            run = self._cloud.invariants.run
            if run is not None and run.budget is not None and run.status is RunStatus.PAUSED:
                self._set_budget(run.budget.max_usd + self._plan.budget_usd(0.3))

    def _control_workspace_budget(self) -> None:
        """Change the workspace's budgets at random times; later, raise that of the month whenever it is used up. A used
        up day ends by itself."""
        rng = self._workspace_rng
        for _ in range(rng.choice((0, 1, 3))):
            self._scheduler.sleep(rng.expovariate(1 / 20))
            self._set_workspace_limits(self._drawn_limits())
        while self._active_users > self._treasurers:
            self._scheduler.sleep(rng.uniform(1, 15))
            run, more = self._cloud.invariants.run, self._plan.budget_usd(0.3)
            if run is not None and run.status is RunStatus.PAUSED and self._has_left_of_month(more) is False:
                limits = self._limits
                self._set_workspace_limits(replace(limits, month_usd=(limits.month_usd or 0.0) + more))

    def _has_left_of_month(self, amount: float) -> bool | None:
        """None if it could not be read, or if less is left of the day."""
        left = self._request("budgets", lambda: workspace_budgets.left(_WORKSPACE, simulation.now())).result
        return None if left is None or left[0] is not BudgetScope.MONTH else usd(left[1]) >= amount

    def _drawn_limits(self) -> PeriodLimits:
        shares = self._workspace_rng.choice((0.2, 0.5, 2.0)), self._workspace_rng.choice((None, 0.3, 1.0))
        return PeriodLimits(*(None if share is None else self._plan.budget_usd(share) for share in shares))

    def _set_workspace_limits(self, limits: PeriodLimits) -> None:
        self._cloud.bills.note_limits(limits)
        while self._request("settings", partial(self._write_limits, limits)).error is not None:
            self._scheduler.sleep(self._workspace_rng.uniform(0.1, 3))

    def _write_limits(self, limits: PeriodLimits) -> None:
        self._limits = limits
        changes = {"budget_day_usd": limits.day_usd, "budget_month_usd": limits.month_usd}
        evaluation_settings.update(_WORKSPACE, changes)

    def _set_budget(self, max_usd: float) -> None:
        while (run := self._cloud.invariants.run) is not None:
            change = partial(change_budget, _WORKSPACE, run.id, max_usd, resume=True, now=simulation.now())
            result = self._request("budget", change)
            if result.error is None or isinstance(result.cause, ClientError):
                return
            self._scheduler.sleep(self._scheduler.rng.uniform(0.1, 3))

    def _set_account_paused(self, paused: bool) -> None:
        while self._request("account", lambda: governor.set_paused(_WORKSPACE, "sim", paused)).error is not None:
            self._scheduler.sleep(self._account_rng.uniform(0.1, 3))

    def _compare_targets(self) -> None:
        """Ask for a comparison of the run's targets once or twice, when the run has ended."""
        for _ in range(self._comparison_rng.choice((1, 1, 2))):
            self._scheduler.sleep(self._comparison_rng.expovariate(1 / 20))
            while not self._has_ended():
                self._scheduler.sleep(self._comparison_rng.uniform(1, 10))
            while not self._is_comparison_accepted():
                self._scheduler.sleep(self._comparison_rng.uniform(0.5, 5))

    def _is_comparison_accepted(self) -> bool:
        """Or refused, such as when the run has been reopened."""
        run = self._cloud.invariants.run
        assert run is not None
        before, after = (SideSpec(run.id, (target.id,)) for target in run.plan.targets)
        spec = ComparisonSpec(before, after)
        result = self._request("compare", lambda: comparisons.request(_WORKSPACE, spec, simulation.now()))
        return result.error is None or isinstance(result.cause, ClientError)

    def _has_ended(self) -> bool:
        run = self._cloud.invariants.run
        return run is not None and run.status in TERMINAL

    def _act(self, action: str) -> None:
        """Perform one action, or two in a row, until accepted or refused."""
        if action == "pause and resume":
            self._act("pause")
            self._scheduler.sleep(self._scheduler.rng.uniform(0, 2))
            self._act("resume")
        elif action != "none":
            self._act_until_accepted(action)

    def _act_until_accepted(self, action: str) -> None:
        for _ in range(50):
            run = self._cloud.invariants.run
            if run is None:
                return
            work = self._work(action, run.id)
            result = self._request(action, work)
            if result.error is None or isinstance(result.cause, ClientError):
                return
            self._scheduler.sleep(self._scheduler.rng.uniform(0.1, 3))

    def _work(self, action: str, run_id: str) -> Callable[[], object]:
        steps: dict[str, Callable[[], object]] = {
            "pause": lambda: control.pause(_WORKSPACE, run_id, simulation.now()),
            "resume": lambda: control.resume(_WORKSPACE, run_id, simulation.now()),
            "cancel": lambda: control.cancel(_WORKSPACE, run_id, simulation.now()),
            "retry": lambda: continuation.retry(_WORKSPACE, run_id, simulation.now(), confirmed_usd=inf),
            "expand": lambda: continuation.expand(_WORKSPACE, run_id, 100, simulation.now(), confirmed_usd=inf),
        }
        return steps[action]

    def _request(self, name: str, work: Callable[[], object]) -> TaskResult:
        """Send one request to the API; returns its response or error."""
        ticket, slot = self._scheduler.ticket(), list[TaskResult]()

        def on_end(result: TaskResult) -> None:
            slot.append(result)
            self._scheduler.wake(ticket)

        self._cloud.invoke(f"api-{name}", _API_SECONDS, lambda _: work(), on_end)
        self._scheduler.suspend()
        return slot[0]

    def _stop_faults(self) -> None:
        """Stop the faults; what they have left behind is for the sweeper to repair."""
        self._has_faults = False
        self._cloud.faults.have_ended = True
        self._cloud.queues.duplicate_rate = 0.0
        self._scheduler.log("---- faults have stopped ----")
        self._check_at_rest(self._scheduler.now + _MAX_REST_SECONDS)

    def _check_at_rest(self, deadline: float) -> None:
        if not self._active_users and self._cloud.is_quiet() and self._cloud.invariants.is_at_rest():
            self._scheduler.end()
            return
        run = self._cloud.invariants.run
        require(self._scheduler.now < deadline, f"1: does not come to rest; the run is {run and run.status}")
        self._scheduler.after(5.0, lambda: self._check_at_rest(deadline))


def _scenario(number: int) -> Scenario:
    return Scenario("", f"case {number}", (Message(MessageRole.USER, f"{number}?"),), {})
