"""Two accounts that must both grant what a worker spends: of its run, and of the workspace's day."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.base.errors import RetryableError
from cupel_core.budgets.accounts import BudgetGrant, JointAccount, MemoryAccount
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.roles import ModelRole

TARGET = ModelRole.TARGET


class LimitedAccount(MemoryAccount):
    """With a limit of its own, and losses of what is sent to it or of what it answers."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.losses: list[str] = []
        self.reports = 0

    async def report(self, limit: int, report: BudgetReport, now: float) -> BudgetGrant:
        del limit
        self.reports += 1
        loss = self.losses.pop(0) if self.losses else ""
        if loss == "request":
            raise RetryableError("lost")
        grant = await super().report(self.limit, report, now)
        if loss == "response":
            raise RetryableError("lost")
        return grant

    async def leave(self, report: BudgetReport, now: float) -> None:
        if self.losses:
            raise RetryableError("lost")
        await super().leave(report, now)

    @property
    def counted(self) -> int:
        return self.account.used + self.account.reserved


def report(needed: int = 10, wanted: int = 100, spent: int = 0, reserved: int = 0) -> BudgetReport:
    return BudgetReport("w", {TARGET: spent}, 0, reserved, needed, wanted, until=10**9)


def joint(first: int, second: int) -> tuple[JointAccount, LimitedAccount, LimitedAccount]:
    of_day, of_run = LimitedAccount(first), LimitedAccount(second)
    return JointAccount(of_day, of_run), of_day, of_run


async def test_a_grant_is_what_both_allow() -> None:
    account, of_day, of_run = joint(10_000, 10_000)
    assert (await account.report(0, report(wanted=100), 0.0)).amount == 100
    assert (of_day.counted, of_run.counted, of_day.reports, of_run.reports) == (100, 100, 1, 1)


async def test_what_the_run_does_not_grant_is_given_back_to_the_day_at_once() -> None:
    account, of_day, of_run = joint(10_000, 200)
    assert (await account.report(0, report(wanted=100), 0.0)).amount == 50
    assert (of_day.counted, of_run.counted) == (50, 50)


@pytest.mark.parametrize(("first", "second"), [(5, 100), (100, 5)])
async def test_too_little_in_one_grants_nothing_and_reserves_nothing(first: int, second: int) -> None:
    account, of_day, of_run = joint(first, second)
    grant = await account.report(0, report(needed=10), 0.0)
    assert (grant.amount, grant.exhausted) == (0, BudgetScope.RUN)
    assert (of_day.account.reserved, of_run.account.reserved) == (0, 0)


async def test_a_worker_leaves_both_although_one_fails() -> None:
    account, of_day, of_run = joint(1_000, 1_000)
    await account.report(0, report(), 0.0)
    of_day.losses = ["request"]
    with pytest.raises(RetryableError):
        await account.leave(report(spent=70, needed=0, wanted=0), 1.0)
    assert (of_run.account.used, of_run.account.leases) == (70, {})


LOSSES = st.lists(st.sampled_from(["", "", "request", "response"]), max_size=4)
STEPS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40), LOSSES, LOSSES), max_size=20)


@given(st.integers(0, 400), st.integers(0, 400), STEPS)
async def test_no_loss_makes_a_worker_spend_more_than_either_account_counts(
    first: int, second: int, steps: list[tuple[int, int, list[str], list[str]]]
) -> None:
    account, of_day, of_run = joint(first, second)
    balance, spent = 0, 0
    for now, (cost, needed, lost_by_day, lost_by_run) in enumerate(steps):
        amount = min(cost, balance)
        balance, spent = balance - amount, spent + amount
        of_day.losses, of_run.losses = list(lost_by_day), list(lost_by_run)
        if balance < needed:
            balance = 0
        sent = replace(report(needed if balance < needed else 0, 3 * needed, spent, balance))
        with suppress(RetryableError):
            balance += (await account.report(0, sent, float(now))).amount
        for each in (of_day, of_run):
            assert spent + balance <= each.counted <= each.limit
