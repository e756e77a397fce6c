"""Corrected pass rates beside those of the judge: in result tables, comparisons and experiments."""

from typing import Any
from unittest.mock import patch

import pytest

from cupel_core.analysis import judge_accuracy
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.store import barrier, blobs, object_names, runs
from cupel_core.store.barrier import Tree
from tests.answered_runs import AnsweredRun
from tests.compared_runs import carry_out_jobs
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.labelled import label, started
from tests.unit.api.test_reports import carry_out

SCENARIOS = 40


def judged(*, failures: int) -> Any:
    """Let the first scenarios fail, and those after them pass."""

    def scoring(index: int) -> Scoring:
        passed = index >= failures
        return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), "a reason"),))

    return scoring


def run_of(client: Client, failures: int, **fields: Any) -> Run:
    return started(SCENARIOS, 1, scoring=judged(failures=failures), **fields)


def label_all(client: Client, run: Run, *, failing: int, number: int = SCENARIOS) -> None:
    """Label the first transcripts. The last of them fail."""
    rows = [
        {"probeId": f"{run.id}-{index}", "value": "fail" if index >= number - failing else "pass", "labeller": "ana"}
        for index in range(number)
    ]
    answer = client.post(f"/v1/runs/{run.id}/labels/import", {"labels": rows})
    assert answer.status == 200, answer.text


def column_of(client: Client, run: Run, number: int = 0) -> Any:
    return client.get(f"/v1/runs/{run.id}/results").json()["columns"][number]


def test_without_labels_nothing_is_said_of_the_judge(client: Client) -> None:
    column = column_of(client, run_of(client, 10))
    assert (column["judgeAccuracy"], column["correctedPassRate"]) == (None, None)


def test_the_corrected_rate_stands_beside_that_of_the_judge(client: Client) -> None:
    run = run_of(client, 10)
    label_all(client, run, failing=4)
    column = column_of(client, run)
    corrected = column["correctedPassRate"]
    assert column["estimate"]["passRate"]["share"] == 0.75
    assert (corrected["method"], corrected["judgeRate"]) == ("ALL_LABELLED", 0.75)
    assert corrected["rate"] == pytest.approx(0.9)
    low, high = corrected["interval95"]
    assert low < corrected["lowerBound"] < 0.9 < high
    assert column["judgeAccuracy"]["labels"] == SCENARIOS
    assert column["judgeAccuracy"]["kappa"] < 0


def test_too_few_labels_give_a_reason_and_no_rate(client: Client) -> None:
    run = run_of(client, 10)
    label_all(client, run, failing=2, number=15)
    corrected = column_of(client, run)["correctedPassRate"]
    assert (corrected["rate"], corrected["reason"], corrected["labelsNeeded"]) == (None, "TOO_FEW_LABELS", 20)


def test_only_targets_with_labels_are_corrected(client: Client) -> None:
    run = run_of(client, 10, models=("sim/steady", "sim/bold"))
    label_all(client, run, failing=4)
    assert column_of(client, run, 0)["correctedPassRate"]["rate"] == pytest.approx(0.9)
    assert column_of(client, run, 1)["correctedPassRate"] is None


def test_the_rate_follows_each_change_of_a_label(client: Client) -> None:
    run = run_of(client, 10)
    label_all(client, run, failing=4)
    column_of(client, run)
    label(client, run, 0, value="fail", labeller="ana")
    assert column_of(client, run)["correctedPassRate"]["rate"] == pytest.approx(35 / 40)
    client.delete(f"/v1/probes/{run.id}-0/label", query={"labeller": "ana"})
    assert column_of(client, run)["correctedPassRate"]["method"] == "POST_STRATIFIED"
    assert column_of(client, run)["judgeAccuracy"]["labels"] == SCENARIOS - 1


def test_the_same_labels_and_outcomes_are_computed_once(client: Client) -> None:
    run = run_of(client, 10)
    label_all(client, run, failing=4)
    first = column_of(client, run)
    with patch.object(judge_accuracy, "load_labelled", side_effect=AssertionError):
        assert column_of(client, run) == first


def test_what_was_computed_is_stored_among_the_analyses_of_the_run(client: Client) -> None:
    run = run_of(client, 10)
    label_all(client, run, failing=4)
    column_of(client, run)
    prefix = object_names.analysis_blobs(RunRef(run.workspace, run.id))
    assert any("/judges/" in key for key in blobs.list_keys(prefix))


def compared(client: Client, baseline: Run, run: Run) -> Any:
    body = {"baseline": {"runId": baseline.id}, "comparison": {"runId": run.id}}
    made = client.post("/v1/comparisons", body).json()
    carry_out_jobs()
    return client.get(f"/v1/comparisons/{made['id']}").json()["figures"]


def test_a_difference_that_only_the_judge_sees_is_corrected(client: Client) -> None:
    baseline, run = (run_of(client, failures, definition_id="def_same") for failures in (2, 20))
    figures = compared(client, baseline, run)
    assert figures["rows"][0]["correctedDifference"] is None
    label_all(client, baseline, failing=4)
    assert compared(client, baseline, run)["rows"][0]["correctedDifference"] is None
    label_all(client, run, failing=4)
    (row,) = compared(client, baseline, run)["rows"]
    assert row["difference"] == pytest.approx(-18 / 40)
    corrected = row["correctedDifference"]
    assert (corrected["baseline"], corrected["comparison"], corrected["difference"]) == pytest.approx((0.9, 0.9, 0))
    assert corrected["interval"][0] < 0 < corrected["interval"][1]


