"""Jobs of the analyze function on a complete stack: deep analyses and comparisons of the simulated models."""

from typing import Any

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import RATING, Json, evaluate, start_run, wait_for_end, wait_until

MODELS = ("sim/steady", "sim/bold", "sim/contrarian")
OVER = ("COMPLETED", "FAILED")


@pytest.fixture(scope="module")
def definition(api: Client) -> str:
    """Of 36 scenarios: three levels in each of two dimensions, four times."""
    levels = [(stakes, delay) for stakes in (1, 3, 5) for delay in (1, 2, 3)] * 4
    created = str(api.create_definition({"name": "jobs", "content": RATING})["id"])
    scenarios = [
        {"prompt": f"Case {number}: rate it.", "dimensions": {"stakes": stakes, "delay": delay}}
        for number, (stakes, delay) in enumerate(levels)
    ]
    api.create_scenarios(created, scenarios)
    return created


@pytest.fixture(scope="module")
def run(api: Client, definition: str) -> Json:
    return evaluate(api, definition, *MODELS)


@pytest.fixture(scope="module")
def analysis(api: Client, run: Json) -> Json:
    assert completed_job(api, api.analyze_run(run["id"], kind="deep")["jobId"])["kind"] == "deep_analysis"
    return api.get_deep_analysis(run["id"])


def completed_job(api: Client, job_id: str) -> Json:
    job = ended_job(api, job_id)
    assert job["failure"] is None, job
    return job


def ended_job(api: Client, job_id: str) -> Json:
    def ended() -> Json | None:
        job = api.get_job(job_id)
        return job if job["status"] in OVER else None

    return wait_until(ended, 60) or {}


def test_the_targets_agree_most_without_the_contrarian_model(analysis: Json) -> None:
    """Whether it also is an outlier depends on what the models happen to answer."""
    found = max(analysis["figures"]["outlierTargets"]["targets"], key=lambda each: each["agreementGain"])
    assert analysis["figures"]["columns"][found["column"]]["modelId"] == "sim/contrarian"


def test_each_model_has_a_slope_of_each_dimension(analysis: Json) -> None:
    regressions = analysis["figures"]["effects"]["regressions"]
    assert [[slope["dimension"] for slope in each["slopes"]] for each in regressions] == [["delay", "stakes"]] * 3


def test_an_unchanged_run_is_not_analyzed_again(api: Client, run: Json, analysis: Json) -> None:
    again = api.analyze_run(run["id"], kind="deep")
    assert (again["id"], again["jobId"]) == (analysis["id"], None)


def test_a_forced_analysis_has_the_same_figures(api: Client, run: Json, analysis: Json) -> None:
    completed_job(api, api.analyze_run(run["id"], kind="deep", force=True)["jobId"])
    forced = api.get_deep_analysis(run["id"])
    assert (forced["id"] != analysis["id"], forced["figures"]) == (True, analysis["figures"])


def test_a_finished_analysis_is_an_event_of_the_run(api: Client, run: Json, analysis: Json) -> None:
    events = [each for each in api.list_run_events(run["id"]) if each["type"] == "analysis.finished"]
    assert events[0]["data"] == {"analysisId": analysis["id"], "kind": "deep"}


def test_a_correction_makes_a_deep_analysis_stale(api: Client, definition: str) -> None:
    corrected = evaluate(api, definition, *MODELS)["id"]
    completed_job(api, api.analyze_run(corrected, kind="deep")["jobId"])
    api.correct_probe(f"{corrected}-0", {"success": True, "score": 1.0, "reason": "a person says so"})
    stale = api.get_deep_analysis(corrected)
    assert (stale["isStale"], stale["staleReason"]) == (True, "inputs")
    completed_job(api, api.analyze_run(corrected, kind="deep")["jobId"])
    assert api.get_deep_analysis(corrected)["isStale"] is False


def test_a_run_that_goes_on_is_not_deeply_analyzed(api: Client, definition: str) -> None:
    running = start_run(api, definition, *MODELS)
    with pytest.raises(ApiProblem) as problem:
        api.analyze_run(running, kind="deep")
    assert problem.value.status == 409
    wait_for_end(api, running)


def test_a_run_that_is_deleted_meanwhile_fails_the_job_at_most(api: Client, definition: str) -> None:
    deleted = evaluate(api, definition, *MODELS)["id"]
    job_id = api.analyze_run(deleted, kind="deep")["jobId"]
    api.delete_run(deleted)
    job = ended_job(api, job_id)
    assert job["failure"] is None or "there is no run" in job["failure"]["why"]


def test_the_same_model_is_not_higher_than_itself(api: Client, definition: str) -> None:
    sides = [{"runId": evaluate(api, definition, "sim/steady")["id"]} for _ in range(2)]
    # At the default level, one in twenty comparisons of equal models finds a difference.
    request = {"baseline": sides[0], "comparison": sides[1], "alpha": 0.001}
    requested: dict[str, Any] = api.create_comparison(request)
    completed_job(api, requested["jobId"])
    (row,) = api.get_comparison(requested["id"])["figures"]["rows"]
    assert row["verdict"] in {"EQUIVALENT", "INCONCLUSIVE"}
