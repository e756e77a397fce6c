"""Budgets of runs over HTTP."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.messages import DueSchedule, RunRef
from cupel_core.definitions import catalog
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.definitions.definitions import Content, Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action, PauseReason, Run, RunEventType, RunStatus
from cupel_core.runs.schedules.schedules import fire
from cupel_core.store import budgets, events, executions, runs
from cupel_core.store.settings import Settings
from tests.added_scenarios import add_scenarios
from tests.answered_runs import AnsweredRun
from tests.run_budgets import run_budget
from tests.started_runs import RunSetup, receive_bodies
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PRICES = [{"model": "m", "inputUsdPerMillion": 1, "outputUsdPerMillion": 10}]
RUBRIC = {"decision": {"rubric": "1: yes. 5: no."}}


@pytest.fixture
def definition_id(client: Client) -> str:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1", "prices": PRICES})
    return definition(client, {})


def definition(client: Client, content: dict[str, Any]) -> str:
    created = catalog.create("acme", Labels(name=f"d{len(content)}"), {"system": "s", **content}, NOW)
    add_scenarios("acme", created.head.id, [Scenario("", "one", (Message(MessageRole.USER, "u" * 100),))])
    return created.head.id


def start(client: Client, definition_id: str, **changes: Any) -> Answer:
    body = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 5, **changes}
    return client.post("/v1/runs", body)


def charge(run: Run, spent: int, reserved: int = 0, uncertain: int = 0) -> None:
    """As a worker does, in billionths of a USD."""
    assert run.budget is not None
    report = BudgetReport("w", {ModelRole.TARGET: spent}, uncertain, reserved, 0, 0, time.time() + 100)
    budgets.report(RunRef(run.workspace, run.id), run.budget.limit, report, time.time())


def exhausted(spent: int = 10**9, needed: int = 10**8) -> Run:
    """Paused because a call would need 10 cents."""
    run = RunSetup(workspace="acme", budget=run_budget(1.0, needed_nano_usd=needed)).start()
    charge(run, spent)
    return runs.transition(RunRef("acme", run.id), Action.PAUSE, NOW, pause_reason=PauseReason.BUDGET)


def stored(run: Run) -> Run:
    return runs.get(RunRef("acme", run.id))


def patch(client: Client, run: Run, **body: Any) -> Answer:
    return client.patch(f"/v1/runs/{run.id}/budget", body)


def test_a_run_is_started_with_its_budget(client: Client, definition_id: str) -> None:
    answer = start(client, definition_id)
    assert answer.status == 201, answer.text
    assert answer.json()["run"]["spend"]["budget"] == {
        "maxBudgetUsd": 5.0,
        "spentUsd": 0.0,
        "uncertainUsd": 0.0,
        "reservedUsd": 0.0,
        "byRole": [],
        "projectedUsd": None,
    }


def test_a_run_without_a_budget_says_so(client: Client, definition_id: str) -> None:
    run = start(client, definition_id, maxBudgetUsd=None).json()["run"]
    assert run["spend"]["budget"] is None
    answer = client.get(f"/v1/runs/{run['id']}/budget")
    assert (answer.status, "without maxBudgetUsd" in answer.json()["detail"]) == (404, True)


@pytest.mark.parametrize("budget", [0, -1, 2_000_000, "5", True, 1e-9])
def test_an_impossible_budget_is_refused(client: Client, definition_id: str, budget: Any) -> None:
    answer = start(client, definition_id, maxBudgetUsd=budget)
    assert answer.status == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["maxBudgetUsd"]


def test_a_start_that_costs_more_than_any_budget_can_be_confirmed(client: Client, definition_id: str) -> None:
    prices = [{"inputUsdPerMillion": 1_000_000, "outputUsdPerMillion": 1_000_000}]
    client.put("/v1/providers/custom", {"prices": prices})
    terms = {"models": [f"custom/m{number}" for number in range(8)], "repeats": 1_000, "maxBudgetUsd": 10_000}
    refused = start(client, definition_id, **terms)
    expected = refused.json()["estimate"]["usd"]["expected"]
    assert (refused.status, expected > 1_000_000) == (409, True)
    assert start(client, definition_id, **terms, confirmedUsd=expected).status == 201


def test_models_without_a_price_need_a_word(client: Client, definition_id: str) -> None:
    answer = start(client, definition_id, models=["custom/other", "custom/m"])
    assert answer.status == 422
    [error] = answer.json()["errors"]
    assert error["field"] == "allowUnpriced"
    assert "custom/other" in error["message"]
    assert start(client, definition_id, models=["custom/other"], allowUnpriced=True).status == 201


@pytest.mark.parametrize(
    ("assertion", "config"),
    [({}, {"embeddingModel": "custom/vectors"}), ({"provider": "custom/vectors"}, {})],
)
@pytest.mark.usefixtures("definition_id")
def test_embeddings_without_a_price_are_refused_too(
    client: Client, assertion: dict[str, str], config: dict[str, str]
) -> None:
    content = {"assertions": [{"type": "similar", "value": "polite", **assertion}]}
    compared = definition(client, content)
    answer = start(client, compared, models=["sim/steady"], config=config)
    assert answer.status == 422
    [error] = answer.json()["errors"]
    assert error["field"] == "allowUnpriced"
    assert "custom/vectors" in error["message"]
    started = start(client, compared, models=["sim/steady"], config=config, allowUnpriced=True)
    assert started.json()["estimate"]["unpriced"] == ["custom/vectors"]
    budget = client.get(f"/v1/runs/{started.json()['run']['id']}/budget").json()
    assert budget["guarantee"] == "unpriced_calls"


UNHEARD_OF = "custom/unheard-of"
PAID_AFTER_A_RUN = pytest.mark.parametrize(
    ("path", "body"),
    [("reports", {"summarizerModel": UNHEARD_OF}), ("rescores", {"judgeModel": UNHEARD_OF})],
)
AGREED = run_budget(1.0, allows_unpriced=True)


@pytest.fixture
def rescores_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_rescore", lambda *_: None)


def answered_run(budget: RunBudget | None) -> Run:
    """It ended, and a judge can grade it again."""
    cases = (Scenario("", "one", (Message(MessageRole.USER, "?"),)),)
    content = Content.from_json({"assertions": [{"type": "llm-rubric", "value": "polite"}]})
    return AnsweredRun(scenarios=cases, workspace="acme", content=content, budget=budget).completed()


@pytest.mark.usefixtures("definition_id", "rescores_start")
@PAID_AFTER_A_RUN
@pytest.mark.parametrize(("budget", "day_usd"), [(run_budget(1.0), None), (None, 5)])
def test_what_follows_a_run_with_a_budget_needs_a_price_too(
    client: Client, path: str, body: dict[str, Any], budget: RunBudget | None, day_usd: float | None
) -> None:
    client.put("/v1/settings", {"budgets": {"dayUsd": day_usd}})
    run = answered_run(budget)
    refused = client.post(f"/v1/runs/{run.id}/{path}", body)
    assert refused.status == 422, refused.text
    [error] = refused.json()["errors"]
    assert error["field"] == "allowUnpriced"
    assert UNHEARD_OF in error["message"]
    assert client.post(f"/v1/runs/{run.id}/{path}", {**body, "allowUnpriced": True}).status in (201, 202)


@pytest.mark.usefixtures("definition_id", "rescores_start")
@PAID_AFTER_A_RUN
@pytest.mark.parametrize("budget", [None, AGREED])
def test_nothing_is_asked_about_prices_without_a_budget_or_if_the_start_has_agreed(
    client: Client, path: str, body: dict[str, Any], budget: RunBudget | None
) -> None:
    assert client.post(f"/v1/runs/{answered_run(budget).id}/{path}", body).status in (201, 202)


def test_a_model_without_a_price_writes_no_scenarios_while_the_workspace_has_a_budget(client: Client) -> None:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1"})
    content = {"template": "Is it [risk]?", "dimensions": [{"name": "risk", "levels": [{"score": 1, "label": "low"}]}]}
    path = f"/v1/definitions/{catalog.create('acme', Labels(name='d'), content, NOW).head.id}/scenarios/generate"
    body = {"mode": "llm", "model": UNHEARD_OF}
    assert client.post(path, body).status == 202
    client.put("/v1/settings", {"budgets": {"monthUsd": 5}})
    assert client.post(path, body).json()["errors"][0]["field"] == "allowUnpriced"
    assert client.post(path, {**body, "allowUnpriced": True}).status == 202


@pytest.mark.parametrize(("limit", "reserved_tokens"), [({}, 4_096), ({"judgeMaxOutputTokens": 9_000}, 9_000)])
def test_what_summaries_may_cost_is_set_aside(
    client: Client, definition_id: str, limit: dict[str, int], reserved_tokens: int
) -> None:
    started = start(client, definition(client, RUBRIC), config={"judgeModel": "custom/m", **limit}).json()["run"]
    budget = client.get(f"/v1/runs/{started['id']}/budget").json()
    reserved_output_usd = reserved_tokens * 10 / 1_000_000
    assert reserved_output_usd < budget["finishUsd"] < reserved_output_usd + 0.06
    assert budget["availableUsd"] == pytest.approx(5 - budget["finishUsd"])
    plain = start(client, definition_id, config={"judgeModel": "custom/m"}).json()["run"]
    assert client.get(f"/v1/runs/{plain['id']}/budget").json()["finishUsd"] == 0


def test_what_the_summary_of_a_scale_runs_report_may_cost_is_estimated_and_set_aside(
    client: Client, definition_id: str
) -> None:
    """It reads 24,000 tokens, for which a token for each byte is reserved, and writes 2,000; twice if repaired."""
    started = scale(client, judgeModel="custom/m").json()
    assert [(each["role"], each["model"]) for each in started["estimate"]["graders"] if each["role"] == "report"] == [
        ("report", "custom/m")
    ]
    budget = client.get(f"/v1/runs/{started['run']['id']}/budget").json()
    call_usd, reserved_usd = (24_000 + 10 * 2_000) / 1_000_000, (4 * 24_000 + 10 * 4_096) / 1_000_000
    assert budget["finishUsd"] == pytest.approx(2 * call_usd + reserved_usd)
    plain = scale(client, judgeModel="custom/m", report=False).json()
    assert {each["role"] for each in plain["estimate"]["graders"]} & {"report"} == set()
    assert client.get(f"/v1/runs/{plain['run']['id']}/budget").json()["finishUsd"] < budget["finishUsd"]


def test_the_budget_says_what_is_used_and_by_whom(client: Client) -> None:
    run = RunSetup(workspace="acme", budget=run_budget(1.0)).start()
    charge(run, spent=300_000_000, reserved=100_000_000, uncertain=50_000_000)
    budget = client.get(f"/v1/runs/{run.id}/budget").json()
    assert (budget["spentUsd"], budget["reservedUsd"], budget["uncertainUsd"]) == (0.3, 0.1, 0.05)
    assert (budget["availableUsd"], budget["shortage"], budget["status"]) == (0.55, None, "PENDING")
    assert budget["byRole"] == [{"role": "target", "usd": 0.3}]
    [lease] = budget["leases"]
    assert (lease["spentUsd"], lease["reservedUsd"]) == (0.3, 0.1)
    assert client.get(f"/v1/runs/{run.id}").json()["spend"]["budget"]["spentUsd"] == 0.3
    assert client.get("/v1/runs").json()["items"][0]["spend"]["budget"]["spentUsd"] == 0.3
    assert client.get(f"/v1/runs/{run.id}/progress").json()["spend"]["budget"]["spentUsd"] == 0.3


def test_a_raised_budget_resumes_the_run_that_it_had_paused(client: Client, cloud: Settings) -> None:
    run = exhausted()
    answer = patch(client, run, maxBudgetUsd=2)
    assert (answer.status, answer.json()["status"], answer.json()["maxBudgetUsd"]) == (200, "RUNNING", 2.0)
    assert stored(run).pause_reason is None
    assert len(receive_bodies(cloud.dispatch_queue_url)) == 1
    resumed = events.list_after(RunRef("acme", run.id), 0)[-1]
    assert (resumed.type, resumed.data["maxBudgetUsd"]) == (RunEventType.RESUMED, 2.0)


@pytest.mark.parametrize("resume", [True, False])
def test_a_budget_is_changed_although_the_sweeper_resumes_the_run_at_the_same_time(
    client: Client, monkeypatch: pytest.MonkeyPatch, resume: bool
) -> None:
    run = exhausted()
    get, reads = runs.get, list[Run]()

    def resume_after_the_first_read(ref: RunRef) -> Run:
        found = get(ref)
        reads.append(found)
        if len(reads) == 1:
            monkeypatch.setattr(runs, "get", get)
            runs.transition(ref, Action.RESUME, NOW, pause_reason=None)
        return found

    monkeypatch.setattr(runs, "get", resume_after_the_first_read)
    answer = patch(client, run, maxBudgetUsd=2, resume=resume)
    assert (answer.status, answer.json()["status"], answer.json()["maxBudgetUsd"]) == (200, "RUNNING", 2.0)


def test_a_budget_that_is_not_raised_enough_changes_only_the_limit(client: Client) -> None:
    run = exhausted()
    answer = patch(client, run, maxBudgetUsd=1.05)
    assert (answer.status, answer.json()["status"]) == (200, "PAUSED")
    assert "needs $0.05 more" in answer.json()["shortage"]


def test_a_raised_budget_may_leave_the_run_paused(client: Client) -> None:
    run = exhausted()
    answer = patch(client, run, maxBudgetUsd=2, resume=False)
    assert (answer.json()["status"], answer.json()["pauseReason"]) == ("PAUSED", "user")


def test_a_users_pause_outlives_a_raised_budget(client: Client) -> None:
    run = exhausted()
    client.post(f"/v1/runs/{run.id}/pause")
    assert patch(client, run, maxBudgetUsd=2).json()["status"] == "PAUSED"


def test_the_budget_of_a_running_run_is_lowered_with_an_event(client: Client) -> None:
    run = RunSetup(workspace="acme", budget=run_budget(1.0, announced_percent=80)).start()
    assert patch(client, run, maxBudgetUsd=0.5).status == 200
    budget = stored(run).budget
    assert budget is not None
    assert (budget.max_usd, budget.announced_percent) == (0.5, 0)
    changed = events.list_after(RunRef("acme", run.id), 0)[-1]
    assert (changed.type, changed.data["changed"]) == (RunEventType.UPDATED, ["maxBudgetUsd"])


def test_an_unchanged_budget_is_no_event(client: Client) -> None:
    run = RunSetup(workspace="acme", budget=run_budget(1.0)).start()
    patch(client, run, maxBudgetUsd=1)
    assert len(events.list_after(RunRef("acme", run.id), 0)) == 1


def test_a_run_whose_budget_is_used_up_is_not_resumed_by_hand(client: Client) -> None:
    run = exhausted()
    answer = client.post(f"/v1/runs/{run.id}/resume")
    assert answer.status == 409
    assert "its budget of $1 is used up, and the next call needs $0.1 more" in answer.json()["detail"]
    assert stored(run).status is RunStatus.PAUSED


def test_viewers_may_read_a_budget_and_not_change_it(client: Client, viewer: str) -> None:
    run = RunSetup(workspace="acme", budget=run_budget(1.0)).start()
    assert client.get(f"/v1/runs/{run.id}/budget", token=viewer).status == 200
    assert client.patch(f"/v1/runs/{run.id}/budget", {"maxBudgetUsd": 2}, token=viewer).status == 403


def test_an_unknown_run_has_no_budget(client: Client) -> None:
    assert client.get("/v1/runs/run_nope/budget").status == 404
    assert client.patch("/v1/runs/run_nope/budget", {"maxBudgetUsd": 2}).status == 404


def test_a_rerun_has_the_budget_of_the_run_unless_told_otherwise(client: Client, definition_id: str) -> None:
    run_id = start(client, definition_id).json()["run"]["id"]
    budgets_of_reruns = [
        client.post(f"/v1/runs/{run_id}/rerun", body).json()["run"]["spend"]["budget"]
        for body in ({}, {"maxBudgetUsd": 7}, {"maxBudgetUsd": None})
    ]
    assert [budget and budget["maxBudgetUsd"] for budget in budgets_of_reruns] == [5.0, 7.0, None]


def test_a_schedule_keeps_the_budget_of_its_runs(client: Client, definition_id: str) -> None:
    run = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 3}
    body = {"name": "nightly", "expression": "rate(1 day)", "run": run}
    answer = client.post("/v1/schedules", body)
    assert answer.status == 201, answer.text
    assert answer.json()["run"]["maxBudgetUsd"] == 3.0


def scale(client: Client, **changes: Any) -> Answer:
    body = {"models": ["custom/m"], "userMessage": "Hi", "count": 2, "maxBudgetUsd": 2, **changes}
    return client.post("/v1/scale-runs", body)


def test_a_scale_run_has_a_budget_too(client: Client, definition_id: str) -> None:
    answer = scale(client)
    assert answer.status == 201, answer.text
    assert answer.json()["run"]["spend"]["budget"]["maxBudgetUsd"] == 2.0


def test_a_scale_run_of_a_model_without_a_price_writes_no_definition(client: Client, definition_id: str) -> None:
    before = client.get("/v1/definitions").json()["items"]
    answer = scale(client, models=["custom/other"])
    assert (answer.status, answer.json()["errors"][0]["field"]) == (422, "allowUnpriced")
    assert client.get("/v1/definitions").json()["items"] == before


def start_long(client: Client, definition_id: str, **changes: Any) -> Answer:
    """It is expected to cost more than its budget of a dollar."""
    return start(client, definition_id, repeats=1_000, maxBudgetUsd=1, **changes)


def test_a_start_that_is_expected_to_exceed_its_budget_must_be_confirmed(client: Client, definition_id: str) -> None:
    answer = start_long(client, definition_id)
    problem = answer.json()
    assert (answer.status, problem["type"]) == (409, "urn:cupel:problem:confirmation-required")
    usd = problem["estimate"]["usd"]
    assert usd["expected"] > 1
    assert str(usd["expected"]) in problem["detail"]
    assert client.get("/v1/runs").json()["items"] == []


def test_a_run_whose_last_call_would_find_too_little_must_be_confirmed(client: Client, definition_id: str) -> None:
    """An answer without a limit is expected to cost $0.003, and $0.02 are set aside for it."""
    refused = start(client, definition_id, maxBudgetUsd=0.021)
    assert (refused.status, refused.json()["type"]) == (409, "urn:cupel:problem:confirmation-required")
    assert "a call of it needs up to $0.02" in refused.json()["detail"]
    body = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 0.021}
    assert client.post("/v1/runs/estimate", body).json()["budget"]["exceeds"] == "run"
    assert start(client, definition_id, maxBudgetUsd=0.021, confirmedUsd=1).status == 201
    assert start(client, definition_id, maxBudgetUsd=0.01, config={"params": {"maxOutputTokens": 200}}).status == 201
    assert start(client, definition_id, maxBudgetUsd=0.05).status == 201


def test_a_budget_that_cannot_pay_for_one_call_is_refused_with_what_a_call_needs(
    client: Client, definition_id: str
) -> None:
    refused = start(client, definition_id, maxBudgetUsd=0.01, confirmedUsd=1)
    assert refused.status == 422
    [error] = refused.json()["errors"]
    assert error["field"] == "maxBudgetUsd"
    assert error["message"].startswith("must be at least $0.02")
    assert error["message"].endswith("a budget sets that much aside for one call of custom/m")


def test_the_confirmed_amount_must_cover_the_estimate(client: Client, definition_id: str) -> None:
    expected = start_long(client, definition_id).json()["estimate"]["usd"]["expected"]
    assert start_long(client, definition_id, confirmedUsd=expected - 0.000001).status == 409
    assert start_long(client, definition_id, confirmedUsd=expected).status == 201


def test_a_refused_start_leaves_its_idempotency_key_free(client: Client, definition_id: str) -> None:
    key = {"Idempotency-Key": "k-1"}
    body = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 1, "repeats": 1_000}
    assert client.post("/v1/runs", body, headers=key).status == 409
    assert client.post("/v1/runs", {**body, "confirmedUsd": 1_000}, headers=key).status == 201


def test_only_the_expected_cost_must_be_confirmed(client: Client, definition_id: str) -> None:
    body = {"definitionId": definition_id, "models": ["custom/m"], "repeats": 1_000}
    usd = client.post("/v1/runs/estimate", body).json()["usd"]
    assert usd["high"] > 1.01 * usd["expected"]
    assert client.post("/v1/runs", {**body, "maxBudgetUsd": 1.01 * usd["expected"]}).status == 201


def test_an_estimate_needs_no_confirmation(client: Client, definition_id: str) -> None:
    body = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 1, "repeats": 1_000}
    answer = client.post("/v1/runs/estimate", body)
    assert (answer.status, answer.json()["usd"]["expected"] > 1) == (200, True)


def test_a_scale_run_that_must_be_confirmed_writes_no_definition(client: Client, definition_id: str) -> None:
    before = client.get("/v1/definitions").json()["items"]
    refused = scale(client, count=1_000, maxBudgetUsd=0.05)
    assert refused.json()["type"] == "urn:cupel:problem:confirmation-required"
    assert client.get("/v1/definitions").json()["items"] == before
    agreed = refused.json()["estimate"]["usd"]["expected"]
    assert scale(client, count=1_000, maxBudgetUsd=0.05, confirmedUsd=agreed).status == 201


TRIED: dict[str, Any] = {"systemPrompt": "s", "judgeModel": "sim/bold", "count": 100, "trial": True}


def estimated_scale_run(client: Client, **changes: Any) -> dict[str, Any]:
    body = {"models": ["custom/m"], "userMessage": "Hi", "maxBudgetUsd": 2, **TRIED, **changes}
    answer = client.post("/v1/scale-runs/estimate", body)
    assert answer.status == 200, answer.text
    estimate: dict[str, Any] = answer.json()
    return estimate


def test_the_estimate_of_a_scale_run_says_what_its_trial_may_cost(client: Client, definition_id: str) -> None:
    estimate, without = estimated_scale_run(client), estimated_scale_run(client, trial=False)
    trial = estimate["trial"]
    assert (trial["jobCount"], trial["isWithinLimit"]) == (74, True)
    assert estimate["usd"] == without["usd"]
    assert 0 < trial["usd"]["low"] < trial["usd"]["expected"] < trial["usd"]["high"] < estimate["usd"]["high"]
    assert trial["usd"]["expected"] == pytest.approx(0.74 * estimate["usd"]["expected"], abs=1e-5)
    assert estimate["confirmableUsd"] == pytest.approx(estimate["usd"]["expected"] + trial["usd"]["expected"], abs=2e-6)
    assert (without["trial"], without["confirmableUsd"]) == (None, without["usd"]["expected"])


def test_a_scale_run_beyond_its_budget_with_its_trial_must_be_confirmed(client: Client, definition_id: str) -> None:
    estimate = estimated_scale_run(client)
    reserved = 0.05
    budget = {**TRIED, "maxBudgetUsd": estimate["usd"]["expected"] + reserved}
    fit = estimated_scale_run(client, **budget)["budget"]
    assert (fit["exceeds"], fit["confirmationRequired"]) == ("run", True)
    refused = scale(client, **budget)
    assert (refused.status, refused.json()["type"]) == (409, "urn:cupel:problem:confirmation-required")
    detail, confirmable = refused.json()["detail"], refused.json()["estimate"]["confirmableUsd"]
    assert "with the trial of its revised prompt is expected to cost $" in detail
    assert f"confirmedUsd of at least {confirmable}" in detail
    assert scale(client, **budget, confirmedUsd=round(confirmable - 0.00001, 6)).status == 409
    assert scale(client, **{**budget, "trial": False}).status == 201
    started = scale(client, **budget, confirmedUsd=confirmable)
    assert started.status == 201, started.text
    assert started.json()["estimate"]["trial"] == estimate["trial"]


def test_a_rerun_of_a_scale_run_is_estimated_with_its_trial(client: Client, definition_id: str) -> None:
    started = scale(client, **TRIED, maxBudgetUsd=50)
    again = client.post(f"/v1/runs/{started.json()['run']['id']}/rerun")
    assert again.json()["estimate"]["trial"] == started.json()["estimate"]["trial"] is not None


def test_the_workspaces_budget_pays_for_the_trial_too(client: Client, definition_id: str) -> None:
    estimate = estimated_scale_run(client)
    left = estimate["usd"]["expected"] + 0.5 * estimate["trial"]["usd"]["expected"]
    client.put("/v1/settings", {"budgets": {"dayUsd": left}})
    assert estimated_scale_run(client, maxBudgetUsd=None)["budget"]["exceeds"] == "day"
    assert scale(client, **TRIED, maxBudgetUsd=None).json()["type"] == "urn:cupel:problem:confirmation-required"
    assert scale(client, **{**TRIED, "trial": False}, maxBudgetUsd=None).status == 201


def test_a_schedule_of_runs_that_exceed_their_budget_must_be_confirmed(client: Client, definition_id: str) -> None:
    run = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 1, "repeats": 1_000}
    body = {"name": "nightly", "expression": "rate(1 day)", "run": run}
    refused = client.post("/v1/schedules", body)
    assert refused.json()["type"] == "urn:cupel:problem:confirmation-required"
    run["confirmedUsd"] = refused.json()["estimate"]["usd"]["expected"]
    created = client.post("/v1/schedules", body)
    assert (created.status, created.json()["run"]["confirmedUsd"]) == (201, run["confirmedUsd"])


def test_a_firing_beyond_what_was_confirmed_starts_nothing_and_says_why(client: Client, definition_id: str) -> None:
    run = {"definitionId": definition_id, "models": ["custom/m"], "maxBudgetUsd": 1, "repeats": 1_000}
    body = {"name": "nightly", "expression": "rate(1 day)", "run": {**run, "confirmedUsd": 5}}
    schedule_id = client.post("/v1/schedules", body).json()["id"]
    dearer = [{"model": "m", "inputUsdPerMillion": 10, "outputUsdPerMillion": 100}]
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1", "prices": dearer})
    due = DueSchedule.model_validate({"workspace": "acme", "scheduleId": schedule_id, "scheduledTime": "x"})
    firing = fire(due, NOW)
    assert firing is not None
    assert firing.run_id is None
    assert "expected to cost" in (firing.error or "")
