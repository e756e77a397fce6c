"""How workers that never talk to each other stay within one budget, whatever happens to them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.budgets.account import (
    EXPIRED_LEASES_FORGOTTEN_AFTER_SECONDS,
    REFUSAL_SECONDS,
    BudgetAccount,
    BudgetReport,
    Refusal,
    after_expiry,
    after_leave,
    after_report,
)
from cupel_core.domain.conversations.roles import ModelRole

TARGET, JUDGE = ModelRole.TARGET, ModelRole.JUDGE
LIMIT = 1_000


def report(
    worker_id: str = "a",
    spent: int = 0,
    reserved: int = 0,
    needed: int = 10,
    wanted: int = 100,
    until: float = 150.0,
    uncertain: int = 0,
) -> BudgetReport:
    return BudgetReport(worker_id, {TARGET: spent}, uncertain, reserved, needed, wanted, until)


def reserved(account: BudgetAccount, worker_id: str = "a") -> int:
    return account.leases[worker_id].reserved


def test_a_worker_gets_what_it_wants_while_there_is_plenty() -> None:
    assert reserved(after_report(BudgetAccount(), LIMIT, report(wanted=100), 0.0)) == 100


def test_a_worker_that_is_alone_leaves_most_of_the_rest_to_others() -> None:
    assert reserved(after_report(BudgetAccount(), LIMIT, report(wanted=900), 0.0)) == LIMIT // 4


def test_many_workers_get_equal_parts_of_little() -> None:
    account = BudgetAccount()
    for name in "abcdef":
        account = after_report(account, 120, report(name, wanted=0, needed=0), 0.0)
    shares = {reserved(after_report(account, 120, report(name, wanted=120), 0.0), name) for name in "abcdef"}
    assert shares == {120 // 9}


def test_a_worker_gets_at_least_what_one_call_needs() -> None:
    assert reserved(after_report(BudgetAccount(), 40, report(needed=30), 0.0)) == 30


def refused(limit: int = 100) -> BudgetAccount:
    """The account in which `a` has most of the limit and `b` was refused."""
    account = after_report(BudgetAccount(), limit, report("a", needed=80), 0.0)
    return after_report(account, limit, report("b", needed=30), 1.0)


def test_calls_wait_for_what_others_have_reserved() -> None:
    assert refused().refusals == {"": Refusal("b", 30, 1.0)}
    assert refused().is_awaited(100, 2.0)


def test_calls_wait_also_after_their_worker_has_left() -> None:
    assert after_leave(refused(), report("b", needed=0), 2.0).is_awaited(100, 3.0)


def test_calls_do_not_wait_any_more_once_there_is_enough() -> None:
    assert not refused().is_awaited(200, 2.0), "the limit was raised"
    given_back = after_report(refused(), 100, report("a", spent=20, needed=0, wanted=0), 2.0)
    assert not given_back.is_awaited(100, 3.0)
    granted = after_report(given_back, 100, report("b", needed=30), 3.0)
    assert granted.refusals == {}


def test_calls_of_a_worker_that_has_not_asked_again_are_forgotten() -> None:
    assert not refused().is_awaited(100, 1.0 + REFUSAL_SECONDS)
    later = after_report(refused(), 100, report("c", needed=0, wanted=0), 1.0 + REFUSAL_SECONDS)
    assert later.refusals == {}


def test_the_refusal_of_another_worker_is_not_forgotten() -> None:
    account = after_report(refused(), 100, report("c", needed=0, wanted=0), 2.0)
    assert account.is_awaited(100, 3.0)


def test_calls_do_not_wait_for_a_budget_that_is_used_up() -> None:
    """Nobody gives anything back: the run is paused."""
    account = after_report(BudgetAccount(), 100, report("a", spent=90, needed=30), 0.0)
    assert account.refusals
    assert not account.is_awaited(100, 1.0)


def test_what_a_dead_worker_had_reserved_is_not_waited_for() -> None:
    account = after_report(BudgetAccount(), 100, report("a", needed=80, until=5.0), 0.0)
    account = after_report(account, 100, report("b", needed=30), 1.0)
    assert (account.is_awaited(100, 4.0), account.is_awaited(100, 6.0)) == (True, False)


def test_a_worker_gets_nothing_that_is_too_little_for_a_call() -> None:
    assert reserved(after_report(BudgetAccount(), 40, report(needed=41), 0.0)) == 0


def test_a_repeated_report_whose_response_was_lost_replaces_the_first_grant() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(), 0.0)
    assert after_report(account, LIMIT, report(), 1.0) == account


def test_what_a_worker_does_not_report_it_gives_back() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(wanted=100), 0.0)
    account = after_report(account, LIMIT, report(spent=30, reserved=0, needed=0, wanted=0), 1.0)
    assert (reserved(account), account.available(LIMIT)) == (0, LIMIT - 30)


def test_all_that_a_dead_worker_had_reserved_is_uncertain() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(spent=50, wanted=100), 0.0)
    account = after_expiry(account, 150.0)
    assert (account.used, account.total_uncertain, account.reserved) == (150, 100, 0)


def test_a_worker_whose_lease_has_expired_takes_its_figures_back() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(spent=50, wanted=100), 0.0)
    account = after_report(account, LIMIT, report("b", wanted=0, needed=0, until=400.0), 200.0)
    account = after_report(account, LIMIT, report(spent=90, reserved=60, needed=0, wanted=0, until=400.0), 201.0)
    assert (account.used, account.reserved, account.total_uncertain) == (90, 60, 0)


def test_a_last_report_that_arrives_twice_is_counted_once() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(), 0.0)
    last = report(spent=70, needed=0)
    account = after_leave(account, last, 1.0)
    assert after_leave(account, last, 2.0) == account
    assert account.spent_by_role == {TARGET: 70}


def test_calls_in_flight_when_a_worker_leaves_are_uncertain() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(), 0.0)
    assert after_leave(account, report(spent=5, reserved=20, uncertain=3), 1.0).total_uncertain == 23


def test_an_expired_lease_is_forgotten_when_its_worker_cannot_report_any_more() -> None:
    account = after_expiry(after_report(BudgetAccount(), LIMIT, report(spent=50), 0.0), 150.0)
    later = after_expiry(account, 150.0 + EXPIRED_LEASES_FORGOTTEN_AFTER_SECONDS)
    assert (account.expired.keys(), later.expired, later.used) == ({"a"}, {}, account.used)


def test_a_budget_is_not_exhausted_while_a_worker_may_give_something_back() -> None:
    account = after_report(BudgetAccount(), 100, report(spent=0, needed=80), 0.0)
    assert not account.is_exhausted(100, 80)
    account = after_report(account, 100, report(spent=75, reserved=0, needed=80), 1.0)
    assert account.is_exhausted(100, 80)
    assert not account.is_exhausted(100, 25)


def test_nothing_is_granted_after_the_limit_was_lowered_below_what_is_spent() -> None:
    account = after_report(BudgetAccount(), LIMIT, report(), 0.0)
    account = after_report(account, 60, report(spent=90, reserved=10, needed=0), 1.0)
    assert (reserved(account), account.available(60)) == (10, -40)


def test_spending_is_summed_by_role() -> None:
    account = after_report(BudgetAccount(), LIMIT, replace(report(), spent={TARGET: 3, JUDGE: 2}), 0.0)
    account = after_leave(account, replace(report(), spent={TARGET: 4, JUDGE: 2}), 1.0)
    account = after_report(account, LIMIT, replace(report("b"), spent={JUDGE: 5}), 2.0)
    assert account.spent_by_role == {TARGET: 4, JUDGE: 7}


@dataclass
class Spender:
    """A worker that makes calls from what it has drawn, and may know less than the account."""

    balance: int = 0
    in_flight: tuple[int, ...] = ()
    spent: int = 0

    @property
    def may_cost(self) -> int:
        return self.spent + sum(self.in_flight) + max(0, self.balance)

    def report(self, worker_id: str, needed: int, wanted: int, until: float) -> BudgetReport:
        if self.balance < needed:
            self.balance = 0
        else:
            needed = 0
        kept = self.balance + sum(self.in_flight)
        return BudgetReport(worker_id, {TARGET: self.spent}, 0, kept, needed, wanted, until)


WORKERS = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["report", "report", "lost request", "lost response", "start", "start", "end", "die", "leave"]),
        st.sampled_from(WORKERS),
        st.integers(1, 60),
        st.floats(0, 90),
    ),
    max_size=80,
)


class Life:
    """Workers of one account. One that dies is replaced by another with its name and a number."""

    def __init__(self, limit: int) -> None:
        self.limit, self.account, self.now = limit, BudgetAccount(), 0.0
        self.workers: dict[str, Spender] = {name: Spender() for name in WORKERS}
        self.names: dict[str, str] = {name: name for name in WORKERS}
        self.dead_may_cost = 0

    @property
    def may_cost(self) -> int:
        """What providers may bill in the end, if every call in flight costs all that it has reserved."""
        return self.dead_may_cost + sum(worker.may_cost for worker in self.workers.values())

    def step(self, action: str, name: str, number: int, wait: float) -> None:
        self.now += wait
        worker = self.workers[name]
        match action:
            case "report" | "lost request" | "lost response":
                self._report(action, name, worker, number)
            case "start" if worker.balance >= number:
                worker.balance -= number
                worker.in_flight += (number,)
            case "end" if worker.in_flight:
                amount, *others = worker.in_flight
                cost = min(amount, number)
                worker.in_flight, worker.spent = tuple(others), worker.spent + cost
                worker.balance += amount - cost
            case "die":
                self.dead_may_cost += worker.spent + sum(worker.in_flight)
                self._replace(name)
            case "leave" if not worker.in_flight:
                last = BudgetReport(self.names[name], {TARGET: worker.spent}, 0, 0, 0, 0, 0.0)
                self.account = after_leave(self.account, last, self.now)
                self.dead_may_cost += worker.spent
                self._replace(name)

    def _report(self, action: str, name: str, worker: Spender, number: int) -> None:
        report = worker.report(self.names[name], number, 5 * number, self.now + 150)
        if action == "lost request":
            return
        self.account = after_report(self.account, self.limit, report, self.now)
        if action == "report":
            worker.balance += self.account.leases[self.names[name]].reserved - report.reserved

    def _replace(self, name: str) -> None:
        self.workers[name] = Spender()
        self.names[name] += "'"


@given(st.integers(0, 400), STEPS)
def test_b1_no_schedule_charges_or_reserves_more_than_the_limit(
    limit: int, steps: list[tuple[str, str, int, float]]
) -> None:
    life = Life(limit)
    for step in steps:
        life.step(*step)
        assert life.account.available(limit) >= 0


@given(st.integers(0, 400), STEPS)
def test_b3_and_b4_what_providers_may_bill_never_exceeds_what_the_account_counts(
    limit: int, steps: list[tuple[str, str, int, float]]
) -> None:
    life = Life(limit)
    for step in steps:
        life.step(*step)
        assert life.may_cost <= life.account.used + life.account.reserved <= limit


@given(st.integers(0, 400), STEPS)
def test_b5_nothing_is_reserved_once_all_leases_have_expired(
    limit: int, steps: list[tuple[str, str, int, float]]
) -> None:
    life = Life(limit)
    for step in steps:
        life.step(*step)
    rested = after_expiry(life.account, life.now + 150)
    assert (rested.reserved, rested.leases) == (0, {})
    assert rested.used == life.account.used + life.account.reserved


@given(st.integers(50, 400), st.integers(0, 400), STEPS, STEPS)
def test_b1_after_the_limit_was_lowered_nothing_is_granted_until_it_holds_again(
    limit: int, lowered: int, before: list[tuple[str, str, int, float]], after: list[tuple[str, str, int, float]]
) -> None:
    life = Life(limit)
    for step in before:
        life.step(*step)
    life.limit = lowered
    for step in after:
        counted = life.account.used + life.account.reserved
        life.step(*step)
        assert life.account.used + life.account.reserved <= max(counted, lowered)


@given(STEPS)
def test_a_worker_that_needs_money_gets_it_while_there_is_enough(steps: list[tuple[str, str, int, float]]) -> None:
    life = Life(400)
    for step in steps:
        life.step(*step)
    needed = max(1, life.account.available(400) // 2)
    account = after_report(life.account, 400, report("new", needed=needed, until=life.now + 150), life.now)
    assert reserved(account, "new") >= min(needed, after_expiry(life.account, life.now).available(400))


@given(st.dictionaries(st.sampled_from(WORKERS), st.integers(0, 50)), st.integers(1, 50))
def test_a_budget_that_is_not_exhausted_can_pay_a_call_at_some_time(spent: Mapping[str, int], needed: int) -> None:
    account = BudgetAccount()
    for name, amount in spent.items():
        account = after_report(account, 200, report(name, spent=amount, wanted=0, needed=0), 0.0)
    granted = reserved(after_report(account, 200, report("new", needed=needed), 1.0), "new")
    assert account.is_exhausted(200, needed) is (granted == 0)
