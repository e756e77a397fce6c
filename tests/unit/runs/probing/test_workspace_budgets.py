"""A worker on moto's queues and table: what it does with the budgets of a workspace for days and months."""

import json
import time
from datetime import date, datetime
from functools import partial
from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.budgets import workspace_budgets
from cupel_core.budgets.budget_metrics import BUDGET_USED
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.run_budgets import BudgetChanged
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.money import nano_usd, usd
from cupel_core.domain.budgets.month_account import MonthAccount
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.resources.evaluation_settings import SettingsChanges
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.run import Action, PauseReason, Progress, Run, RunEventType, RunStatus
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.resources.evaluation_settings import update_settings
from cupel_core.runs.probing import conversation_calls, run_allowances
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, budgets, events, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.run_budgets import run_budget
from tests.started_runs import RunSetup, ref_of, send_and_receive, slice_message
from tests.unit.runs.probing.test_governed_worker import Sent, sent

__all__ = ["sent"]
LEAF = list(range(20))
PRICE = ModelPrice(None, 1_000.0, 10_000.0)
"""Per million tokens: a call costs about a dollar."""
DAY, MONTH = BudgetScope.DAY, BudgetScope.MONTH


@pytest.fixture(autouse=True)
def priced(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})


def set_limits(day_usd: float | None = None, month_usd: float | None = None) -> None:
    changes = SettingsChanges(budgets={"day_usd": day_usd, "month_usd": month_usd})
    update_settings("ws_a", changes)


def start(**setup: Any) -> Run:
    return RunSetup(**{"scenario_count": 20, "params": {"maxOutputTokens": 50}, **setup}).start()


async def work_on(run: Run, indexes: list[int] = LEAF, sent: list[Sent] | None = None) -> Run:
    deliveries = send_and_receive(slice_message(run, indexes))
    if sent is not None:
        sent.clear()
    await Worker("sim", time.time() + 600.0, receive_wait_seconds=0).run(deliveries)
    return runs.get(ref_of(run))


async def work_until_paused(run: Run) -> Run:
    """What a worker has requeued because another call might still have left enough is delivered again."""
    for _ in range(5):
        run = await work_on(run)
        if run.status is RunStatus.PAUSED:
            break
    return run


def today() -> date:
    return PeriodLimits().day_at(time.time())


def account() -> MonthAccount:
    return budgets.get_month("ws_a", today())


def recorded_usd(run: Run) -> float:
    return barrier.get_state(Tree.for_run(run)).spend.recorded.priced_usd


def reserve(amount_usd: float, until: float) -> BudgetReport:
    """Another worker of the workspace has drawn so much."""
    amount = nano_usd(amount_usd)
    report = BudgetReport("other", {}, 0, amount, 0, 0, until)
    budgets.report_to_month("ws_a", PeriodLimits(), today(), report, until - 150)
    return report


async def test_a_run_within_the_budget_is_charged_what_its_outcomes_cost(finish_starts: list[tuple[str, int]]) -> None:
    set_limits(day_usd=1_000, month_usd=2_000)
    run = await work_on(start())
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=20)
    assert usd(account().used(DAY, today())) == pytest.approx(recorded_usd(run))
    assert (account().reserved(DAY, today()), account().of_day(today()).leases) == (0, {})
    assert account().uncertain(MONTH, today()) == 0


@pytest.mark.parametrize(("day_usd", "month_usd", "scope"), [(8.0, None, DAY), (None, 8.0, MONTH), (100.0, 8.0, MONTH)])
async def test_a_run_is_paused_with_less_than_a_call_left(
    day_usd: float | None, month_usd: float | None, scope: BudgetScope
) -> None:
    set_limits(day_usd, month_usd)
    run = await work_until_paused(start())
    assert (run.status, run.pause_reason, run.exhausted_budget) == (RunStatus.PAUSED, PauseReason.BUDGET, scope)
    assert run.period_pause is not None
    assert recorded_usd(run) <= usd(account().used(scope, today())) <= 8.0
    left = account().available(scope, PeriodLimits(day_usd, month_usd), today())
    assert left is not None
    assert 0 <= left < run.period_pause.needed_nano_usd
    progress = barrier.get_progress(Tree.for_run(run))
    assert 0 < progress.completed < 20
    assert progress.failed == 0


