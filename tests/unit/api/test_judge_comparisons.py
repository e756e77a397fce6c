"""Judges that grade labelled transcripts again: compared with people, and with themselves."""

import asyncio
from typing import Any

import pytest

from cupel_core.analysis.judge_accuracy import judge_accuracy
from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.base.messages import RunRef
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.runs.rescoring import phases
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.store import executions
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.labelled import drawn, started

KIND = Assertion("llm-rubric", value="is kind")
LABELLED = 20


def rude_first(index: int) -> Scoring:
    """The run's own judge fails every second answer."""
    passed = index % 2 == 1
    return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), ""),))


@pytest.fixture(autouse=True)
def _no_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_rescore", lambda *_: None)


def labelled_run(client: Client) -> Run:
    """Thirty transcripts, of which people label the first twenty: all but 0, 2 and 4 pass."""
    run = started(
        scenarios=30,
        repeats=1,
        scoring=rude_first,
        content=Content(assertions=(KIND,)),
        answer=lambda index: f"answer {index}.",
    )
    labels = [
        {"probeId": f"{run.id}-{index}", "value": "fail" if index in (0, 2, 4) else "pass"} for index in range(LABELLED)
    ]
    assert client.post(f"/v1/runs/{run.id}/labels/import", {"labels": labels}).status == 200
    return run


@pytest.fixture
def run(client: Client) -> Run:
    return labelled_run(client)


def rescored(client: Client, run: Run, fails: tuple[int, ...], **fields: Any) -> str:
    """The id of a completed rescore whose judge fails these answers."""
    made = client.post(f"/v1/runs/{run.id}/rescores", {"labelled": {}, "judgeAgain": True, **fields})
    assert made.status == 202, made.text
    rescore: str = made.json()["id"]
    judge = ScriptedJudge(passes=lambda text: not any(f"answer {index}." in text for index in fails))
    ref = RunRef(run.workspace, run.id)
    for part in phases.begin(ref, rescore).slices:
        asyncio.run(rescore_slice(ref, rescore, part, lambda: 900.0, judge))
    assert phases.complete(ref, rescore, NOW) == "COMPLETED"
    return rescore


def compared(client: Client, run: Run, *rescores: str) -> Any:
    answer = client.get(f"/v1/runs/{run.id}/judge-comparison", query={"rescoreIds": ",".join(rescores)})
    assert answer.status == 200, answer.text
    return answer.json()


def test_only_labelled_transcripts_are_graded(client: Client, run: Run) -> None:
    rescore = rescored(client, run, fails=(0, 2, 4))
    found = client.get(f"/v1/runs/{run.id}/rescores/{rescore}").json()
    assert found["isPartial"] is True
    assert found["progress"] == {"total": LABELLED, "completed": LABELLED, "failed": 0}
    results = client.get(f"/v1/runs/{run.id}/rescores/{rescore}/results", query={"limit": "100"}).json()["items"]
    assert [each["probeIndex"] for each in results] == list(range(LABELLED))
    (scores,) = client.get(f"/v1/runs/{run.id}/scores", query={"rescoreId": rescore}).json()["models"]
    assert (scores["judged"], scores["successes"], scores["unscored"]) == (20, 17, 0)


def test_a_seed_draws_some_of_them(client: Client, run: Run) -> None:
    def indexes(seed: int) -> list[int]:
        rescore = rescored(client, run, (), labelled={"count": 5, "seed": seed})
        page = client.get(f"/v1/runs/{run.id}/rescores/{rescore}/results").json()
        return [each["probeIndex"] for each in page["items"]]

    first = indexes(1)
    assert (len(first), set(first) <= set(range(LABELLED))) == (5, True)
    assert indexes(1) == first != indexes(2)


def test_the_same_key_with_other_transcripts_is_refused(client: Client, run: Run) -> None:
    key = {"Idempotency-Key": "once"}
    address = f"/v1/runs/{run.id}/rescores"
    first, again = (client.post(address, {"labelled": {"count": 5}}, headers=key).json() for _ in range(2))
    assert first["id"] == again["id"]
    assert client.post(address, {"labelled": {"count": 6}}, headers=key).status == 422


def test_nothing_labelled_and_comparisons_of_answers_are_refused(client: Client, run: Run) -> None:
    address = f"/v1/runs/{run.id}/rescores"
    unlabelled = client.post(address, {"labelled": {"criterion": "llm-rubric"}})
    assert (unlabelled.status, "no transcript has a blind label" in unlabelled.text) == (409, True)
    best = client.post(address, {"labelled": {}, "assertions": [{"type": "max-score"}]})
    assert (best.status, best.fields()) == (422, ["labelled"])


