"""Calibrations over HTTP: what follows from the labels of a run."""

from typing import Any

import pytest

from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.scoring import build_scoring
from cupel_core.store import executions
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.labelled import drawn, judged, started


@pytest.fixture(autouse=True)
def _no_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_rescore", lambda *_: None)


@pytest.fixture
def run(client: Client) -> Run:
    """Forty scenarios, once each; the judge fails every fourth, and cannot decide one."""
    return started(scenarios=40, repeats=1)


def label_all(client: Client, run: Run, wrong: int = 0, **fields: Any) -> None:
    """Label each transcript as the judge does, but the first passes of the judge as failures."""
    labels = []
    for index in range(run.plan.total):
        passed = bool(judged(index).success)
        if passed and wrong > 0:
            wrong, passed = wrong - 1, False
        labels.append({"probeId": f"{run.id}-{index}", "value": "pass" if passed else "fail", **fields})
    answer = client.post(f"/v1/runs/{run.id}/labels/import", {"labels": labels})
    assert answer.status == 200, answer.text


def calibration(client: Client, run: Run, **query: str) -> Any:
    answer = client.get(f"/v1/runs/{run.id}/calibration", query=query)
    assert answer.status == 200, answer.text
    return answer.json()


def planned(client: Client, run: Run, width: str) -> Any:
    (column,) = client.get(f"/v1/runs/{run.id}/label-plan", query={"halfWidth": width}).json()["columns"]
    return column


def test_labels_are_planned_before_the_first_one(client: Client) -> None:
    column = planned(client, started(scenarios=100, repeats=1), "0.15")
    assert 20 <= column["labels"] < 100
    assert (column["targetId"], column["hasRepeats"]) == ("sim/steady", False)


def test_a_narrow_interval_takes_more_scenarios(client: Client, run: Run) -> None:
    label_all(client, run, wrong=4)
    column = planned(client, run, "0.01")
    assert column["labels"] is None
    assert 0.1 < column["leastHalfWidth"] < 0.2


@pytest.mark.parametrize("width", ["0", "0.5", "-0.1"])
def test_a_half_width_is_between_0_and_a_half(client: Client, run: Run, width: str) -> None:
    refused = client.get(f"/v1/runs/{run.id}/label-plan", query={"halfWidth": width})
    assert (refused.status, refused.fields()) == (422, ["halfWidth"])


def coded(scenarios: int) -> Run:
    """A run whose every transcript has the code 4."""
    summary = Summary("4", "Grants the refund.", NOW)
    return started(scenarios=scenarios, repeats=1, scoring=lambda _: build_scoring(None, None, ()), summary=summary)


def give_codes(client: Client, run: Run, codes: list[str], labeller: str = "ana") -> None:
    labels = [{"probeId": f"{run.id}-{index}", "value": code, "labeller": labeller} for index, code in enumerate(codes)]
    answer = client.post(f"/v1/runs/{run.id}/labels/import", {"criterion": "decision", "labels": labels})
    assert answer.status == 200, answer.text


def test_the_mean_of_codes_is_corrected(client: Client) -> None:
    run = coded(40)
    give_codes(client, run, ["4", "3"] * 15)
    found = calibration(client, run, criterion="decision")
    assert found["columns"] == []
    (column,) = found["codes"]
    assert (column["transcripts"], column["agreement"]["share"], column["kappa"]) == (30, 0.5, 0)
    assert (column["mean"], column["judgeMean"], column["labelsOnlyMean"]) == (3.5, 4.0, 3.5)
    low, high = column["interval95"]
    assert 3.2 < low < 3.5 < high < 3.8
    assert found["disagreements"][0] == {"probeId": f"{run.id}-1", "verdict": "4", "label": "3"}


def test_the_mean_of_codes_takes_30_scenarios(client: Client) -> None:
    run = coded(31)
    give_codes(client, run, ["4"] * 29 + ["skip"])
    (column,) = calibration(client, run, criterion="decision")["codes"]
    assert (column["skipped"], column["kappa"], column["mean"]) == (1, None, None)
    assert (column["reason"], column["labelsNeeded"]) == ("TOO_FEW_LABELS", 30)


def test_codes_of_several_people_are_averaged(client: Client) -> None:
    run = coded(30)
    give_codes(client, run, ["4"] * 30)
    give_codes(client, run, ["2"] * 3, "ben")
    found = calibration(client, run, criterion="decision")
    assert found["codes"][0]["mean"] == pytest.approx((27 * 4 + 3 * 3) / 30)
    assert found["codes"][0]["agreement"]["share"] == pytest.approx(28.5 / 30)
    assert (found["people"]["transcripts"], found["people"]["ceiling"]["share"]) == (3, 0)
    assert found["conflicts"] == []


