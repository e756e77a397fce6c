"""What retries and expansions of runs cost, and when somebody must agree to it, over HTTP."""

import time
from dataclasses import replace
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.definitions import catalog
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.store import budgets, runs
from tests.added_scenarios import add_scenarios
from tests.answered_runs import AnsweredRun
from tests.run_budgets import run_budget
from tests.started_runs import NOW
from tests.unit.api.client import Answer, Client

PRICES = [{"model": None, "inputUsdPerMillion": 1_000, "outputUsdPerMillion": 10_000}]
"""So that a conversation of the default length is expected to cost some three dollars."""
SCENARIOS = tuple(Scenario("", f"case {each}", (Message(MessageRole.USER, "u" * 100),)) for each in range(10))
CONFIRMATION = "urn:cupel:problem:confirmation-required"


@pytest.fixture
def priced(client: Client) -> Client:
    client.put("/v1/providers/sim", {"prices": PRICES})
    return client


def ended(errors: int = 4, **fields: Any) -> Run:
    """Of ten scenarios and two models; the first probes, those of sim/steady, have errors."""
    setup = AnsweredRun(
        scenarios=SCENARIOS,
        answer=lambda index: None if index < errors else "An answer.",
        workspace="acme",
        **fields,
    )
    return setup.completed()


def spend(run: Run, usd: float) -> None:
    report = BudgetReport("w", {ModelRole.TARGET: round(usd * 10**9)}, 0, 0, 0, 0, time.time() + 100)
    assert run.budget is not None
    budgets.report(RunRef("acme", run.id), run.budget.limit, report, time.time())


def retry(client: Client, run: Run, **body: Any) -> Answer:
    return client.post(f"/v1/runs/{run.id}/retry", body)


def expand(client: Client, run: Run, **body: Any) -> Answer:
    return client.post(f"/v1/runs/{run.id}/expand", {"samplePercentage": 100, **body})


def expected(answer: Answer) -> float:
    return float(answer.json()["estimate"]["usd"]["expected"])


def status(run: Run) -> RunStatus:
    return runs.get(RunRef("acme", run.id)).status


@pytest.mark.parametrize("continued", [retry, expand])
def test_what_is_expected_to_exceed_what_is_left_must_be_confirmed(priced: Client, continued: Any) -> None:
    run = ended(budget=run_budget(100.0), sample_percentage=60)
    spend(run, 99.0)
    refused = continued(priced, run)
    assert (refused.status, refused.json()["type"], status(run)) == (409, CONFIRMATION, RunStatus.COMPLETED)
    assert "more than the $1.00 that are left of its budget of $100" in refused.json()["detail"]
    agreed = expected(refused)
    assert agreed > 1
    assert continued(priced, run, confirmedUsd=agreed - 0.01).json()["type"] == CONFIRMATION
    assert continued(priced, run, confirmedUsd=agreed).status == 200
    assert status(run) is RunStatus.RUNNING


@pytest.mark.parametrize("continued", [retry, expand])
@pytest.mark.parametrize("budget", [None, run_budget(1_000.0)])
def test_what_fits_into_the_budget_is_not_asked_for(priced: Client, continued: Any, budget: RunBudget | None) -> None:
    assert continued(priced, ended(budget=budget, sample_percentage=60)).status == 200


@pytest.mark.parametrize("continued", [retry, expand])
def test_the_budget_of_the_workspace_counts_too(priced: Client, continued: Any) -> None:
    run = ended(sample_percentage=60)
    assert priced.put("/v1/settings", {"budgets": {"dayUsd": 0.5}}).status == 200
    refused = continued(priced, run)
    assert (refused.status, refused.json()["type"]) == (409, CONFIRMATION)
    assert "of the workspace's budget for the day" in refused.json()["detail"]
    assert continued(priced, run, confirmedUsd=expected(refused)).status == 200


