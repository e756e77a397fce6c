"""Bad input of the operations of experiments: each error names its field, and nothing is changed."""

from typing import Any

import pytest

from cupel_core.analysis import experiments as capability
from cupel_core.domain.runs.run import Run
from tests.compared_runs import run_of
from tests.unit.api.client import Client
from tests.unit.api.test_experiments import add, path_of
from tests.unit.api.test_experiments import baseline as baseline
from tests.unit.api.test_experiments import experiment as experiment

CODES = "must not contain control characters, line breaks, tabs or characters that reorder text"


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"name": None}, "name", "must not be null"),
        ({"name": " "}, "name", "must not be blank, nor take more than 1,024 bytes when case is ignored"),
        ({"hypothesis": None}, "hypothesis", "must not be null"),
        ({"hypothesis": "h" * 5_001}, "hypothesis", "must have at most 5000 characters, not 5,001"),
        ({"nullHypothesis": 3}, "nullHypothesis", "must be text, not 3"),
        ({"description": " "}, "description", "must not be blank"),
        ({"direction": "UP"}, "direction", "must be 'HIGHER', 'LOWER' or 'EQUIVALENT', not 'UP'"),
        ({"target": " "}, "target", "must not be blank"),
        ({"target": "t" * 501}, "target", "must have at most 500 characters, not 501"),
        (
            {"metric": "SCORE"},
            "metric",
            "must be 'DECISION', 'PASS_RATE', 'PASS_RATE_ERRORS_FAIL' or 'OTHER_RATE', not 'SCORE'",
        ),
        ({"minimumEffect": 0}, "minimumEffect", "must be greater than 0, not 0"),
        ({"minimumEffect": 5}, "minimumEffect", "must be at most 4, not 5"),
        ({"minimumEffect": 2, "metric": "PASS_RATE"}, "minimumEffect", "must be at most 1: PASS_RATE is a share"),
        ({"alpha": None}, "alpha", "must not be null"),
        ({"alpha": "0.05"}, "alpha", "must be a number, not '0.05'"),
        ({"alpha": 1}, "alpha", "must be at most 0.2, not 1"),
        ({"independentVariable": "a\nb"}, "independentVariable", CODES),
        ({"controlledVariables": None}, "controlledVariables", "must not be null"),
        ({"controlledVariables": "prompt"}, "controlledVariables", "must be a list, not text"),
        ({"controlledVariables": ["a", " "]}, "controlledVariables.1", "must not be blank"),
        ({"baselineRunId": "run_none"}, "baselineRunId", "there is no run run_none"),
        ({"tags": ["t"] * 51}, "tags", "must have at most 50 items, not 51"),
        ({"tags": [3]}, "tags.0", "must be text, not 3"),
        ({"conclusion": "MAYBE"}, "conclusion", "must be 'SUPPORTED', 'REJECTED' or 'INCONCLUSIVE', not 'MAYBE'"),
        ({"note": "n" * 5_001}, "note", "must have at most 5000 characters, not 5,001"),
        ([], "body", "must be an object, not a list"),
    ],
)
def test_an_update_names_the_field(
    client: Client, experiment: dict[str, Any], given: Any, field: str, message: str
) -> None:
    answer = client.patch(path_of(experiment), given)
    assert (answer.status, answer.json()["errors"]) == (422, [{"field": field, "message": message}])
    assert client.get(path_of(experiment)).json() == experiment


@pytest.mark.parametrize("field", ["status", "conclusion", "note"])
def test_an_experiment_is_not_created_with_what_follows_from_its_runs(client: Client, field: str) -> None:
    answer = client.post("/v1/experiments", {"name": "x", "hypothesis": "h", field: "SUPPORTED"})
    assert (answer.status, answer.fields()) == (422, [field])
    assert client.get("/v1/experiments").json()["items"] == []


