"""`cupel budget`, and what other commands show of a run's budget, against the real API function."""

import json
import time
from typing import Any

import pytest

from cupel.live_view import problems, progress_line
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.runs.run import Action, PauseReason, PeriodPause, Run, RunStatus
from cupel_core.store import budgets, runs
from cupel_core.store.settings import Settings
from tests.run_budgets import run_budget
from tests.started_runs import NOW, RunSetup, ref_of
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel, a_progress, a_run, a_target


@pytest.fixture
def cupel(cloud: Settings) -> Cupel:
    return command_of(connect_to_api_function())


@pytest.fixture
def exhausted(cloud: Settings) -> Run:
    """Of a dollar, 95 cents are spent on targets and judges, and 3 uncertain; the next call may cost 10."""
    run = RunSetup(workspace="acme", budget=run_budget(1.0, needed_nano_usd=10**8)).start()
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
        "its budget of $1 is used up, and the next call needs $0.08 more; "
        f"cupel budget raise {exhausted.id} --to USD raises it, and the run resumes",
    ]


def test_the_budget_says_what_the_run_was_expected_to_cost(cupel: Cupel, cloud: Settings) -> None:
    run = RunSetup(workspace="acme", budget=run_budget(1.0), estimated_usd=EstimateInterval(0.2, 0.5, 0.8)).start()
    assert "expected at the start: $0.50 ($0.20 to $0.80)" in cupel("budget", "show", run.id).stdout


def test_a_raised_budget_resumes_the_run(cupel: Cupel, exhausted: Run) -> None:
    result = cupel("budget", "raise", exhausted.id, "--to", "2", "--json")
    assert (result.exit_code, json.loads(result.stdout)["maxBudgetUsd"]) == (0, 2.0)
    assert runs.get(ref_of(exhausted)).status is RunStatus.RUNNING


def test_of_a_budget_below_what_is_spent_nothing_is_available(cupel: Cupel, exhausted: Run) -> None:
    lowered = cupel("budget", "raise", exhausted.id, "--to", "0.5").stdout.splitlines()
    assert lowered[1] == "budget $0.50: $0.95 spent, $0.03 uncertain, $0 available"


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "1e309", "inf", "a lot", "0.0000001"])
@pytest.mark.parametrize(
    "command", ["run samples/value-dilemma.yaml --budget", "budget raise run_1 --to", "rescore run_1 --budget"]
)
def test_an_amount_that_cannot_be_spent_is_refused_by_the_option(cupel: Cupel, command: str, amount: str) -> None:
    *words, option = command.split()
    result = cupel(*words, f"{option}={amount}")
    assert result.exit_code == 2
    assert f"'{option}': \"{amount}\" is not an amount in US dollars of at least 0.000001" in _one_line(result.stderr)


def _one_line(box: str) -> str:
    return " ".join(box.replace("│", " ").split())


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


def test_the_workspaces_budgets_are_set_and_shown(cupel: Cupel) -> None:
    zone, *periods = cupel("budget", "show").stdout.splitlines()
    assert zone == "time zone UTC"
    assert [line.partition(": ")[2] for line in periods] == ["no limit, not counted"] * 2
    cupel("budget", "set", "--day", "20", "--month", "300", "--timezone", "Europe/Berlin")
    day = PeriodLimits(timezone="Europe/Berlin").day_at(time.time())
    report = BudgetReport("w", {ModelRole.TARGET: 5 * 10**9}, 10**8, 0, 0, 0, time.time() + 100)
    budgets.report_to_month("acme", PeriodLimits(20.0, 300.0), day, report, time.time())
    zone, of_day, of_month = cupel("budget", "show").stdout.splitlines()
    assert zone == "time zone Europe/Berlin"
    assert of_day.startswith(f"day {day}: budget $20.00: $5.00 spent, $0.10 uncertain, $14.90 available until ")
    assert of_month.startswith(f"month {day:%Y-%m}: budget $300.00: $5.00 spent, $0.10 uncertain, $294.90 available")
    assert "budgets: day $20.00, month $300.00" in cupel("settings").stdout


def test_a_limit_of_the_workspace_is_removed(cupel: Cupel) -> None:
    cupel("budget", "set", "--day", "20", "--month", "300")
    result = json.loads(cupel("budget", "set", "--day", "none", "--json").stdout)
    assert (result["day"]["limitUsd"], result["month"]["limitUsd"]) == (None, 300.0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--day"),
        (["--day", "much"], "--day"),
        (["--month", "-1"], "--month"),
        (["--month", "nan"], "--month"),
        (["--timezone", "Mars/Olympus"], "--timezone"),
    ],
)
def test_an_impossible_limit_is_refused_by_name(cupel: Cupel, arguments: list[str], named: str) -> None:
    result = cupel("budget", "set", *arguments)
    assert (result.exit_code, named in result.stderr) == (2, True), result.stderr


def test_a_run_that_the_workspaces_budget_has_paused_says_when_it_resumes(cupel: Cupel) -> None:
    run = RunSetup(workspace="acme").start()
    pause = PeriodPause(BudgetScope.DAY, 10**8)
    runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET, period_pause=pause)
    shown = cupel("show", run.id).stdout
    assert "PAUSED (budget used up)" in shown
    assert "the workspace's budget for the day is used up; the run resumes when the day has ended" in shown
    assert "cupel budget set --day USD" in shown


def test_the_live_view_names_the_workspaces_budget_that_is_used_up() -> None:
    delay = {"reason": "run_paused", "provider": None, "model": None, "message": None}
    paused = with_budget(status="PAUSED", pauseReason="budget", exhaustedBudget="month")
    paused["targets"][0]["delays"] = [delay]
    [[line]] = problems(paused, a_run()).values()
    assert line.startswith("the workspace's budget for the month is used up")