def test_targets_of_one_run_are_corrected_each_with_its_own_labels(client: Client) -> None:
    run = run_of(client, 10, models=("sim/steady", "sim/bold"))
    label_all(client, run, failing=4)
    for index in range(SCENARIOS, 2 * SCENARIOS):
        label(client, run, index, value="pass" if index % 2 else "fail", labeller="ana")
    sides = ({"runId": run.id, "targets": [name]} for name in ("sim/steady", "sim/bold"))
    made = client.post("/v1/comparisons", dict(zip(("baseline", "comparison"), sides, strict=True))).json()
    carry_out_jobs()
    (row,) = client.get(f"/v1/comparisons/{made['id']}").json()["figures"]["rows"]
    assert row["correctedDifference"]["difference"] == pytest.approx(0.5 - 0.9)
    assert row["correctedDifference"]["interval"][1] < 0


def test_an_experiment_shows_corrected_differences(client: Client) -> None:
    baseline, run = (run_of(client, failures, definition_id="def_same") for failures in (2, 20))
    for each in (baseline, run):
        label_all(client, each, failing=4)
    fields = {"name": "Tone", "hypothesis": "It passes more.", "baselineRunId": baseline.id}
    experiment = client.post("/v1/experiments", fields).json()
    assert client.put(f"/v1/experiments/{experiment['id']}/runs/{run.id}").status == 204
    carry_out_jobs()
    (row,) = client.get(f"/v1/experiments/{experiment['id']}/summary").json()["rows"]
    assert row["difference"] == pytest.approx(-18 / 40)
    assert row["correctedDifference"]["difference"] == pytest.approx(0)


def made_report(client: Client, run: Run) -> Any:
    client.post(f"/v1/runs/{run.id}/reports", {"summarizerModel": None})
    carry_out()
    return client.get(f"/v1/runs/{run.id}/report").json()


def test_a_report_says_how_accurate_the_judge_is(client: Client) -> None:
    run = run_of(client, 10)
    label_all(client, run, failing=4)
    (column,) = made_report(client, run)["content"]["columns"]
    assert column["correctedPassRate"]["rate"] == pytest.approx(0.9)
    for form in ("md", "html"):
        text = client.get(f"/v1/runs/{run.id}/report", query={"format": form}).text
        assert "Accuracy of the judge" in text
        assert "90.0% (" in text


def test_labels_make_an_earlier_report_stale(client: Client) -> None:
    run = run_of(client, 10)
    first = made_report(client, run)
    assert first["content"]["columns"][0]["correctedPassRate"] is None
    label_all(client, run, failing=4)
    assert client.get(f"/v1/runs/{run.id}/report").json()["isStale"] is True
    assert made_report(client, run)["id"] != first["id"]


def test_scenarios_that_only_one_side_has_leave_no_corrected_difference(client: Client) -> None:
    """The first half fails on both sides, and the second half is in the baseline only."""
    baseline, run = (
        started(scenarios, 1, scoring=judged(failures=20), definition_id="def_same") for scenarios in (40, 20)
    )
    label_all(client, baseline, failing=20)
    label_all(client, run, failing=20, number=20)
    figures = compared(client, baseline, run)
    assert (figures["onlyBaseline"], figures["rows"][0]["difference"]) == (20, 0)
    assert figures["rows"][0]["correctedDifference"] is None


def test_errors_as_failures_leave_no_corrected_difference(client: Client) -> None:
    baseline = run_of(client, 2, definition_id="def_same")
    run = run_of(client, 2, definition_id="def_same", answer=lambda index: None if index >= 20 else "yes")
    label_all(client, baseline, failing=0)
    label_all(client, run, failing=0, number=20)
    sides = {"baseline": {"runId": baseline.id}, "comparison": {"runId": run.id}}
    made = client.post("/v1/comparisons", sides | {"metric": "PASS_RATE_ERRORS_FAIL"}).json()
    carry_out_jobs()
    (row,) = client.get(f"/v1/comparisons/{made['id']}").json()["figures"]["rows"]
    assert row["difference"] == -0.5
    assert row["correctedDifference"] is None


def test_a_cancelled_run_is_corrected_by_the_labels_of_what_it_has(client: Client) -> None:
    class Partial(AnsweredRun):
        def _record(self, run: Run) -> None:
            results = [self.outcome(run, index) for index in range(30)]
            for number, item in store_outcomes(run, run.fencing_token, results).items():
                barrier.propagate(Tree.for_run(run), Node(0, number), item)

    asked = tuple(Scenario("", f"Case {n}", (Message(MessageRole.USER, "?"),)) for n in range(SCENARIOS))
    fields = {"workspace": "acme", "scenarios": asked, "scoring": judged(failures=10), "models": ("sim/steady",)}
    run = Partial(**fields).start()
    run = runs.transition(RunRef(run.workspace, run.id), Action.CANCEL, NOW)
    label_all(client, run, failing=4, number=30)
    assert column_of(client, run)["correctedPassRate"]["rate"] == pytest.approx(26 / 30)