async def test_the_events_name_the_period_and_come_once() -> None:
    set_limits(day_usd=8.0)
    run = await work_until_paused(start())
    seen = events.list_after(ref_of(run), 0)
    percents = [event.data["percent"] for event in seen if event.type is RunEventType.BUDGET]
    assert percents in ([80, 100], [100])
    paused = seen[-1]
    assert paused.type is RunEventType.PAUSED
    assert (paused.data["scope"], paused.data["limitUsd"], paused.data["period"]) == ("day", 8.0, str(today()))
    assert paused.data["spentUsd"] == pytest.approx(recorded_usd(run))


async def test_the_metric_says_with_the_events_how_much_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    set_limits(day_usd=8.0)
    run = await work_until_paused(start(budget=run_budget(9.0)))
    of_events = [
        (str(event.data["scope"]), event.data["percent"])
        for event in events.list_after(ref_of(run), 0)
        if event.type is RunEventType.BUDGET
    ]
    assert ("day", 100) in of_events
    assert sorted(published(capsys)) == sorted(of_events)


async def test_calls_that_belong_to_no_run_publish_the_metric_too(capsys: pytest.CaptureFixture[str]) -> None:
    set_limits(month_usd=10.0)
    calls = workspace_budgets.PeriodAccount("ws_a", today())
    for spent in (7.9, 8.0, 9.0, 10.0):
        report = BudgetReport("w", {ModelRole.JUDGE: nano_usd(spent)}, 0, 0, 0, 0, time.time() + 150)
        await calls.report(0, report, time.time())
    assert published(capsys) == [("month", 80), ("month", 100)]


def published(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, float]]:
    """The scopes and percents of the metric BudgetUsed."""
    lines = [line for line in capsys.readouterr().out.splitlines() if f'"{BUDGET_USED}"' in line]
    return [(metric["scope"], metric[BUDGET_USED][0]) for metric in map(json.loads, lines)]


async def test_runs_of_a_workspace_share_its_budget() -> None:
    set_limits(day_usd=8.0)
    first = await work_until_paused(start())
    second = await work_until_paused(start())
    assert (second.status, second.exhausted_budget) == (RunStatus.PAUSED, DAY)
    assert recorded_usd(first) + recorded_usd(second) <= 8.0


async def test_a_run_with_a_budget_of_its_own_is_charged_to_both(finish_starts: list[tuple[str, int]]) -> None:
    set_limits(day_usd=1_000)
    run = await work_on(start(budget=run_budget(1_000.0)))
    assert budgets.get(ref_of(run)).used == account().used(DAY, today()) > 0
    assert (budgets.get(ref_of(run)).reserved, account().reserved(DAY, today())) == (0, 0)


async def test_the_scarcer_of_both_budgets_pauses_the_run() -> None:
    set_limits(day_usd=1_000)
    run = await work_until_paused(start(budget=run_budget(8.0)))
    assert (run.status, run.exhausted_budget) == (RunStatus.PAUSED, BudgetScope.RUN)
    set_limits(day_usd=usd(account().used(DAY, today())) + 8.0)
    run = await work_until_paused(start(budget=run_budget(1_000.0)))
    assert (run.status, run.exhausted_budget) == (RunStatus.PAUSED, DAY)
    assert (account().reserved(DAY, today()), account().uncertain(DAY, today())) == (0, 0)


async def test_what_a_budget_of_the_run_refuses_is_given_back_to_the_workspace_at_once() -> None:
    set_limits(day_usd=1_000)
    run = start(budget=run_budget(8.0))
    key = workspace_budgets.key_of_run(run, PeriodLimits(1_000.0), time.time())
    assert key is not None
    report = BudgetReport("w", {}, 0, 0, nano_usd(1.0), nano_usd(20.0), time.time() + 150)
    grant = await workspace_budgets.open_account(key).report(nano_usd(8.0), report, time.time())
    assert usd(grant.amount) == 2.0
    assert usd(account().reserved(DAY, today())) == usd(budgets.get(ref_of(run)).reserved) == 2.0


async def test_while_a_worker_of_another_run_has_money_reserved_probes_are_requeued(sent: list[Sent]) -> None:
    set_limits(day_usd=2.0)
    reserve(2.0, until=time.time() + 150)
    run = await work_on(start(), sent=sent)
    assert run.status is RunStatus.RUNNING
    assert [(message.probe_slice.indexes, message.delay_seconds) for message in sent] == [(LEAF, 10)]


