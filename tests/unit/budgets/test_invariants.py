"""B2, B3 and B8 of docs/reliability.md: any order of calls, of workers of several runs with budgets of their own."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.budgets.accounts import JointAccount, MemoryAccount
from cupel_core.budgets.allowance import Allowance
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.domain.conversations.roles import ModelRole
from tests.unit.budgets.test_allowance import Clock
from tests.unit.budgets.test_joint_account import LimitedAccount

TARGET = ModelRole.TARGET
WORKERS = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["start", "start", "end", "report"]),
        st.sampled_from(WORKERS),
        st.integers(1, 60),
        st.integers(0, 90),
        st.floats(0, 20),
    ),
    max_size=60,
)


@dataclass
class Caller:
    """A worker, and the calls that its provider is answering: what each has reserved."""

    allowance: Allowance
    in_flight: list[int] = field(default_factory=list)

    async def start(self, bound: int) -> bool:
        try:
            await self.allowance.reserve(bound)
        except BudgetShortage:
            return False
        self.in_flight.append(bound)
        return True

    def end(self, cost: int) -> int:
        """What the answer has cost beyond what was reserved for it."""
        bound = self.in_flight.pop(0)
        self.allowance.settle(bound, cost, TARGET)
        return max(0, cost - bound)


@given(st.integers(0, 400), STEPS, st.booleans())
async def test_b2_and_b3_no_call_begins_without_its_reservation_and_only_answers_without_a_limit_cost_more(
    limit: int, steps: list[tuple[str, str, int, int, float]], has_limit: bool
) -> None:
    account, clock = MemoryAccount(), Clock()
    callers = {name: Caller(Allowance(name, account, clock)) for name in WORKERS}
    billed = excess = 0
    for action, name, bound, cost, wait in steps:
        clock.now += wait
        caller = callers[name]
        caller.allowance.set_limit(limit)
        if action == "start" and await caller.start(bound):
            in_flight = sum(sum(each.in_flight) for each in callers.values())
            assert billed + in_flight <= limit + excess
            assert billed + in_flight <= account.account.used + account.account.reserved + excess
        elif action == "end" and caller.in_flight:
            cost = min(cost, caller.in_flight[0]) if has_limit else cost
            billed, excess = billed + cost, excess + caller.end(cost)
        elif action == "report" and caller.allowance.is_report_due:
            await caller.allowance.report()
        assert billed <= limit + excess
    assert excess == 0 or not has_limit


@given(st.integers(0, 900), st.lists(st.integers(0, 400), min_size=2, max_size=2), STEPS)
async def test_b8_what_runs_are_charged_in_a_period_is_what_the_period_is_charged(
    day_limit: int, run_limits: list[int], steps: list[tuple[str, str, int, int, float]]
) -> None:
    """Workers a and b have the first run, c the second one."""
    day, clock = LimitedAccount(day_limit), Clock()
    runs = [LimitedAccount(limit) for limit in run_limits]
    callers = {name: Caller(Allowance(name, JointAccount(day, runs[name == "c"]), clock)) for name in WORKERS}
    for action, name, bound, cost, wait in steps:
        clock.now += wait
        caller = callers[name]
        if action == "start":
            await caller.start(bound)
        elif action == "end" and caller.in_flight:
            caller.end(min(cost, caller.in_flight[0]))
    for caller in callers.values():
        while caller.in_flight:
            caller.end(0)
        await caller.allowance.leave()
    assert day.account.used == sum(each.account.used for each in runs)
    assert (day.account.reserved, day.account.leases) == (0, {})
