"""Deep analyses over HTTP."""

from typing import Any

import pytest

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.store import outcomes
from tests.compared_runs import carry_out_jobs, run_of
from tests.started_runs import RunSetup, ref_of
from tests.unit.api.client import Client

MODELS = ("sim/steady", "sim/bold", "sim/contrarian")


def scenario(number: int) -> Scenario:
    levels = {"stakes": float(number % 4), "delay": float(number // 4 % 3)}
    return Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),), levels)


@pytest.fixture
def run(client: Client) -> Run:
    """24 scenarios in two dimensions; the results of three targets differ."""
    return run_of("def_deep", "++-+-+--++-++", models=MODELS, scenarios=tuple(map(scenario, range(24))))


def path(run: Run, suffix: str = "") -> str:
    return f"/v1/runs/{run.id}/analysis{suffix}"


@pytest.fixture
def analyzed(client: Client, run: Run) -> dict[str, Any]:
    client.post(path(run), {"kind": "deep"})
    carry_out_jobs()
    analysis: dict[str, Any] = client.get(path(run, "/deep")).json()
    return analysis


def test_a_deep_analysis_is_computed_by_a_job(client: Client, run: Run) -> None:
    answer = client.post(path(run), {"kind": "deep"})
    assert (answer.status, answer.headers["Location"]) == (202, path(run, "/deep"))
    accepted = answer.json()
    assert (accepted["kind"], accepted["id"], accepted["status"]) == ("deep", None, None)
    job = client.get(f"/v1/jobs/{accepted['jobId']}").json()
    assert (job["kind"], job["status"], job["runIds"]) == ("deep_analysis", "QUEUED", [run.id])
    carry_out_jobs()
    job = client.get(f"/v1/jobs/{accepted['jobId']}").json()
    assert (job["status"], job["progress"]) == ("COMPLETED", {"done": 6, "total": 6})
    assert client.get(path(run, "/deep")).json()["id"] == job["resultId"]


def test_its_figures_name_targets_scenarios_and_dimensions(analyzed: dict[str, Any]) -> None:
    figures = analyzed["figures"]
    assert (analyzed["isCurrent"], analyzed["isStale"], analyzed["jobId"]) == (True, False, None)
    assert [each["targetId"] for each in figures["columns"]] == list(MODELS)
    first = figures["components"]["components"][0]
    assert first["loadings"][0]["scenarioName"].startswith("case ")
    assert [each["dimension"] for each in first["dimensions"]] == ["delay", "stakes"]
    assert figures["effects"]["dimensions"] == ["delay", "stakes"]
    assert len(figures["effects"]["regressions"][0]["slopes"][0]["interval95"]) == 2
    assert len(figures["outlierScenarios"]["scenarios"]) == 20
    assert figures["interactions"]["tested"] == 3
    assert figures["unavailable"] == []


def test_a_current_one_is_not_computed_again(client: Client, run: Run, analyzed: dict[str, Any]) -> None:
    again = client.post(path(run), {"kind": "deep"})
    assert (again.status, again.json()["id"], again.json()["jobId"]) == (200, analyzed["id"], None)


def test_force_computes_it_again(client: Client, run: Run, analyzed: dict[str, Any]) -> None:
    assert client.post(path(run), {"kind": "deep", "force": True}).status == 202
    carry_out_jobs()
    again = client.get(path(run, "/deep")).json()
    assert again["id"] != analyzed["id"]
    assert (again["inputsHash"], again["figures"]) == (analyzed["inputsHash"], analyzed["figures"])


def test_a_correction_makes_it_stale(client: Client, run: Run, analyzed: dict[str, Any]) -> None:
    outcomes.set_correction(ref_of(run), 1, TranscriptResult(False))
    stale = client.get(path(run, "/deep")).json()
    assert (stale["isStale"], stale["staleReason"], stale["figures"]) == (True, "inputs", analyzed["figures"])
    assert client.post(path(run), {"kind": "deep"}).status == 202


def test_both_kinds_are_listed_in_the_history(client: Client, run: Run, analyzed: dict[str, Any]) -> None:
    client.post(path(run))
    listed = client.get(path(run, "/history")).json()["items"]
    assert [(each["kind"], each["isCurrent"], each["isStale"]) for each in listed] == [
        ("deep", True, False),
        ("basic", True, False),
    ]


def test_its_tag_answers_304(client: Client, run: Run, analyzed: dict[str, Any]) -> None:
    tag = client.get(path(run, "/deep")).headers["ETag"]
    assert client.get(path(run, "/deep"), headers={"If-None-Match": tag}).status == 304


def test_without_one_the_answer_says_how_to_request_it(client: Client, run: Run) -> None:
    missing = client.get(path(run, "/deep"))
    assert missing.status == 404
    assert missing.json()["detail"].endswith('with {"kind": "deep"} does it')


def test_while_it_is_computed_the_answer_names_the_job(client: Client, run: Run) -> None:
    job_id = client.post(path(run), {"kind": "deep"}).json()["jobId"]
    assert job_id in client.get(path(run, "/deep")).json()["detail"]


def test_a_run_that_goes_on_is_refused(client: Client) -> None:
    going_on = RunSetup(scenario_count=3, workspace="acme").start()
    answer = client.post(path(going_on), {"kind": "deep"})
    assert (answer.status, "PENDING" in answer.json()["detail"]) == (409, True)
    assert "PENDING" in client.get(path(going_on, "/deep")).json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "deeper"}, "kind"),
        ({"kind": None}, "kind"),
        ({"kind": "deep", "force": 1}, "force"),
        ({"kind": "deep", "depth": 3}, "depth"),
        ({"kind": "deep", "rescoreId": ""}, "rescoreId"),
    ],
)
def test_bad_input_names_the_field(client: Client, run: Run, body: dict[str, Any], field: str) -> None:
    answer = client.post(path(run), body)
    assert (answer.status, answer.json()["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize("suffix", ["/deep", "/deep?rescoreId=scg_unknown"])
def test_unknown_runs_and_rescores_are_not_found(client: Client, run: Run, suffix: str) -> None:
    assert client.get(f"/v1/runs/{run.id if '?' in suffix else 'run_unknown'}/analysis{suffix}").status == 404


def test_a_viewer_may_read_and_not_request_it(client: Client, run: Run, analyzed: dict[str, Any]) -> None:
    viewer = client.issue(role=AccessRole.VIEWER)
    assert client.get(path(run, "/deep"), token=viewer).status == 200
    assert client.post(path(run), {"kind": "deep", "force": True}, token=viewer).status == 403
