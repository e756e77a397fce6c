"""The accounts of budgets in the table: concurrent writes and lost responses."""

from datetime import date
from typing import Any

import orjson
import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport, Refusal
from cupel_core.domain.budgets.month_account import MonthAccount
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.store import budgets, clients
from cupel_core.store.budgets import ReportResult, StoredAccount, StoredMonth
from cupel_core.store.settings import Settings

REF, LIMIT = RunRef("ws_a", "run_1"), 1_000_000
SPENT = {ModelRole.TARGET: 70, ModelRole.JUDGE: 30}


DAY, NEXT_DAY, NEXT_MONTH = date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1)
LIMITS = PeriodLimits(day_usd=0.001, month_usd=0.002)


def report(worker_id: str = "a", spent: int = 0, wanted: int = 100) -> BudgetReport:
    return BudgetReport(worker_id, {ModelRole.TARGET: spent}, 0, 0, 10, wanted, until=2_000.0)


def draw(worker_id: str = "a", last: StoredAccount | None = None, **figures: int) -> StoredAccount:
    return budgets.report(REF, LIMIT, report(worker_id, **figures), 1_000.0, last)


def test_what_is_written_is_read(cloud: Settings) -> None:
    budgets.report(REF, LIMIT, BudgetReport("a", SPENT, 5, 20, 0, 0, 2_000.5), 1_000.0)
    budgets.report(REF, LIMIT, BudgetReport("b", {}, 0, 0, 0, 0, 1_001.0), 1_000.0)
    written = draw("c").value
    assert budgets.get(REF) == written
    assert written.leases["a"].spent == SPENT
    assert (written.leases["a"].uncertain, written.leases["a"].reserved, written.leases["a"].until) == (5, 20, 2_000.5)


def test_a_refusal_is_stored_until_its_worker_gets_something(cloud: Settings) -> None:
    budgets.report(REF, 5, report("a"), 1_000.0)
    assert budgets.get(REF).refusals == {"": Refusal("a", 10, 1_000.0)}
    draw("a")
    assert budgets.get(REF).refusals == {}


def test_an_account_without_refusals_does_not_store_any(cloud: Settings) -> None:
    draw("a", spent=7)
    key = {"TableName": cloud.table_name, "Key": budgets.key_of(REF)}
    body = orjson.loads(clients.dynamodb().get_item(**key)["Item"]["body"]["S"])
    assert body.keys() == {"spent", "uncertain", "leases", "expired"}
    assert (budgets.get(REF).used, budgets.get(REF).refusals) == (7, {})


def test_expired_leases_are_stored(cloud: Settings) -> None:
    draw("a", spent=7)
    budgets.report(REF, LIMIT, report("b"), 3_000.0)
    assert budgets.get(REF).expired.keys() == {"a"}


def test_a_run_without_reports_has_an_empty_account(cloud: Settings) -> None:
    assert budgets.get(REF) == BudgetAccount()


def test_the_accounts_of_several_runs_are_read_together(cloud: Settings) -> None:
    draw("a", spent=7)
    other = RunRef("ws_a", "run_2")
    assert {ref: account.used for ref, account in budgets.get_all([REF, other]).items()} == {REF: 7, other: 0}


def test_a_worker_with_a_stale_copy_applies_its_report_to_the_current_account(cloud: Settings) -> None:
    first = draw("a")
    draw("b")
    third = draw("a", last=first, spent=4)
    assert (third.version, third.value.leases.keys(), third.value.used) == (3, {"a", "b"}, 4)


def test_workers_together_are_never_granted_more_than_the_limit(cloud: Settings) -> None:
    grants = [draw(name, wanted=LIMIT).value.leases[name].reserved for name in "abcdefgh"]
    assert LIMIT // 2 < sum(grants) <= LIMIT


def test_a_write_that_is_sent_again_after_a_lost_response_is_applied_once(cloud: Settings) -> None:
    """The second request fails its own condition, and finds its own token."""
    events, sent = clients.dynamodb().meta.events, list[Any]()

    def write_before(params: dict[str, Any], **_: object) -> None:
        sent.append(params)
        if len(sent) == 1:
            clients.dynamodb().put_item(**params)

    events.register("provide-client-params.dynamodb.PutItem", write_before)
    try:
        drawn = draw(wanted=100)
    finally:
        events.unregister("provide-client-params.dynamodb.PutItem", write_before)
    assert (len(sent), drawn.version) == (2, 1)
    assert budgets.get(REF).leases["a"].reserved == 100