def test_the_effect_is_checked_with_the_stored_metric(client: Client, experiment: dict[str, Any]) -> None:
    assert client.patch(path_of(experiment), {"minimumEffect": 2}).status == 200
    refused = client.patch(path_of(experiment), {"metric": "PASS_RATE"})
    assert (refused.status, refused.fields()) == (422, ["minimumEffect"])


def test_a_margin_above_one_is_refused_of_a_rate(client: Client, baseline: Run) -> None:
    body = {"baseline": {"runId": baseline.id}, "comparison": {"runId": run_of("def_shared", "-").id}}
    answer = client.post("/v1/comparisons", {**body, "metric": "PASS_RATE", "margin": 2})
    assert answer.json()["errors"] == [{"field": "margin", "message": "must be at most 1: PASS_RATE is a share"}]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize(("part", "message"), [("experiment", "there is no experiment"), ("run", "there is no run")])
def test_unknown_members_are_not_found(
    client: Client, experiment: dict[str, Any], baseline: Run, method: str, part: str, message: str
) -> None:
    unknown = {"experiment": f"/v1/experiments/exp_none/runs/{baseline.id}", "run": f"{path_of(experiment)}/runs/none"}
    answer = client.request(method, unknown[part])
    assert (answer.status, message in answer.json()["detail"]) == (404, True)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_members_of_other_workspaces_are_not_found(
    client: Client, experiment: dict[str, Any], baseline: Run, stranger: str, method: str
) -> None:
    other = client.post("/v1/experiments", {"name": "Other", "hypothesis": "h"}, token=stranger).json()
    for path in (f"{path_of(other)}/runs/{baseline.id}", f"{path_of(experiment)}/runs/{baseline.id}"):
        assert client.request(method, path, token=stranger).status == 404
    assert client.get(f"/v1/runs/{baseline.id}").json()["experimentId"] is None


def test_a_deleted_run_is_not_added(client: Client, experiment: dict[str, Any]) -> None:
    run = run_of("def_shared", "-")
    assert client.delete(f"/v1/runs/{run.id}").status == 204
    assert client.put(f"{path_of(experiment)}/runs/{run.id}").status == 404


def test_removing_a_run_of_another_experiment_leaves_it_there(client: Client, experiment: dict[str, Any]) -> None:
    other = client.post("/v1/experiments", {"name": "Other", "hypothesis": "h"}).json()
    run = run_of("def_shared", "-")
    add(client, other, run)
    assert client.delete(f"{path_of(experiment)}/runs/{run.id}").status == 204
    assert client.get(f"/v1/runs/{run.id}").json()["experimentId"] == other["id"]


def test_a_full_experiment_takes_no_more_runs(
    client: Client, experiment: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capability, "MAX_RUNS", 1)
    first, second = run_of("def_shared", "-"), run_of("def_shared", "+")
    add(client, experiment, first)
    refused = client.put(f"{path_of(experiment)}/runs/{second.id}")
    assert (refused.status, refused.json()["detail"]) == (409, "an experiment has at most 1 runs")
    add(client, experiment, first)


@pytest.mark.parametrize(
    ("path", "field", "kind"),
    [
        ("/v1/comparisons", "experimentId", "experiment"),
        ("/v1/comparisons", "runId", "run"),
        ("/v1/jobs", "runId", "run"),
        ("/v1/runs", "experimentId", "experiment"),
    ],
)
def test_filters_by_what_there_is_not_are_refused(
    client: Client, experiment: dict[str, Any], baseline: Run, stranger: str, path: str, field: str, kind: str
) -> None:
    answer = client.get(path, query={field: "none"})
    assert answer.json()["errors"] == [{"field": field, "message": f"there is no {kind} none"}]
    known = {"run": baseline.id, "experiment": experiment["id"]}[kind]
    answer = client.get(path, query={field: known})
    assert (answer.status, answer.json()["items"]) == (200, [])
    assert client.get(path, query={field: known}, token=stranger).status == 422
