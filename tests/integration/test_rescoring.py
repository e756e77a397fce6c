"""Scoring a run anew, comparing its targets, and the figures of repeats, on the whole stack."""

from typing import Any

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import Json, finished, start, until
from tests.stacks import ModelServer

ENDED = ("COMPLETED", "FAILED")


def run_of(api: Client, *scenarios: Json, targets: tuple[str, ...] = ("custom/agent",), **more: Any) -> Json:
    definition_id = str(api.create_definition({"name": "scored", "content": {"system": "Be kind."}})["id"])
    api.add_scenarios(definition_id, list(scenarios))
    run = finished(api, start(api, definition_id, *targets, **more))
    assert run["status"] == "COMPLETED", run
    return run


def rescored(api: Client, run_id: str, otherwise: Json | None = None) -> tuple[Json, list[Json]]:
    """The new scoring at its end, and what it says of each probe."""
    scoring_id = str(api.rescore(run_id, otherwise)["id"])

    def ended() -> Json | None:
        scoring = api.scoring(run_id, scoring_id)
        return scoring if scoring["status"] in ENDED else None

    scoring = until(ended, 60) or {}
    return scoring, list(api.scoring_results(run_id, scoring_id))


def test_other_assertions_make_a_new_scoring_and_the_old_one_stays(api: Client, models: ModelServer) -> None:
    models.behave(answer="It is sunny.")
    scenario = {"prompt": "Weather?", "assertions": [{"type": "contains", "value": "sunny"}]}
    run = run_of(api, *[scenario] * 3)
    before, calls = list(api.transcripts(run["id"])), models.counts()["requests"]
    scoring, results = rescored(api, run["id"], {"assertions": [{"type": "contains", "value": "rain"}]})
    assert (scoring["status"], scoring["progress"]) == ("COMPLETED", {"total": 3, "scored": 3, "errors": 0})
    assert [each["scoring"]["success"] for each in results] == [False] * 3
    after = [each | {"lastAccessedAt": None} for each in api.transcripts(run["id"])]
    assert after == [each | {"lastAccessedAt": None} for each in before]
    assert models.counts()["requests"] == calls
    assert [each["id"] for each in api.scorings(run["id"])] == [scoring["id"]]


def test_another_judge_takes_the_verdicts_again(api: Client, models: ModelServer) -> None:
    verdict: Json = {"failureMet": False, "confidence": 1, "reasoning": "so it seems"}
    script = [
        {"model": "strict", "reply": {"successMet": False, **verdict}},
        {"model": "mild", "reply": {"successMet": True, **verdict}},
        {"model": "agent", "reply": "Hello."},
    ]
    models.behave(script=script)
    scenario = {"prompt": "Hi", "successCriteria": "it greets", "maxMessages": 2}
    run = run_of(api, scenario, config={"judgeModel": "custom/mild"})
    assert next(api.transcripts(run["id"]))["result"]["success"] is True
    _, (result,) = rescored(api, run["id"], {"judgeModel": "custom/strict"})
    assert (result["scoring"]["success"], result["verdict"]["successMet"]) == (False, False)
    assert models.counts()["requests"] == 3
    assert next(api.transcripts(run["id"]))["result"]["success"] is True


def test_a_judge_that_fails_leaves_a_scoring_with_errors_and_no_failures(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"model": "judge", "reply": "hm"}, {"model": "agent", "reply": "Hello."}])
    run = run_of(api, {"prompt": "Hi"}, config={"judgeModel": "custom/judge"})
    rubric = {"type": "llm-rubric", "value": "it is polite"}
    scoring, (result,) = rescored(api, run["id"], {"assertions": [rubric]})
    assert (scoring["status"], scoring["progress"]["errors"]) == ("COMPLETED", 1)
    assert result["scoring"]["success"] is None


def test_a_run_that_is_not_over_is_not_rescored(api: Client, models: ModelServer) -> None:
    models.behave(latencySeconds=2)
    definition_id = str(api.create_definition({"name": "slow", "content": {"system": "Be kind."}})["id"])
    api.add_scenarios(definition_id, [{"prompt": "Hi"}])
    run_id = start(api, definition_id, "custom/agent")
    with pytest.raises(ApiProblem) as refused:
        api.rescore(run_id)
    assert refused.value.status == 409
    finished(api, run_id)


def test_the_best_of_several_targets_is_chosen_once(api: Client, models: ModelServer) -> None:
    chosen = {"model": "judge", "reply": {"index": 1, "reason": "it says more"}}
    models.behave(script=[chosen, {"model": "terse", "reply": "No."}, {"model": "wordy", "reply": "It rains all day."}])
    scenario = {"prompt": "Weather?", "assertions": [{"type": "select-best", "value": "says the most"}]}
    run = run_of(api, scenario, targets=("custom/terse", "custom/wordy"), config={"judgeModel": "custom/judge"})
    found = {each["modelId"]: each for each in api.transcripts(run["id"])}
    results = {model: each["result"]["success"] for model, each in found.items()}
    assert sorted(results.values()) == [False, True]
    assert models.counts()["requests"] == 3


def test_repeats_are_told_with_their_errors(api: Client, models: ModelServer) -> None:
    models.behave(answer="It is sunny.")
    sunny, rainy = ({"prompt": word, "assertions": [{"type": "contains", "value": word}]} for word in ("sunny", "rain"))
    run = run_of(api, sunny, rainy, repeats=3)
    (model,) = api.scores(run["id"], k=2)["models"]
    assert (model["judged"], model["successes"], model["mean"]) == (6, 3, 0.5)
    assert (model["passAtK"], model["passHatK"]) == (0.5, 0.5)
    assert model["standardError"] == pytest.approx(0.5)  # Two scenarios that each answered alike: as two trials.
    rows = list(api.scenario_scores(run["id"], k=2))
    assert [(row["judged"], row["successes"], row["passAtK"]) for row in rows] == [(3, 3, 1.0), (3, 0, 0.0)]
