"""Experiments over HTTP: their runs, comparisons and summary."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from cupel_core.analysis.experiments import compare_finished, summary
from cupel_core.base.messages import RunRef
from cupel_core.contract.experiments import ExperimentRunResponse
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.run_spend import Cost, RunSpend
from cupel_core.store import runs
from tests.answered_runs import AnsweredRun
from tests.compared_runs import carry_out_jobs, run_of
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.test_runs import definition_id as definition_id
from tests.unit.api.test_runs import start


@pytest.fixture
def baseline(client: Client) -> Run:
    return run_of("def_shared", "+")


@pytest.fixture
def experiment(client: Client, baseline: Run) -> dict[str, Any]:
    created: dict[str, Any] = client.post(
        "/v1/experiments",
        {"name": "Politeness", "hypothesis": "Fewer pass.", "direction": "LOWER", "baselineRunId": baseline.id},
    ).json()
    return created


@pytest.mark.parametrize(
    ("spend", "usd"),
    [
        (None, None),
        (RunSpend(), 0.0),
        (RunSpend(Cost(20), Cost(10)), 30e-9),
        (RunSpend(Cost(20, is_complete=False)), None),
        (RunSpend(Cost(20), Cost(0, is_complete=False)), None),
    ],
)
def test_a_run_that_cost_nothing_costs_zero_and_only_an_unknown_price_is_null(
    baseline: Run, spend: RunSpend | None, usd: float | None
) -> None:
    assert ExperimentRunResponse.of(replace(baseline, spend=spend)).cost_usd == usd


def path_of(experiment: dict[str, Any]) -> str:
    return f"/v1/experiments/{experiment['id']}"


def add(client: Client, experiment: dict[str, Any], run: Run) -> None:
    assert client.put(f"{path_of(experiment)}/runs/{run.id}").status == 204


def test_an_experiment_is_created_and_planned(client: Client, experiment: dict[str, Any]) -> None:
    stored = client.get(path_of(experiment)).json()
    assert stored == experiment
    assert (stored["status"], stored["alpha"], stored["controlledVariables"]) == ("PLANNED", 0.05, [])
    assert [each["id"] for each in client.get("/v1/experiments").json()["items"]] == [experiment["id"]]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "x"}, "hypothesis"),
        ({"name": "x", "hypothesis": " "}, "hypothesis"),
        ({"name": "x", "hypothesis": "h", "baselineRunId": "run_none"}, "baselineRunId"),
        ({"name": "x", "hypothesis": "h", "direction": "UP"}, "direction"),
        ({"name": "x", "hypothesis": "h", "alpha": 1.5}, "alpha"),
    ],
)
def test_invalid_fields_are_named(client: Client, given: dict[str, Any], field: str) -> None:
    answer = client.post("/v1/experiments", given)
    assert (answer.status, answer.json()["errors"][0]["field"]) == (422, field)


def test_names_are_unique(client: Client, experiment: dict[str, Any]) -> None:
    assert client.post("/v1/experiments", {"name": "politeness", "hypothesis": "h"}).status == 409


def test_a_run_that_is_over_is_compared_when_it_is_added(
    client: Client, experiment: dict[str, Any], baseline: Run
) -> None:
    run = run_of("def_shared", "-------+")
    add(client, experiment, baseline)
    add(client, experiment, run)
    assert client.get(f"{path_of(experiment)}/summary").json()["pendingRunIds"] == [run.id]
    carry_out_jobs()
    summary = client.get(f"{path_of(experiment)}/summary").json()
    assert [each["runId"] for each in summary["runs"]] == sorted([baseline.id, run.id])
    row = summary["rows"][0]
    assert (row["runId"], row["target"], row["verdict"]) == (run.id, "sim/steady", "LOWER")
    assert (summary["pendingRunIds"], summary["suggestedConclusion"]) == ([], "SUPPORTED")
    assert summary["experiment"]["status"] == "RUNNING"
    listed = client.get("/v1/comparisons", query={"experimentId": experiment["id"]}).json()["items"]
    assert [each["id"] for each in listed] == [row["comparisonId"]]


def reasons(client: Client, experiment: dict[str, Any]) -> dict[str, str]:
    listed = client.get(f"{path_of(experiment)}/summary").json()["reasons"]
    return {each["runId"]: each["reason"] for each in listed}


def test_a_run_that_is_not_compared_says_why(client: Client, experiment: dict[str, Any], baseline: Run) -> None:
    scenarios = tuple(Scenario("", f"another {number}", (Message(MessageRole.USER, "?"),)) for number in range(8))
    queued, other = run_of("def_shared", "-"), run_of("def_other", "-", scenarios=scenarios)
    going = AnsweredRun(workspace="acme", definition_id="def_shared").start()
    for run in (queued, other, going):
        add(client, experiment, run)
    found = reasons(client, experiment)
    assert (found[queued.id], found[going.id]) == ("it is being compared", "the run is RUNNING")
    assert "def_other" in found[other.id]
    assert client.delete(f"/v1/runs/{baseline.id}").status == 204
    assert reasons(client, experiment)[other.id] == f"baseline.runId: there is no run {baseline.id}"


def test_a_comparison_that_nobody_requested_can_be(client: Client, experiment: dict[str, Any]) -> None:
    other_scenarios = tuple(Scenario("", f"another {number}", (Message(MessageRole.USER, "?"),)) for number in range(8))
    alike, other = run_of("def_shared", "-"), run_of("def_other", "-", scenarios=other_scenarios)
    for run in (alike, other):
        runs.set_experiment(RunRef("acme", run.id), experiment["id"], NOW)
    listed = client.get(f"{path_of(experiment)}/summary").json()["reasons"]
    assert {each["runId"]: each["canBeRequested"] for each in listed} == {alike.id: True, other.id: False}


def in_progress(experiment: dict[str, Any], now: datetime) -> dict[str, bool]:
    return {each.run_id: each.is_in_progress for each in summary("acme", experiment["id"], now).pending}


def test_what_changes_by_itself_is_in_progress(client: Client, experiment: dict[str, Any]) -> None:
    other_scenarios = tuple(Scenario("", f"another {number}", (Message(MessageRole.USER, "?"),)) for number in range(8))
    queued, other = run_of("def_shared", "-"), run_of("def_other", "-", scenarios=other_scenarios)
    going = AnsweredRun(workspace="acme", definition_id="def_shared").start()
    for run in (queued, other, going):
        add(client, experiment, run)
    listed = client.get(f"{path_of(experiment)}/summary").json()["reasons"]
    assert {each["runId"]: each["isInProgress"] for each in listed} == {
        queued.id: True,
        other.id: False,
        going.id: True,
    }


def test_a_comparison_is_awaited_for_some_minutes_after_the_end(client: Client, experiment: dict[str, Any]) -> None:
    run = run_of("def_shared", "-")
    runs.set_experiment(RunRef("acme", run.id), experiment["id"], NOW)
    ended_at = runs.get(RunRef("acme", run.id)).completed_at
    assert ended_at is not None
    assert in_progress(experiment, ended_at + timedelta(minutes=4)) == {run.id: True}
    assert in_progress(experiment, ended_at + timedelta(minutes=6)) == {run.id: False}


def test_all_runs_await_a_baseline_that_goes_on(client: Client, experiment: dict[str, Any]) -> None:
    going = AnsweredRun(workspace="acme", definition_id="def_shared").start()
    run = run_of("def_shared", "-")
    assert client.patch(path_of(experiment), {"baselineRunId": going.id}).status == 200
    add(client, experiment, run)
    assert in_progress(experiment, NOW + timedelta(days=1)) == {run.id: True}


def test_a_run_that_ends_is_compared_once(client: Client, experiment: dict[str, Any]) -> None:
    run = run_of("def_shared", "-")
    runs.set_experiment(RunRef("acme", run.id), experiment["id"], NOW)
    for _ in range(2):
        compare_finished(RunRef("acme", run.id), NOW)
    assert carry_out_jobs() == ["completed"]


def test_the_end_of_the_baseline_compares_all_runs(client: Client, experiment: dict[str, Any], baseline: Run) -> None:
    for run in (baseline, run_of("def_shared", "-"), run_of("def_shared", "+-")):
        runs.set_experiment(RunRef("acme", run.id), experiment["id"], NOW)
    compare_finished(RunRef("acme", baseline.id), NOW)
    assert carry_out_jobs() == ["completed", "completed"]


def test_the_end_of_a_run_without_an_experiment_does_nothing(client: Client, baseline: Run) -> None:
    compare_finished(RunRef("acme", baseline.id), NOW)
    compare_finished(RunRef("acme", "run_none"), NOW)
    assert carry_out_jobs() == []


def test_another_baseline_is_compared_anew(client: Client, experiment: dict[str, Any], baseline: Run) -> None:
    run = run_of("def_shared", "-")
    add(client, experiment, run)
    add(client, experiment, baseline)
    assert client.patch(path_of(experiment), {"baselineRunId": run.id}).status == 200
    carry_out_jobs()
    summary = client.get(f"{path_of(experiment)}/summary").json()
    assert [(each["runId"], each["verdict"]) for each in summary["rows"]] == [(baseline.id, "HIGHER")]
    assert summary["suggestedConclusion"] == "REJECTED"


def test_a_removed_run_is_in_no_experiment(client: Client, experiment: dict[str, Any]) -> None:
    run = run_of("def_shared", "-")
    add(client, experiment, run)
    assert client.delete(f"{path_of(experiment)}/runs/{run.id}").status == 204
    assert client.get(f"{path_of(experiment)}/summary").json()["runs"] == []
    assert client.get(f"/v1/runs/{run.id}").json()["experimentId"] is None


def test_a_run_belongs_to_one_experiment(client: Client, experiment: dict[str, Any]) -> None:
    other = client.post("/v1/experiments", {"name": "Other", "hypothesis": "h"}).json()
    run = run_of("def_shared", "-")
    add(client, experiment, run)
    add(client, other, run)
    assert client.get(f"{path_of(experiment)}/summary").json()["runs"] == []
    assert [each["runId"] for each in client.get(f"{path_of(other)}/summary").json()["runs"]] == [run.id]


def test_a_started_run_is_one_of_its_experiment(client: Client, experiment: dict[str, Any], definition_id: str) -> None:
    started = start(client, definition_id, experimentId=experiment["id"]).json()["run"]
    summary = client.get(f"{path_of(experiment)}/summary").json()
    assert ([each["runId"] for each in summary["runs"]], summary["pendingRunIds"]) == ([started["id"]], [started["id"]])


def test_an_unknown_experiment_is_refused(client: Client, definition_id: str) -> None:
    answer = start(client, definition_id, experimentId="exp_none")
    assert answer.json()["errors"] == [{"field": "experimentId", "message": "there is no experiment exp_none"}]


def test_a_person_concludes_and_opens_again(client: Client, experiment: dict[str, Any]) -> None:
    concluded = client.patch(path_of(experiment), {"conclusion": "REJECTED", "note": "No effect."}).json()
    assert (concluded["status"], concluded["note"]) == ("CONCLUDED", "No effect.")
    assert client.patch(path_of(experiment), {"conclusion": None}).json()["status"] == "PLANNED"


def test_a_deleted_experiment_leaves_its_runs(client: Client, experiment: dict[str, Any], baseline: Run) -> None:
    add(client, experiment, baseline)
    assert client.delete(path_of(experiment)).status == 204
    assert client.get(path_of(experiment)).status == 404
    assert client.get(f"/v1/runs/{baseline.id}").status == 200
    assert client.get(f"{path_of(experiment)}/summary").status == 404


def test_other_workspaces_and_viewers_change_nothing(
    client: Client, experiment: dict[str, Any], baseline: Run, stranger: str, viewer: str
) -> None:
    path = f"{path_of(experiment)}/runs/{baseline.id}"
    assert client.put(path, token=stranger).status == 404
    assert client.put(path, token=viewer).status == 403
    assert client.get(f"{path_of(experiment)}/summary", token=viewer).status == 200
