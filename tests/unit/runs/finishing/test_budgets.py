"""Summaries and selections of a run with a budget."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.accounts.leases.holder import LeaseHolder
from cupel_core.budgets import patient_calls
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.providers.errors import CallPostponed
from cupel_core.runs.finishing.phases import summarize_slice
from cupel_core.store import budgets
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun, get_transcript
from tests.run_budgets import run_budget
from tests.scripted_judge import DECISION_TEXT, ScriptedJudge
from tests.started_runs import NOW, ref_of

BY_RUBRIC = Content(decision=DecisionMethod(pattern="Rating: ([1-5])"))
EXCERPT = Summary("4", "Rating: 4", NOW, is_provisional=True)
PRICE = ModelPrice(None, 1_000.0, 1_000.0)
CALL_USD = 0.015
"""10 and 5 tokens of a scripted judge."""


@pytest.fixture(autouse=True)
def priced(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})


def summarizing(max_usd: float) -> Run:
    return AnsweredRun(content=BY_RUBRIC, summary=EXCERPT, budget=run_budget(max_usd)).summarizing()


async def summarize(run: Run, judge: ScriptedJudge) -> SliceProgress:
    return await summarize_slice(ref_of(run), run.fencing_token, LeafRange(0, 1), lambda: 900.0, attempt=judge)


async def test_summaries_are_charged_to_the_budget(cloud: Settings) -> None:
    run = summarizing(100.0)
    await summarize(run, ScriptedJudge())
    account = budgets.get(ref_of(run))
    assert account.spent_by_role == {ModelRole.SUMMARY: round(2 * CALL_USD * 10**9)}
    assert (account.reserved, account.leases) == (0, {})


async def test_a_summary_that_the_budget_does_not_allow_is_recorded_with_an_error(cloud: Settings) -> None:
    run, judge = summarizing(0.01), ScriptedJudge()
    assert (await summarize(run, judge)).left == 0
    summary = get_transcript(run, 0).summary
    assert summary is not None
    assert (summary.decision_code, summary.decision_text) == ("4", "Rating: 4")
    assert summary.error is not None
    assert "budget: the budget of $0.01 is used up: less is left than the call may cost ($" in summary.error
    assert judge.called_models == []


def drawn_by_another(run: Run) -> BudgetReport:
    """Another worker draws all of a budget of 100 USD."""
    limit = run_budget(100.0).limit
    drawn = BudgetReport("other", {}, 0, limit, 0, 0, until=10.0**11)
    budgets.report(ref_of(run), limit, drawn, NOW.timestamp())
    return drawn


async def test_a_summary_waits_for_what_another_worker_may_give_back(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, waits = summarizing(100.0), list[float]()
    drawn = drawn_by_another(run)

    async def give_back(seconds: float) -> None:
        waits.append(seconds)
        budgets.leave(ref_of(run), replace(drawn, reserved=0), NOW.timestamp())

    monkeypatch.setattr(patient_calls, "asyncio", SimpleNamespace(sleep=give_back))
    await summarize(run, ScriptedJudge())
    summary = get_transcript(run, 0).summary
    assert summary is not None
    assert summary.decision_text == DECISION_TEXT
    assert waits


async def test_a_call_that_waited_for_its_budget_is_not_made_once_the_account_is_paused(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transcripts are left to the next task."""
    run, judge = summarizing(100.0), ScriptedJudge()
    drawn = drawn_by_another(run)

    async def give_back(_: float) -> None:
        budgets.leave(ref_of(run), replace(drawn, reserved=0), NOW.timestamp())

    def postpone(_: LeaseHolder) -> None:
        if drawn.worker_id not in budgets.get(ref_of(run)).leases:
            raise CallPostponed("sim", 5.0)

    monkeypatch.setattr(patient_calls, "asyncio", SimpleNamespace(sleep=give_back))
    monkeypatch.setattr(LeaseHolder, "postpone_if_closed", postpone)
    assert await summarize(run, judge) == SliceProgress(left=2, wait_seconds=5.0)
    assert judge.called_models == []


async def test_probes_may_not_use_what_is_set_aside_for_summaries() -> None:
    budget = run_budget(5.0, finish_usd=1.0)
    assert (budget.limit, budget.probe_limit) == (5 * 10**9, 4 * 10**9)


async def test_at_least_half_of_a_budget_is_for_probes() -> None:
    assert run_budget(5.0, finish_usd=100.0).probe_limit == 2_500_000_000