def test_a_last_report_is_applied_once(cloud: Settings) -> None:
    draw("a")
    for _ in range(2):
        budgets.leave(REF, report("a", spent=40), 1_001.0)
    assert (budgets.get(REF).used, budgets.get(REF).leases) == (40, {})


def draw_of_month(
    worker_id: str = "a",
    day: date = DAY,
    *,
    spent: int = 0,
    wanted: int = 100,
    last: StoredMonth | None = None,
    workspace: str = "ws_a",
) -> ReportResult:
    report = BudgetReport(worker_id, {ModelRole.TARGET: spent}, 0, 0, 10, wanted, until=2_000.0)
    return budgets.report_to_month(workspace, LIMITS, day, report, 1_000.0, last)


def test_what_is_written_of_a_month_is_read(cloud: Settings) -> None:
    report = BudgetReport("a", SPENT, 5, 20, 0, 0, 2_000.5)
    budgets.report_to_month("ws_a", LIMITS, DAY, report, 1_000.0)
    written = draw_of_month("b", NEXT_DAY, spent=900_000).stored.value
    assert budgets.get_month("ws_a", DAY) == budgets.get_month("ws_a", NEXT_DAY) == written
    assert written.of_day(DAY).leases["a"] == report.lease()
    assert written.announced[BudgetScope.DAY] == ("2026-11-30", 1_000_000, 80)


def test_the_refusals_of_runs_are_stored(cloud: Settings) -> None:
    for run_id in ("run_1", "run_2"):
        report = BudgetReport("a", {}, 0, 0, 2_000_000, 0, 2_000.0, run_id)
        budgets.report_to_month("ws_a", LIMITS, DAY, report, 1_000.0)
    assert budgets.get_month("ws_a", DAY).of_day(DAY).refusals == {
        run_id: Refusal("a", 2_000_000, 1_000.0) for run_id in ("run_1", "run_2")
    }


def test_each_month_and_each_workspace_has_an_account_of_its_own(cloud: Settings) -> None:
    draw_of_month()
    assert budgets.get_month("ws_a", NEXT_MONTH) == budgets.get_month("ws_b", DAY) == MonthAccount()


def test_a_worker_with_a_stale_copy_applies_its_report_to_the_current_month(cloud: Settings) -> None:
    first = draw_of_month("a").stored
    draw_of_month("b")
    third = draw_of_month("a", last=first, spent=4).stored
    assert third.version == 3
    assert set(third.value.of_day(DAY).leases) == {"a", "b"}


def test_workers_together_are_never_granted_more_than_the_scarcer_limit(cloud: Settings) -> None:
    def granted(day: date) -> int:
        names = "abcdefghijklmnop"
        leases = (draw_of_month(name, day, wanted=10**9).stored.value.of_day(day).leases[name] for name in names)
        return sum(lease.reserved for lease in leases)

    assert 500_000 < granted(DAY) <= 1_000_000
    assert 500_000 < granted(NEXT_DAY) <= 1_000_000
    assert granted(date(2026, 11, 28)) < 500_000


def test_only_one_report_is_told_that_a_share_was_reached(cloud: Settings) -> None:
    assert draw_of_month("a", spent=799_999).announcements == {}
    assert draw_of_month("a", spent=800_000).announcements == {BudgetScope.DAY: 80}
    assert draw_of_month("a", spent=900_000).announcements == {}
    exhausted = budgets.announce_exhausted("ws_a", LIMITS, DAY, BudgetScope.DAY)
    assert exhausted.announcements == {BudgetScope.DAY: 100}
    assert budgets.announce_exhausted("ws_a", LIMITS, DAY, BudgetScope.DAY).announcements == {}


def test_a_report_whose_response_was_lost_recognizes_its_own_write(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = clients.dynamodb()
    write = client.put_item

    def write_twice(**request: Any) -> Any:
        write(**request)
        return write(**request)

    monkeypatch.setattr(client, "put_item", write_twice)
    result = draw_of_month("a", spent=850_000)
    assert (result.stored.version, result.announcements) == (1, {BudgetScope.DAY: 80})
