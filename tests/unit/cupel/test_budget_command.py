"""`cupel budget`, and what other commands show of a run's budget, against the real API function."""

import json
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.live_view import problems, progress_line
from cupel.session import Session
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.runs.run import Action, PauseReason, Run, RunStatus
from cupel_core.domain.turns.roles import ModelRole
from cupel_core.settings import Settings
from cupel_core.store import budgets, runs
from tests.started_runs import NOW, RunSetup, ref_of
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.fake_api import Cupel, a_progress, a_run, a_target


@pytest.fixture
def cupel(cloud: Settings) -> Cupel:
    api = ApiClient(None)
    token = api.issue()

    def connect() -> Client:
        return Client("http://api.test", token, transport=api_transport(api))

    def invoke(*arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments), obj=Session(connect=connect), catch_exceptions=False)

    return invoke


@pytest.fixture
def exhausted(cloud: Settings) -> Run:
    """Of a dollar, 95 cents are spent on targets and judges, and 3 uncertain; the next call may cost 10."""
    run = RunSetup(workspace="acme", budget=RunBudget(1.0, needed_nano_usd=10**8)).start()
    spent = {ModelRole.TARGET: 9 * 10**8, ModelRole.JUDGE: 5 * 10**7}
    report = BudgetReport("w", spent, 3 * 10**7, 0, 0, 0, time.time() + 100)
    budgets.report(ref_of(run), 10**9, report, time.time())
    return runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET)


def test_the_budget_says_what_is_used_for_what_and_how_to_go_on(cupel: Cupel, exhausted: Run) -> None:
    result = cupel("budget", "show", exhausted.id)
    assert result.stdout.splitlines() == [
        f"{exhausted.id}  PAUSED",
        "budget $1.00: $0.95 spent, $0.03 uncertain, $0.02 available",
        "spent on target $0.90, judge $0.05",
        "1 worker at work",
        f"the budget is used up; cupel budget raise {exhausted.id} --to USD raises it, and the run resumes",
    ]


def test_a_raised_budget_resumes_the_run(cupel: Cupel, exhausted: Run) -> None:
    result = cupel("budget", "raise", exhausted.id, "--to", "2", "--json")
    assert (result.exit_code, json.loads(result.stdout)["maxBudgetUsd"]) == (0, 2.0)
    assert runs.get(ref_of(exhausted)).status is RunStatus.RUNNING


def test_a_raised_budget_may_leave_the_run_paused(cupel: Cupel, exhausted: Run) -> None:
    cupel("budget", "raise", exhausted.id, "--to", "2", "--no-resume")
    assert runs.get(ref_of(exhausted)).status is RunStatus.PAUSED


def test_a_run_without_a_budget_has_none_to_show(cupel: Cupel) -> None:
    run = RunSetup(workspace="acme").start()
    result = cupel("budget", "show", run.id)
    assert (result.exit_code, "without maxBudgetUsd" in result.stderr) == (2, True)


def test_a_paused_run_shows_its_budget_and_what_to_do(cupel: Cupel, exhausted: Run) -> None:
    shown = cupel("show", exhausted.id).stdout
    assert "PAUSED (budget used up)" in shown
    assert "budget $1.00: $0.95 spent, $0.03 uncertain" in shown
    assert f"cupel budget raise {exhausted.id}" in shown


BUDGET = {"maxBudgetUsd": 5.0, "spentUsd": 1.0, "uncertainUsd": 0.0, "reservedUsd": 0.5, "byRole": []}


def with_budget(**changes: Any) -> Any:
    progress = a_progress(a_target("sim/steady", 10, 2), **changes)
    spend = {**progress["spend"], "pricedUsd": 1.0, "costUsd": 1.0}
    return {**progress, "spend": {**spend, "budget": {**BUDGET, "projectedUsd": None}}}


def test_the_live_view_shows_the_spend_of_the_budget() -> None:
    assert "$1.00 of $5.00" in progress_line(with_budget(), a_run())


def test_the_live_view_says_how_to_raise_a_budget_that_is_used_up() -> None:
    delay = {"reason": "run_paused", "provider": None, "model": None, "message": None}
    paused = with_budget(status="PAUSED", pauseReason="budget")
    paused["targets"][0]["delays"] = [delay]
    [lines] = problems(paused, a_run()).values()
    assert lines == [
        f"the budget is used up; cupel budget raise {paused['runId']} --to USD raises it, and the run resumes"
    ]
