"""Rescores of a run, select-best comparisons, and scores of repeats, on a complete stack."""

from typing import Any

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import Json, start_run, wait_for_end, wait_until
from tests.stacks import ModelServer

TERMINAL = ("COMPLETED", "FAILED")


def completed_run(api: Client, *scenarios: Json, targets: tuple[str, ...] = ("custom/agent",), **more: Any) -> Json:
    definition_id = str(api.create_definition({"name": "scored", "content": {"system": "Be kind."}})["id"])
    api.create_scenarios(definition_id, list(scenarios))
    run = wait_for_end(api, start_run(api, definition_id, *targets, **more))
    assert run["status"] == "COMPLETED", run
    return run


def run_rescore(api: Client, run_id: str, overrides: Json | None = None) -> tuple[Json, list[Json]]:
    """The finished rescore and its results."""
    rescore_id = str(api.create_rescore(run_id, overrides)["id"])

    def ended() -> Json | None:
        rescore = api.get_rescore(run_id, rescore_id)
        return rescore if rescore["status"] in TERMINAL else None

    rescore = wait_until(ended, 60) or {}
    return rescore, list(api.list_rescore_results(run_id, rescore_id))


def test_a_rescore_with_other_assertions_leaves_transcripts_unchanged(api: Client, models: ModelServer) -> None:
    models.configure(answer="It is sunny.")
    scenario = {"prompt": "Weather?", "assertions": [{"type": "contains", "value": "sunny"}]}
    run = completed_run(api, *[scenario] * 3)
    before, calls = list(api.list_transcripts(run["id"])), models.counts()["requests"]
    rescore, results = run_rescore(api, run["id"], {"assertions": [{"type": "contains", "value": "rain"}]})
    assert (rescore["status"], rescore["progress"]) == ("COMPLETED", {"total": 3, "completed": 3, "failed": 0})
    assert [transcript["scoring"]["success"] for transcript in results] == [False] * 3
    after = [transcript | {"lastAccessedAt": None} for transcript in api.list_transcripts(run["id"])]
    assert after == [transcript | {"lastAccessedAt": None} for transcript in before]
    assert models.counts()["requests"] == calls
    assert [transcript["id"] for transcript in api.list_rescores(run["id"])] == [rescore["id"]]


def test_a_rescore_repairs_verdicts_that_the_judge_did_not_give(api: Client, models: ModelServer) -> None:
    verdict: Json = {"successMet": True, "failureMet": False, "confidence": 1, "reasoning": "by the reply"}
    models.configure(script=[{"model": "judge", "reply": "Not JSON"}, {"model": "agent", "reply": "Hello."}])
    scenario = {"prompt": "Hi", "successCriteria": "it greets", "maxMessages": 2}
    run = completed_run(api, scenario, config={"judgeModel": "custom/judge"})
    (transcript,) = api.list_transcripts(run["id"])
    (result,) = transcript["scoring"]["results"]
    unusable = {"problem": "it has no JSON object", "reply": "Not JSON"}
    assert (transcript["result"], result["passed"], result["unusableReply"]) == (None, None, unusable)
    models.configure(script=[{"model": "judge", "reply": verdict}])
    _, (repaired,) = run_rescore(api, run["id"])
    assert repaired["scoring"]["success"] is True


def test_a_rescore_with_another_judge_repeats_the_verdicts(api: Client, models: ModelServer) -> None:
    verdict: Json = {"failureMet": False, "confidence": 1, "reasoning": "by the reply"}
    script = [
        {"model": "strict", "reply": {"successMet": False, **verdict}},
        {"model": "mild", "reply": {"successMet": True, **verdict}},
        {"model": "agent", "reply": "Hello."},
    ]
    models.configure(script=script)
    scenario = {"prompt": "Hi", "successCriteria": "it greets", "maxMessages": 2}
    run = completed_run(api, scenario, config={"judgeModel": "custom/mild"})
    assert next(api.list_transcripts(run["id"]))["result"]["success"] is True
    _, (result,) = run_rescore(api, run["id"], {"judgeModel": "custom/strict"})
    assert (result["scoring"]["success"], result["verdict"]["successMet"]) == (False, False)
    assert models.counts()["requests"] == 3
    assert next(api.list_transcripts(run["id"]))["result"]["success"] is True


