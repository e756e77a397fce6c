"""`cupel analyze --deep`, and deep analyses in process."""

from typing import Any

import httpx
import pytest

import cupel
from cupel import extras
from cupel.errors import UsageError
from cupel.render_analysis import deep_analysis_lines
from tests.unit.cupel.fake_api import Cupel, FakeApi

JOB = {
    "id": "job_ana_2",
    "status": "COMPLETED",
    "stage": "storing",
    "progress": {"done": 5, "total": 5},
    "failure": None,
}
REQUESTED = {"id": None, "kind": "deep", "status": None, "jobId": "job_ana_2"}
HEAD = {"id": "ana_2", "kind": "deep", "status": "COMPLETED", "failure": None, "isStale": False, "staleReason": None}
MODELS = ("sim/steady", "sim/bold", "sim/contrarian")


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    """Of 24 scenarios that the three simulated rules answer; the last one is an outlier, whatever it answers."""
    found: dict[str, Any] = evaluated().deep_analysis()
    *_, last = found["outlierTargets"]["targets"]
    last |= {"isOutlier": True, "indicators": ["agreement"]}
    return found


def ratings() -> dict[str, Any]:
    """A definition."""
    levels = [(stakes, delay) for stakes in range(1, 5) for delay in range(1, 4)] * 2
    scenarios = [
        {
            "name": f"case {number}",
            "messages": [{"role": "user", "content": f"Rate case {number}."}],
            "dimensions": {"stakes": stakes, "delay": delay},
        }
        for number, (stakes, delay) in enumerate(levels)
    ]
    return {"name": "ratings", "content": {"decision": {"pattern": "([1-5])"}}, "scenarios": scenarios}


def evaluated(models: tuple[str, ...] = MODELS) -> Any:
    return cupel.evaluate(ratings(), list(models), progress=False)


@pytest.fixture
def analyzed(api: FakeApi, figures: dict[str, Any]) -> FakeApi:
    api.documents["runs/run_1/analysis/deep"] = {**HEAD, "figures": figures}
    api.documents["jobs/job_ana_2"] = JOB
    api.respond_to_posts = httpx.Response(202, json=REQUESTED)
    return api


def test_a_deep_analysis_is_printed_in_words(analyzed: FakeApi, cupel: Cupel) -> None:
    printed = cupel("analyze", "run_1", "--deep").stdout
    assert "change per step" in printed
    assert "\n* adjusted p below 0.05, ** 0.01, *** 0.001\n" in printed
    assert "outlier    sim/contrarian answers unlike the others (agreement)" in printed
    assert "component  1 explains" in printed
    assert "variance   " in printed
    assert "caution    24 scenarios" not in printed


def test_it_is_requested_as_deep(analyzed: FakeApi, cupel: Cupel) -> None:
    cupel("analyze", "run_1", "--deep", "--force")
    assert analyzed.bodies("POST", "/runs/run_1/analysis") == [{"kind": "deep", "force": True}]


def test_no_model_need_write_about_it(analyzed: FakeApi, cupel: Cupel) -> None:
    cupel("analyze", "run_1", "--deep", "--no-narrative")
    assert analyzed.bodies("POST", "/runs/run_1/analysis") == [{"kind": "deep", "force": False, "narrative": False}]


def test_the_findings_of_a_model_are_printed_with_their_cost(
    analyzed: FakeApi, cupel: Cupel, figures: dict[str, Any]
) -> None:
    findings = [{**each, "text": f"About {each['topic']}."} for each in figures["narrative"]["findings"]]
    written = {**figures["narrative"], "findings": findings, "model": "openai/gpt-5-mini", "calls": 2, "costUsd": 0.004}
    analyzed.documents["runs/run_1/analysis/deep"]["figures"] = {**figures, "narrative": written}
    printed = cupel("analyze", "run_1", "--deep").stdout
    assert "finding    About agreement." in printed
    assert "written by openai/gpt-5-mini (2 calls, $0.004)" in printed


def test_a_model_that_wrote_nothing_is_named(analyzed: FakeApi, cupel: Cupel, figures: dict[str, Any]) -> None:
    failed = {**figures["narrative"], "model": "openai/gpt-5-mini", "error": "the budget of $1 is used up"}
    analyzed.documents["runs/run_1/analysis/deep"]["figures"] = {**figures, "narrative": failed}
    printed = cupel("analyze", "run_1", "--deep").stdout
    assert "caution    openai/gpt-5-mini wrote no narrative: the budget of $1 is used up" in printed
    assert "finding" not in printed


def test_a_cached_one_waits_for_no_job(analyzed: FakeApi, cupel: Cupel) -> None:
    del analyzed.documents["jobs/job_ana_2"]
    analyzed.respond_to_posts = httpx.Response(200, json={**HEAD, "jobId": None})
    assert "variance   " in cupel("analyze", "run_1", "--deep").stdout


def test_json_is_the_analysis_itself(analyzed: FakeApi, cupel: Cupel) -> None:
    assert '"explainedShare"' in cupel("analyze", "run_1", "--deep", "--json").stdout


def test_a_failed_job_says_why(analyzed: FakeApi, cupel: Cupel) -> None:
    failure = {"where": "reading", "why": "the run is RUNNING"}
    analyzed.documents["jobs/job_ana_2"] = {**JOB, "status": "FAILED", "failure": failure}
    result = cupel("analyze", "run_1", "--deep")
    assert result.exit_code != 0
    assert "deep analysis failed: the run is RUNNING" in result.stderr


def test_missing_parts_say_what_they_need() -> None:
    found = evaluated(("sim/steady",)).deep_analysis()
    lines = list(deep_analysis_lines({**HEAD, "figures": found}, ["sim/steady"]))
    assert "missing    components: needs at least 3 targets with answers to the same scenarios" in lines


def test_a_failed_analysis_and_a_stale_one_say_why() -> None:
    failed = {**HEAD, "failure": {"where": "effects", "why": "no"}, "figures": None}
    assert list(deep_analysis_lines(failed, [])) == ["analysis   failed in effects: no"]
    stale = {**HEAD, "isStale": True, "staleReason": "inputs", "figures": None}
    assert next(deep_analysis_lines(stale, [])).startswith("stale      outcomes have changed")


def test_agents_are_called_by_their_names(analyzed: FakeApi, cupel: Cupel, figures: dict[str, Any]) -> None:
    columns = [dict(each) for each in figures["columns"]]
    columns[2] |= {"targetId": "connector/con_1", "modelId": "connector/con_1"}
    analyzed.documents["runs/run_1/analysis/deep"]["figures"] = {**figures, "columns": columns}
    analyzed.documents["connectors/con_1"] = {"id": "con_1", "name": "Booking bot"}
    assert "connector/Booking bot answers unlike the others" in cupel("analyze", "run_1", "--deep").stdout


def test_equal_answers_give_equal_figures() -> None:
    evaluation = evaluated(("sim/steady", "sim/bold"))
    assert evaluation.deep_analysis() == evaluation.deep_analysis()


def test_without_numpy_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = evaluated(("sim/steady",))
    monkeypatch.setitem(extras._MODULES, "analysis", ("a_package_that_is_missing",))
    with pytest.raises(UsageError, match=r"pip install 'cupel\[analysis\]==.*'"):
        evaluation.deep_analysis()