def test_a_refused_retry_leaves_its_key_free_and_a_granted_one_happens_once(priced: Client) -> None:
    run, key = ended(budget=run_budget(0.5)), {"Idempotency-Key": "k-1"}
    refused = priced.post(f"/v1/runs/{run.id}/retry", {}, headers=key)
    assert refused.json()["type"] == CONFIRMATION
    body = {"confirmedUsd": expected(refused)}
    first, again = (priced.post(f"/v1/runs/{run.id}/retry", body, headers=key) for _ in range(2))
    assert (first.status, again.status) == (200, 200)
    assert runs.get(RunRef("acme", run.id)).fencing_token == run.fencing_token + 1


@pytest.mark.parametrize(("scope", "probes"), [({}, 4), ({"model": "sim/steady"}, 4), ({"probeIndex": 2}, 1)])
def test_only_the_errors_that_are_retried_count(priced: Client, scope: dict[str, Any], probes: int) -> None:
    run = ended()
    answer = priced.post(f"/v1/runs/{run.id}/retry/estimate", scope)
    found = answer.json()
    assert (answer.status, found["jobCount"]) == (200, probes)
    assert [(each["targetId"], each["probes"]) for each in found["targets"]] == [("sim/steady", probes)]
    assert status(run) is RunStatus.COMPLETED


def test_an_expansion_is_estimated_by_what_it_adds(priced: Client) -> None:
    run = ended(sample_percentage=60, errors=0)
    answer = priced.post(f"/v1/runs/{run.id}/expand/estimate", {"samplePercentage": 100})
    assert (answer.status, answer.json()["jobCount"], status(run)) == (200, 8, RunStatus.COMPLETED)
    assert priced.post(f"/v1/runs/{run.id}/expand/estimate", {"samplePercentage": 80}).json()["jobCount"] == 4
    assert expand(priced, run).json()["progress"]["total"] == run.plan.total + 8


def test_an_estimate_says_whether_it_fits_into_what_is_left(priced: Client) -> None:
    run = ended(budget=run_budget(100.0))
    spend(run, 99.5)
    fit = priced.post(f"/v1/runs/{run.id}/retry/estimate", {}).json()["budget"]
    assert (fit["maxBudgetUsd"], fit["exceeds"], fit["confirmationRequired"]) == (0.5, "run", True)


def test_an_estimate_is_refused_as_what_it_estimates(priced: Client) -> None:
    run = ended(errors=0)
    for path, body in (("retry", {}), ("expand", {"samplePercentage": 50})):
        refused, carried_out = (priced.post(f"/v1/runs/{run.id}/{path}{end}", body) for end in ("/estimate", ""))
        assert refused.status == carried_out.status in (409, 422)
        assert refused.json()["detail"] == carried_out.json()["detail"]


def test_what_the_run_has_cost_is_what_more_of_it_is_expected_to_cost(priced: Client) -> None:
    setup = AnsweredRun(
        scenarios=tuple(replace(each, name=f"{each.name} {number}") for number in range(4) for each in SCENARIOS),
        answer=lambda _: "An answer.",
        workspace="acme",
        sample_percentage=50,
    )
    run = setup.completed()
    found = priced.post(f"/v1/runs/{run.id}/expand/estimate", {"samplePercentage": 100}).json()
    assert (found["basis"], found["jobCount"]) == ("history", run.plan.total)
    assert [each["samples"] for each in found["targets"]] == [20, 20]


def test_a_run_says_how_far_its_budget_can_be_exceeded(priced: Client) -> None:
    created = catalog.create("acme", Labels(name="d"), {"system": "s"}, NOW)
    add_scenarios("acme", created.head.id, SCENARIOS)
    body = {"definitionId": created.head.id, "models": ["sim/steady", "sim/bold"], "maxBudgetUsd": 500}
    open_ended = priced.post("/v1/runs", body)
    assert open_ended.status == 201, open_ended.text
    found = priced.get(f"/v1/runs/{open_ended.json()['run']['id']}/budget").json()
    assert (found["guarantee"], found["unlimitedTargets"]) == ("calls_in_flight", ["sim/steady", "sim/bold"])
    limited = priced.post("/v1/runs", {**body, "config": {"params": {"maxOutputTokens": 50}}}).json()["run"]
    found = priced.get(f"/v1/runs/{limited['id']}/budget").json()
    assert (found["guarantee"], found["unlimitedTargets"]) == ("never_exceeded", [])