def test_a_failing_judge_gives_a_rescore_with_errors(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"model": "judge", "reply": "hm"}, {"model": "agent", "reply": "Hello."}])
    run = completed_run(api, {"prompt": "Hi"}, config={"judgeModel": "custom/judge"})
    rubric = {"type": "llm-rubric", "value": "it is polite"}
    rescore, (result,) = run_rescore(api, run["id"], {"assertions": [rubric]})
    assert (rescore["status"], rescore["progress"]["failed"]) == ("FAILED", 1)
    assert result["scoring"]["success"] is None


def test_a_rescore_that_its_budget_stops_grades_the_rest_with_a_greater_one(api: Client, models: ModelServer) -> None:
    """Each call sets aside 4,096 tokens of output at $1,000 per million, $4.10, and then costs some cents."""
    models.configure(
        script=[{"model": "judge", "reply": {"pass": True, "score": 1, "reason": "it is"}}], answer="Hello."
    )
    run = completed_run(api, *[{"prompt": f"Hi {number}"} for number in range(6)])
    prices = [{"model": None, "inputUsdPerMillion": 0.0, "outputUsdPerMillion": 1_000.0}]
    api.update_provider("custom", {"prices": prices, "maxParallelRequests": 2})
    try:
        before = models.counts()
        criteria = {"assertions": [{"type": "llm-rubric", "value": "it is polite"}], "judgeModel": "custom/judge"}
        stopped, graded = run_rescore(api, run["id"], {**criteria, "maxBudgetUsd": 4.14})
        assert (stopped["status"], stopped["failure"]["where"]) == ("FAILED", "budget")
        assert 1 <= len(graded) < 6
        api.update_rescore_budget(run["id"], stopped["id"], 20.0)
        raised = wait_until(lambda: _ended_rescore(api, run["id"], stopped["id"], "COMPLETED"), 60) or {}
        after = models.counts()
    finally:
        api.update_provider("custom", {"prices": None})
    assert raised["progress"] == {"total": 6, "completed": 6, "failed": 0}
    assert after["requests"] - before["requests"] == 6
    bill = (after["outputTokens"] - before["outputTokens"]) * 1_000.0 / 1_000_000
    assert raised["budget"]["spentUsd"] == pytest.approx(bill)


def _ended_rescore(api: Client, run_id: str, rescore_id: str, status: str) -> Json | None:
    rescore = api.get_rescore(run_id, rescore_id)
    return rescore if rescore["status"] == status else None


def test_an_unfinished_run_cannot_be_rescored(api: Client, models: ModelServer) -> None:
    models.configure(latencySeconds=2)
    definition_id = str(api.create_definition({"name": "slow", "content": {"system": "Be kind."}})["id"])
    api.create_scenarios(definition_id, [{"prompt": "Hi"}])
    run_id = start_run(api, definition_id, "custom/agent")
    with pytest.raises(ApiProblem) as error:
        api.create_rescore(run_id)
    assert error.value.status == 409
    wait_for_end(api, run_id)


def test_the_best_of_several_targets_is_selected_with_one_call(api: Client, models: ModelServer) -> None:
    chosen = {"model": "judge", "reply": {"index": 1, "reason": "it says more"}}
    models.configure(
        script=[chosen, {"model": "terse", "reply": "No."}, {"model": "wordy", "reply": "It rains all day."}]
    )
    scenario = {"prompt": "Weather?", "assertions": [{"type": "select-best", "value": "says the most"}]}
    run = completed_run(api, scenario, targets=("custom/terse", "custom/wordy"), config={"judgeModel": "custom/judge"})
    transcripts = {transcript["modelId"]: transcript for transcript in api.list_transcripts(run["id"])}
    results = {model: transcript["result"]["success"] for model, transcript in transcripts.items()}
    assert sorted(results.values()) == [False, True]
    assert models.counts()["requests"] == 3


def test_scores_of_repeats_have_standard_errors(api: Client, models: ModelServer) -> None:
    models.configure(answer="It is sunny.")
    sunny, rainy = ({"prompt": word, "assertions": [{"type": "contains", "value": word}]} for word in ("sunny", "rain"))
    run = completed_run(api, sunny, rainy, repeats=3)
    (model,) = api.get_run_scores(run["id"], k=2)["models"]
    assert (model["judged"], model["successes"], model["mean"]) == (6, 3, 0.5)
    assert (model["passAtK"], model["passHatK"]) == (0.5, 0.5)
    assert model["standardError"] == pytest.approx(
        0.5
    )  # Two scenarios without variance between repeats count as two trials.
    rows = list(api.list_scenario_scores(run["id"], k=2))
    assert [(row["judged"], row["successes"], row["passAtK"]) for row in rows] == [(3, 3, 1.0), (3, 0, 0.0)]
