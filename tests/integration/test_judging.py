"""Decisions that a judge model makes, in the finishing workflow."""

from cupel.client import Client
from tests.eval_api import define, evaluate
from tests.stacks import ModelServer

JUDGED = {"decision": {"rubric": "1 is never, 5 is always.", "judgeModel": "custom/judge"}}
JUDGING = "1 is never, 5 is always."


def test_a_judge_decides_every_transcript(api: Client, models: ModelServer) -> None:
    verdict = {"decisionCode": "4", "decisionText": "It mostly agrees."}
    models.behave(script=[{"contains": JUDGING, "reply": verdict}, {"contains": "", "reply": "Mostly, yes."}])
    run = evaluate(api, define(api, 120, JUDGED), "custom/bench")
    told = {(each["decisionCode"], each["decisionText"]) for each in api.transcripts(run["id"])}
    assert (run["status"], told) == ("COMPLETED", {("4", "It mostly agrees.")})


def test_a_judge_reads_each_transcript_once(api: Client, models: ModelServer) -> None:
    verdict = {"decisionCode": "1", "decisionText": "It refuses."}
    models.behave(script=[{"contains": JUDGING, "reply": verdict}])
    evaluate(api, define(api, 20, JUDGED), "sim/steady")
    assert sorted(models.counts()["prompts"].values()) == [1] * 20


def test_a_judge_that_answers_nonsense_does_not_fail_the_run(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"contains": JUDGING, "reply": "Well, who can tell?"}])
    run = evaluate(api, define(api, 3, JUDGED), "sim/steady")
    assert (run["status"], run["progress"]["completed"], run["failure"]) == ("COMPLETED", 3, None)


def test_a_judge_that_answers_nonsense_is_recorded_on_the_transcript(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"contains": JUDGING, "reply": "Well, who can tell?"}])
    run = evaluate(api, define(api, 1, JUDGED), "sim/steady")
    told = next(api.transcripts(run["id"]))
    assert (told["decisionCode"], told["summarizedAt"] is not None) == ("other", True)
    assert told["summaryError"] == "custom/judge gave no valid answer, also when asked again"


def test_a_judge_that_is_refused_is_recorded_on_the_transcript(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"contains": JUDGING, "reply": "the key is not known", "status": 401}])
    run = evaluate(api, define(api, 1, JUDGED), "sim/steady")
    told = next(api.transcripts(run["id"]))
    assert (run["status"], told["decisionCode"]) == ("COMPLETED", "other")
    assert "the key is not known" in told["summaryError"]
