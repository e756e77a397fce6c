"""Budgets of a workspace for days and months over HTTP: their limits, what is used of them, and refused starts."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.definitions import catalog
from cupel_core.domain.access import AccessRole
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.model_request import Message, MessageRole, Reply, Usage
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action, PauseReason, PeriodPause, Run, RunStatus
from cupel_core.providers.connectors import dispatch
from cupel_core.store import budgets, runs
from cupel_core.store.settings import Settings
from tests.added_scenarios import add_scenarios
from tests.run_budgets import run_budget
from tests.started_runs import RunSetup, ref_of
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PRICES = [{"model": "m", "inputUsdPerMillion": 1_000, "outputUsdPerMillion": 10_000}]
"""A call costs some dollars."""


@pytest.fixture
def definition_id(client: Client) -> str:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1", "prices": PRICES})
    created = catalog.create("acme", Labels(name="d"), {"system": "s"}, NOW)
    add_scenarios("acme", created.head.id, [Scenario("", "one", (Message(MessageRole.USER, "u" * 100),))])
    return created.head.id


def start(client: Client, definition_id: str, **changes: Any) -> Answer:
    return client.post("/v1/runs", {"definitionId": definition_id, "models": ["custom/m"], **changes})


def set_limits(client: Client, **limits: Any) -> Answer:
    return client.put("/v1/settings", {"budgets": limits})


def charge(spent_usd: float, reserved_usd: float = 0.0) -> None:
    """As a worker does that had drawn enough before the limits were set."""
    spent, reserved = (round(usd * 10**9) for usd in (spent_usd, reserved_usd))
    report = BudgetReport("w", {ModelRole.TARGET: spent}, 0, reserved, 0, 0, time.time() + 100)
    budgets.report_to_month("acme", PeriodLimits(), PeriodLimits().day_at(time.time()), report, time.time())


def paused_run(needed_usd: float = 0.1, **setup: Any) -> Run:
    run = RunSetup(workspace="acme", **setup).start()
    pause = PeriodPause(BudgetScope.DAY, round(needed_usd * 10**9))
    return runs.transition(ref_of(run), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET, period_pause=pause)


def test_a_run_that_waits_for_the_next_day_goes_on_waiting_if_its_own_budget_is_raised_without_resuming(
    client: Client,
) -> None:
    run = paused_run(budget=run_budget(1.0))
    answer = client.patch(f"/v1/runs/{run.id}/budget", {"maxBudgetUsd": 2, "resume": False}).json()
    assert (answer["status"], answer["pauseReason"], answer["maxBudgetUsd"]) == ("PAUSED", "budget", 2.0)
    assert runs.get(ref_of(run)).exhausted_budget is BudgetScope.DAY


def test_a_workspace_begins_without_limits(client: Client) -> None:
    budgets = client.get("/v1/budgets").json()
    assert budgets["timezone"] == "UTC"
    assert (budgets["day"]["limitUsd"], budgets["day"]["availableUsd"]) == (None, None)
    assert budgets["month"]["period"] == budgets["day"]["period"][:7]


def test_what_is_not_counted_without_a_limit_is_unknown_and_zero_with_one(client: Client) -> None:
    figures = ("spentUsd", "uncertainUsd", "reservedUsd", "byRole")
    budgets = client.get("/v1/budgets").json()
    assert {budgets[scope][name] for scope in ("day", "month") for name in figures} == {None}
    set_limits(client, monthUsd=300)
    day = client.get("/v1/budgets").json()["day"]
    assert (day["limitUsd"], *(day[name] for name in figures)) == (None, 0.0, 0.0, 0.0, [])


def test_admins_set_the_limits_and_viewers_see_what_is_used(client: Client) -> None:
    limits = {"dayUsd": 20.0, "monthUsd": 300.0, "timezone": "UTC"}
    assert client.put("/v1/settings", {"budgets": limits}, token=client.issue(role=AccessRole.MEMBER)).status == 403
    assert set_limits(client, **limits).json()["budgets"] == limits
    charge(spent_usd=3.0, reserved_usd=0.5)
    budgets = client.get("/v1/budgets", token=client.issue(role=AccessRole.VIEWER)).json()
    assert budgets["day"] == {
        "period": f"{datetime.now(UTC):%Y-%m-%d}",
        "endsAt": budgets["day"]["endsAt"],
        "limitUsd": 20.0,
        "spentUsd": 3.0,
        "uncertainUsd": 0.0,
        "reservedUsd": 0.5,
        "availableUsd": 16.5,
        "byRole": [{"role": "target", "usd": 3.0}],
    }
    assert datetime.fromisoformat(budgets["day"]["endsAt"]) > datetime.now(UTC)
    assert (budgets["month"]["limitUsd"], budgets["month"]["availableUsd"]) == (300.0, 296.5)


def test_each_limit_is_changed_by_itself_and_all_are_removed_with_null(client: Client) -> None:
    set_limits(client, dayUsd=20, timezone="Europe/Berlin")
    changed = set_limits(client, monthUsd=300).json()["budgets"]
    assert changed == {"dayUsd": 20.0, "monthUsd": 300.0, "timezone": "Europe/Berlin"}
    assert set_limits(client, dayUsd=None).json()["budgets"]["dayUsd"] is None
    removed = client.put("/v1/settings", {"budgets": None}).json()["budgets"]
    assert removed == client.get("/v1/settings").json()["budgets"]
    assert removed == {"dayUsd": None, "monthUsd": None, "timezone": "UTC"}


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"dayUsd": 0}, "budgets.dayUsd"),
        ({"dayUsd": "5"}, "budgets.dayUsd"),
        ({"monthUsd": -1}, "budgets.monthUsd"),
        ({"monthUsd": 1e9}, "budgets.monthUsd"),
        ({"monthUsd": True}, "budgets.monthUsd"),
        ({"timezone": "Mars/Olympus"}, "budgets.timezone"),
        ({"timezone": "../etc/passwd"}, "budgets.timezone"),
        ({"timezone": ""}, "budgets.timezone"),
        ({"weekUsd": 5}, "budgets.weekUsd"),
    ],
)
def test_an_impossible_limit_is_refused_by_its_name(client: Client, limits: dict[str, Any], field: str) -> None:
    refused = set_limits(client, **limits)
    assert (refused.status, refused.fields()) == (422, [field])
    assert client.get("/v1/settings").json()["budgets"]["dayUsd"] is None


def test_budgets_of_another_workspace_are_its_own(client: Client) -> None:
    set_limits(client, dayUsd=20)
    charge(spent_usd=3.0)
    other = client.get("/v1/budgets", token=client.issue(workspace="other")).json()
    assert (other["day"]["limitUsd"], other["day"]["spentUsd"]) == (None, None)


def test_a_start_that_is_expected_to_cost_more_than_is_left_must_be_confirmed(
    client: Client, definition_id: str
) -> None:
    assert start(client, definition_id).status == 201
    set_limits(client, dayUsd=1_000, monthUsd=10)
    charge(spent_usd=9.9)
    refused = start(client, definition_id)
    assert (refused.status, refused.json()["type"].rpartition(":")[2]) == (409, "confirmation-required"), refused.text
    detail, expected = refused.json()["detail"], refused.json()["estimate"]["usd"]["expected"]
    assert "the $0.1 that are left of the workspace's budget for the month (budgets.monthUsd)" in detail
    assert start(client, definition_id, confirmedUsd=expected / 2).status == 409
    assert start(client, definition_id, confirmedUsd=expected).status == 201


def test_the_smaller_of_the_runs_budget_and_what_is_left_counts(client: Client, definition_id: str) -> None:
    set_limits(client, dayUsd=1_000)
    assert start(client, definition_id, maxBudgetUsd=500).status == 201
    refused = start(client, definition_id, maxBudgetUsd=21, repeats=100)
    assert "its budget of $21" in refused.json()["detail"]
    charge(spent_usd=999.999)
    assert "budget for the day" in start(client, definition_id, maxBudgetUsd=500).json()["detail"]


def test_models_without_a_price_need_a_word_when_the_workspace_has_a_budget(client: Client, definition_id: str) -> None:
    set_limits(client, dayUsd=1_000)
    refused = start(client, definition_id, models=["custom/other"])
    assert (refused.status, refused.fields()) == (422, ["allowUnpriced"])
    assert start(client, definition_id, models=["custom/other"], allowUnpriced=True).status == 201


def test_a_paused_run_names_the_budget_that_is_used_up(client: Client) -> None:
    run = paused_run()
    shown = client.get(f"/v1/runs/{run.id}").json()
    assert (shown["pauseReason"], shown["exhaustedBudget"]) == ("budget", "day")
    assert client.get(f"/v1/runs/{run.id}/progress").json()["exhaustedBudget"] == "day"


def test_a_run_cannot_resume_while_the_workspaces_budget_is_used_up(client: Client) -> None:
    set_limits(client, dayUsd=10)
    charge(spent_usd=9.95)
    run = paused_run(needed_usd=0.1)
    refused = client.post(f"/v1/runs/{run.id}/resume")
    assert refused.status == 409
    detail = refused.json()["detail"]
    assert "budget of $10 for the day is used up, and the next call needs $0.05 more" in detail
    assert "or raise budgets.dayUsd" in detail
    set_limits(client, dayUsd=10.06)
    resumed = client.post(f"/v1/runs/{run.id}/resume").json()
    assert (resumed["status"], resumed["pauseReason"], resumed["exhaustedBudget"]) == ("RUNNING", None, None)
    assert runs.get(ref_of(run)).period_pause is None


def test_a_raised_budget_of_the_run_does_not_resume_it_while_the_workspaces_is_used_up(client: Client) -> None:
    set_limits(client, dayUsd=10)
    charge(spent_usd=9.95)
    run = paused_run(needed_usd=0.1, budget=run_budget(1.0))
    answer = client.patch(f"/v1/runs/{run.id}/budget", {"maxBudgetUsd": 2})
    assert (answer.status, answer.json()["status"], answer.json()["maxBudgetUsd"]) == (200, "PAUSED", 2.0)
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED


def test_judging_outside_a_run_is_charged_and_refused_when_the_budget_is_used_up(
    client: Client, cloud: Settings
) -> None:
    client.put("/v1/providers/sim", {"prices": [{"inputUsdPerMillion": 1_000, "outputUsdPerMillion": 10_000}]})
    body = {
        "model": "sim/steady",
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        "successCriteria": "is polite",
    }
    set_limits(client, dayUsd=1_000)
    judged = client.post("/v1/judge/criteria", body)
    assert judged.status == 200, judged.text
    day = client.get("/v1/budgets").json()["day"]
    assert (day["spentUsd"], day["reservedUsd"]) == (pytest.approx(judged.json()["spend"]["costUsd"]), 0.0)
    set_limits(client, dayUsd=day["spentUsd"])
    refused = client.post("/v1/judge/criteria", body)
    assert (refused.status, "workspace's budget" in refused.json()["detail"]) == (409, True), refused.text
    assert client.get("/v1/budgets").json()["day"]["spentUsd"] == day["spentUsd"]


def fit(client: Client, definition_id: str, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/runs/estimate", {"definitionId": definition_id, "models": ["custom/m"], **changes})
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json()["budget"]
    return found


def test_an_estimate_says_what_is_left_and_that_the_run_fits(client: Client, definition_id: str) -> None:
    set_limits(client, dayUsd=1_000, monthUsd=2_000)
    charge(spent_usd=100.0)
    assert fit(client, definition_id, maxBudgetUsd=900) == {
        "maxBudgetUsd": 900.0,
        "dayLeftUsd": 900.0,
        "monthLeftUsd": 1_900.0,
        "exceeds": None,
        "mayExceed": None,
        "confirmationRequired": False,
        "guarantee": "calls_in_flight",
        "unlimitedTargets": ["custom/m"],
    }


def test_an_estimate_names_the_scarcest_budget_that_a_run_exceeds(client: Client, definition_id: str) -> None:
    set_limits(client, dayUsd=1, monthUsd=2_000)
    too_much = fit(client, definition_id)
    assert (too_much["exceeds"], too_much["mayExceed"], too_much["confirmationRequired"]) == ("day", "day", True)
    assert start(client, definition_id).status == 409
    agreed = fit(client, definition_id, confirmedUsd=1_000)
    assert (agreed["exceeds"], agreed["confirmationRequired"]) == ("day", False)


def test_an_upper_bound_that_exceeds_a_budget_is_named_without_a_confirmation(
    client: Client, definition_id: str
) -> None:
    many = {"repeats": 100, "config": {"params": {"maxOutputTokens": 1_000}}}
    body = {"definitionId": definition_id, "models": ["custom/m"], **many}
    expected = client.post("/v1/runs/estimate", body).json()["usd"]
    perhaps = fit(client, definition_id, maxBudgetUsd=(expected["expected"] + expected["high"]) / 2, **many)
    assert (perhaps["exceeds"], perhaps["mayExceed"], perhaps["confirmationRequired"]) == (None, "run", False)


def test_without_any_budget_every_run_fits(client: Client, definition_id: str) -> None:
    found = fit(client, definition_id)
    assert (found["exceeds"], found["mayExceed"], found["confirmationRequired"]) == (None, None, False)
    assert (found["maxBudgetUsd"], found["dayLeftUsd"], found["monthLeftUsd"]) == (None, None, None)


def test_estimates_of_scale_runs_and_evals_name_the_budgets_too(client: Client) -> None:
    set_limits(client, dayUsd=20)
    scale_run = {"models": ["sim/steady"], "userMessage": "Hello", "count": 2}
    assert client.post("/v1/scale-runs/estimate", scale_run).json()["budget"]["dayLeftUsd"] == 20.0


def test_what_is_left_of_another_workspace_is_not_shown(client: Client, definition_id: str) -> None:
    charge(spent_usd=5.0)
    other = client.issue("globex", AccessRole.ADMIN)
    client.put("/v1/settings", {"budgets": {"dayUsd": 7}}, token=other)
    assert fit(client, definition_id)["dayLeftUsd"] is None


def test_a_test_of_a_connector_is_charged_and_refused_when_the_budget_is_used_up(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(*_: object) -> Reply:
        return Reply("Hello", usage=Usage(1_000, 100))

    monkeypatch.setattr(dispatch, "complete", answer)
    client.put("/v1/providers/connector", {"prices": [{"inputUsdPerMillion": 1_000, "outputUsdPerMillion": 10_000}]})
    agent = {"name": "agent", "type": "langgraph", "baseUrl": "https://agent.test", "config": {"assistantId": "a"}}
    created = client.post("/v1/connectors", agent)
    assert created.status == 201, created.text
    path = f"/v1/connectors/{created.json()['id']}/test"
    set_limits(client, dayUsd=1_000)
    assert client.post(path).json()["ok"]
    day = client.get("/v1/budgets").json()["day"]
    assert (day["spentUsd"], day["reservedUsd"]) == (pytest.approx(2.0), 0.0)
    set_limits(client, dayUsd=2)
    refused = client.post(path)
    assert (refused.status, "workspace's budget" in refused.json()["detail"]) == (409, True), refused.text


def test_a_test_of_a_connector_without_a_price_costs_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: object) -> Reply:
        return Reply("Hello", usage=Usage(1_000, 100))

    monkeypatch.setattr(dispatch, "complete", answer)
    agent = {"name": "agent", "type": "langgraph", "baseUrl": "https://agent.test", "config": {"assistantId": "a"}}
    path = f"/v1/connectors/{client.post('/v1/connectors', agent).json()['id']}/test"
    set_limits(client, dayUsd=1)
    assert client.post(path).json()["ok"]
    assert client.get("/v1/budgets").json()["day"]["spentUsd"] == 0.0
