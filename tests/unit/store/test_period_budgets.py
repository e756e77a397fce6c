"""The budgets of a workspace's days and months in the table: concurrent writes, lost responses, limits."""

from datetime import date
from typing import Any

import pytest

from cupel_core.domain.budgets.account import BudgetReport, Refusal
from cupel_core.domain.budgets.month_account import MonthAccount
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.store import clients, period_budgets
from cupel_core.store.period_budgets import ReportResult, StoredMonth
from cupel_core.store.settings import Settings

DAY, NEXT_DAY, NEXT_MONTH = date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1)
LIMITS = PeriodLimits(day_usd=0.001, month_usd=0.002)
SPENT = {ModelRole.TARGET: 70, ModelRole.JUDGE: 30}


def draw(
    worker_id: str = "a",
    day: date = DAY,
    *,
    spent: int = 0,
    wanted: int = 100,
    last: StoredMonth | None = None,
    workspace: str = "ws_a",
) -> ReportResult:
    report = BudgetReport(worker_id, {ModelRole.TARGET: spent}, 0, 0, 10, wanted, until=2_000.0)
    return period_budgets.report(workspace, LIMITS, day, report, 1_000.0, last)


def test_what_is_written_is_read(cloud: Settings) -> None:
    report = BudgetReport("a", SPENT, 5, 20, 0, 0, 2_000.5)
    period_budgets.report("ws_a", LIMITS, DAY, report, 1_000.0)
    written = draw("b", NEXT_DAY, spent=900_000).stored.value
    assert period_budgets.get("ws_a", DAY) == period_budgets.get("ws_a", NEXT_DAY) == written
    assert written.of_day(DAY).leases["a"] == report.lease()
    assert written.announced[BudgetScope.DAY] == ("2026-11-30", 1_000_000, 80)


def test_the_refusals_of_runs_are_stored(cloud: Settings) -> None:
    for run_id in ("run_1", "run_2"):
        report = BudgetReport("a", {}, 0, 0, 2_000_000, 0, 2_000.0, run_id)
        period_budgets.report("ws_a", LIMITS, DAY, report, 1_000.0)
    assert period_budgets.get("ws_a", DAY).of_day(DAY).refusals == {
        run_id: Refusal("a", 2_000_000, 1_000.0) for run_id in ("run_1", "run_2")
    }


def test_each_month_and_each_workspace_has_an_account_of_its_own(cloud: Settings) -> None:
    draw()
    assert period_budgets.get("ws_a", NEXT_MONTH) == period_budgets.get("ws_b", DAY) == MonthAccount()


def test_a_worker_with_a_stale_copy_applies_its_report_to_the_current_account(cloud: Settings) -> None:
    first = draw("a").stored
    draw("b")
    third = draw("a", last=first, spent=4).stored
    assert third.version == 3
    assert set(third.value.of_day(DAY).leases) == {"a", "b"}


def test_workers_together_are_never_granted_more_than_the_scarcer_limit(cloud: Settings) -> None:
    def granted(day: date) -> int:
        names = "abcdefghijklmnop"
        return sum(draw(name, day, wanted=10**9).stored.value.of_day(day).leases[name].reserved for name in names)

    assert 500_000 < granted(DAY) <= 1_000_000
    assert 500_000 < granted(NEXT_DAY) <= 1_000_000
    assert granted(date(2026, 11, 28)) < 500_000


def test_only_one_report_is_told_that_a_share_was_reached(cloud: Settings) -> None:
    assert draw("a", spent=799_999).announcements == {}
    assert draw("a", spent=800_000).announcements == {BudgetScope.DAY: 80}
    assert draw("a", spent=900_000).announcements == {}
    exhausted = period_budgets.announce_exhausted("ws_a", LIMITS, DAY, BudgetScope.DAY)
    assert exhausted.announcements == {BudgetScope.DAY: 100}
    assert period_budgets.announce_exhausted("ws_a", LIMITS, DAY, BudgetScope.DAY).announcements == {}


def test_a_report_whose_response_was_lost_recognizes_its_own_write(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = clients.dynamodb()
    write = client.put_item

    def write_twice(**request: Any) -> Any:
        write(**request)
        return write(**request)

    monkeypatch.setattr(client, "put_item", write_twice)
    result = draw("a", spent=850_000)
    assert (result.stored.version, result.announcements) == (1, {BudgetScope.DAY: 80})