def test_judges_are_compared_side_by_side(client: Client, run: Run) -> None:
    good, poor = rescored(client, run, (0, 2, 4)), rescored(client, run, (0, 1, 3), judgeModel="sim/contrarian")
    found = compared(client, run, good, poor)
    assert found["transcripts"] == LABELLED
    assert [each["rescoreId"] for each in found["judges"]] == [None, good, poor]
    agreement = [each["agreement"]["agreement"]["share"] for each in found["judges"]]
    assert agreement == pytest.approx([13 / 20, 1.0, 16 / 20])
    assert [each["agreement"]["specificity"]["share"] for each in found["judges"]] == pytest.approx([1, 1, 1 / 3])
    assert found["judges"][1]["agreement"]["kappa"] == 1
    assert [each["costUsd"] for each in found["judges"]] == [None, 0.0, 0.0]
    assert (found["bestRescoreId"], found["crossFitAccuracy"]["labels"]) == (good, LABELLED)
    assert 0.8 < found["crossFitAccuracy"]["share"] <= 1


def test_a_judge_that_judges_twice_is_compared_with_itself(client: Client, run: Run) -> None:
    """The run's own judge said otherwise of the seven passes with an even number."""
    again, other = rescored(client, run, (0, 2, 4)), rescored(client, run, (), judgeModel="sim/contrarian")
    own, same, different = compared(client, run, again, other)["judges"]
    assert own["selfConsistency"] == same["selfConsistency"] == pytest.approx(13 / 20)
    assert different["selfConsistency"] is None


def test_only_completed_rescores_of_the_run_are_compared(client: Client, run: Run) -> None:
    pending = client.post(f"/v1/runs/{run.id}/rescores", {"labelled": {}}).json()["id"]
    address = f"/v1/runs/{run.id}/judge-comparison"
    refused = client.get(address, query={"rescoreIds": pending})
    assert (refused.status, "only completed ones are compared" in refused.text) == (409, True)
    assert client.get(address, query={"rescoreIds": "rsc_none"}).status == 404
    assert client.get(address).fields() == ["rescoreIds"]
    codes = {"rescoreIds": rescored(client, run, ()), "criterion": "decision"}
    assert client.get(address, query=codes).fields() == ["criterion"]


def test_a_partial_rescore_corrects_no_rate_and_draws_nothing(client: Client, run: Run) -> None:
    rescore = rescored(client, run, ())
    refused = client.get(f"/v1/runs/{run.id}/calibration", query={"rescoreId": rescore})
    assert (refused.status, refused.fields()) == (422, ["rescoreId"])
    refused = client.post(f"/v1/runs/{run.id}/label-sets", {"rescoreId": rescore})
    assert (refused.status, refused.fields()) == (422, ["rescoreId"])
    assert judge_accuracy(counted_inputs(run, rescore)) == {}


def drift(client: Client, run: Run, rescore: str) -> Any:
    return client.get(f"/v1/runs/{run.id}/rescores/{rescore}/drift")


def test_a_judge_that_flips_in_one_direction_is_stale(client: Client, run: Run) -> None:
    found = drift(client, run, rescored(client, run, (0, 2, 4))).json()
    assert (found["canaries"], found["toFail"], found["isStale"]) == (20, [], True)
    assert found["toPass"] == [f"{run.id}-{index}" for index in range(6, 20, 2)]
    assert found["p"] == pytest.approx(0.5**7)


def test_a_judge_that_says_the_same_has_not_drifted(client: Client, run: Run) -> None:
    fails = tuple(range(0, 30, 2))
    found = drift(client, run, rescored(client, run, fails, labelled={"count": 10, "seed": 3})).json()
    assert (found["canaries"], found["undecided"], found["isStale"]) == (10, 0, False)
    assert (found["toPass"], found["toFail"], found["p"]) == ([], [], 1)


def test_drift_is_found_by_the_same_judge_judging_again(client: Client, run: Run) -> None:
    drawn(client, run, count=3)
    refused = drift(client, run, rescored(client, run, (), judgeAgain=False))
    assert (refused.status, "start one with judgeAgain" in refused.text) == (409, True)
    refused = drift(client, run, rescored(client, run, (), judgeModel="sim/contrarian"))
    assert (refused.status, "the models and settings of the graders differ" in refused.text) == (409, True)


@pytest.mark.parametrize("rescores", ["", "rsc_1,", "x" * 300])
def test_an_id_that_cannot_be_one_is_refused(client: Client, rescores: str) -> None:
    run = started()
    refused = client.get(f"/v1/runs/{run.id}/judge-comparison", query={"rescoreIds": rescores})
    assert (refused.status, refused.fields()[0].split(".")[0]) == (422, "rescoreIds")