async def test_what_a_dead_worker_had_reserved_is_uncertain_and_the_run_is_paused(sent: list[Sent]) -> None:
    set_limits(day_usd=2.0)
    reserve(2.0, until=time.time() - 1)
    run = await work_until_paused(start())
    assert run.status is RunStatus.PAUSED
    assert usd(account().uncertain(DAY, today())) == 2.0


async def test_judges_are_charged_too(finish_starts: list[tuple[str, int]]) -> None:
    set_limits(month_usd=1_000)
    content = {"assertions": [{"type": "llm-rubric", "value": "is kind"}]}
    run = await work_on(start(scenario_count=2, content=content, judge_model="sim/steady"), [0, 1])
    spent = account().spent_by_role(MONTH, today())
    assert spent.keys() == {ModelRole.TARGET, ModelRole.JUDGE}
    assert usd(sum(spent.values())) == pytest.approx(recorded_usd(run))


async def test_on_another_day_a_worker_draws_from_that_days_budget(
    finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[str]()

    async def counted(account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        calls.append(model)
        return await complete(account, model, request, timeout_seconds)

    monkeypatch.setattr(conversation_calls, "ChargedCalls", partial(ChargedCalls, attempt=counted))
    monkeypatch.setattr(PeriodLimits, "day_at", lambda *_: date(2026, 11, 29 if len(calls) < 10 else 30))
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 2})
    set_limits(day_usd=1_000)
    run = await work_on(start())
    assert barrier.get_progress(Tree.for_run(run)).completed == 20
    month = budgets.get_month("ws_a", date(2026, 11, 1))
    spent = {day: month.used(DAY, day) for day in month.days}
    assert spent.keys() == {date(2026, 11, 29), date(2026, 11, 30)}
    assert all(amount > 0 for amount in spent.values())
    assert usd(sum(spent.values())) == pytest.approx(recorded_usd(run))
    assert (month.reserved(MONTH, date(2026, 11, 1)), month.uncertain(MONTH, date(2026, 11, 1))) == (0, 0)


async def test_a_run_is_not_paused_for_a_budget_that_was_raised_meanwhile() -> None:
    set_limits(day_usd=1_000)
    run = start()
    with pytest.raises(BudgetChanged):
        workspace_budgets.pause_for_period(run, nano_usd(1.0), datetime.now().astimezone())
    assert runs.get(ref_of(run)).status is RunStatus.PENDING


@pytest.mark.usefixtures("finish_starts")
async def test_a_limit_that_is_raised_before_the_pause_is_drawn_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause is tried once, not until what was found of the budget is out of date."""
    set_limits(day_usd=0.1)
    pauses = list[int]()

    def raise_and_pause(run: Run, needed: int, now: datetime) -> None:
        pauses.append(needed)
        set_limits(day_usd=1_000)
        workspace_budgets.pause_for_period(run, needed, now)

    monkeypatch.setattr(run_allowances, "pause_for_period", raise_and_pause)
    run = await work_on(start())
    assert barrier.get_progress(Tree.for_run(run)).completed == 20
    assert len(pauses) == 1


def test_a_pause_names_the_budget_that_is_used_up_when_it_is_written() -> None:
    """A worker found the day used up just before midnight: of the new day nothing is used, but the month is."""
    set_limits(day_usd=100, month_usd=8)
    spent = BudgetReport("w", {ModelRole.TARGET: nano_usd(8)}, 0, 0, 0, 0, time.time() + 100)
    budgets.report_to_month("ws_a", PeriodLimits(), today(), spent, time.time())
    run = runs.transition(ref_of(start()), Action.START, utc_now())
    workspace_budgets.pause_for_period(run, nano_usd(1), utc_now())
    assert runs.get(ref_of(run)).exhausted_budget is MONTH


async def test_after_the_limits_were_removed_nothing_more_is_drawn() -> None:
    set_limits(day_usd=1_000)
    run = start()
    allowances = RunAllowances("w", time.time() + 600, time.time, on_report=lambda: None)
    async with allowances:
        await allowances.load_limits("ws_a")
        allowance = allowances.of(run)
        assert allowance is not None
        allowance.demand.pending, allowance.demand.first_call = 20, nano_usd(1.0)
        allowances._limits._limits["ws_a"] = PeriodLimits()
        assert allowances.of(run) is None
        assert (allowance.demand.pending, allowance.is_report_due) == (0, False)