def test_labels_of_codes_are_not_planned(client: Client) -> None:
    query = {"criterion": "decision", "halfWidth": "0.1"}
    refused = client.get(f"/v1/runs/{coded(3).id}/label-plan", query=query)
    assert (refused.status, refused.fields()) == (422, ["criterion"])


def carried(client: Client, run: Run, other: Run, **query: str) -> Any:
    return client.get(f"/v1/runs/{run.id}/calibration", query={"calibrationRun": other.id, **query})


def test_runs_of_the_same_judge_and_rubric_have_one_fingerprint(client: Client, run: Run) -> None:
    found = calibration(client, run)["fingerprint"]
    assert len(found) == 32
    assert calibration(client, started(scenarios=3))["fingerprint"] == found
    other = started(scenarios=3, grader_config=GraderConfig(judge_model="sim/other"))
    assert calibration(client, other)["fingerprint"] != found
    drawn(client, run, count=3)
    assert calibration(client, run)["fingerprint"] == found
    drawn(client, run, count=3, instructions="Exact limits only.")
    assert calibration(client, run)["fingerprint"] != found


def test_a_rescore_has_a_fingerprint_of_its_own(client: Client, run: Run) -> None:
    def of_rescore(**overrides: Any) -> str:
        made = client.post(f"/v1/runs/{run.id}/rescores", overrides).json()
        found: str = calibration(client, run, rescoreId=made["id"])["fingerprint"]
        return found

    own = calibration(client, run)["fingerprint"]
    assert of_rescore() == own
    others = {
        of_rescore(judgeModel="sim/contrarian"),
        of_rescore(assertions=[{"type": "contains", "value": "yes"}]),
        of_rescore(criteria={"success": "It names the limit."}),
    }
    assert len(others | {own}) == 4


def test_errors_of_another_run_correct_a_rate(client: Client, run: Run) -> None:
    """In the other run the judge lets 8 of 24 failures pass and fails no pass; here it lets 29 of 40 pass."""
    other = started(scenarios=60, repeats=1)
    label_all(client, other, wrong=8)
    few = {"labels": [{"probeId": f"{run.id}-{index}", "value": "pass"} for index in (1, 2)]}
    client.post(f"/v1/runs/{run.id}/labels/import", few)
    (column,) = carried(client, run, other).json()["columns"]
    assert (column["corrected"]["reason"], column["corrected"]["labelsNeeded"]) == ("UNCALIBRATED_TARGET", 20)
    label_all(client, run, wrong=4)
    found = carried(client, run, other).json()
    assert found["calibrationRun"] == other.id
    corrected = found["columns"][0]["corrected"]
    assert corrected["method"] == "CARRIED"
    assert corrected["rate"] == pytest.approx((29 / 40 + 16 / 24 - 1) / (16 / 24))
    assert corrected["interval95"][0] < corrected["lowerBound"] < corrected["rate"] < corrected["judgeRate"]
    weak = carried(client, run, other, confidence="0.6").json()["columns"][0]["corrected"]
    assert corrected["lowerBound"] < weak["lowerBound"] < weak["rate"]
    assert corrected["labelsOnly"]["labels"] == 40


def test_fresh_labels_that_contradict_the_other_run_refuse_its_errors(client: Client, run: Run) -> None:
    other = started(scenarios=60, repeats=1)
    label_all(client, other)
    label_all(client, run, wrong=25)
    (column,) = carried(client, run, other).json()["columns"]
    assert column["corrected"]["reason"] == "CALIBRATION_DIFFERS"


def test_a_target_that_the_other_run_does_not_have_is_uncalibrated(client: Client, run: Run) -> None:
    other = started(scenarios=60, repeats=1, models=("sim/bold",))
    label_all(client, other, wrong=8)
    label_all(client, run, wrong=4)
    (column,) = carried(client, run, other).json()["columns"]
    assert column["corrected"]["reason"] == "UNCALIBRATED_TARGET"


def test_errors_of_another_judge_are_refused_with_what_differs(client: Client, run: Run) -> None:
    other = started(scenarios=3, grader_config=GraderConfig(judge_model="sim/other"))
    refused = carried(client, run, other)
    assert refused.status == 409
    assert "the models and settings of the graders differ" in refused.json()["detail"]


def test_errors_are_carried_from_another_run_of_the_workspace(client: Client, run: Run) -> None:
    assert carried(client, run, run).fields() == ["calibrationRun"]
    other = started(scenarios=3, workspace="globex")
    assert carried(client, run, other).status == 404
    assert carried(client, run, started(scenarios=3), criterion="decision").fields() == ["calibrationRun"]
