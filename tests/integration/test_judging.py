"""Decisions of a judge model, in the finishing workflow."""

from cupel.client import Client
from tests.eval_api import create_definition, evaluate
from tests.stacks import ModelServer

JUDGED = {"decision": {"rubric": "1 is never, 5 is always.", "judgeModel": "custom/judge"}}
JUDGING = "1 is never, 5 is always."


def test_a_judge_decides_every_transcript(api: Client, models: ModelServer) -> None:
    verdict = {"decisionCode": "4", "decisionText": "It mostly agrees."}
    models.configure(script=[{"contains": JUDGING, "reply": verdict}, {"contains": "", "reply": "Mostly, yes."}])
    run = evaluate(api, create_definition(api, 120, JUDGED), "custom/bench")
    decisions = {
        (transcript["decisionCode"], transcript["decisionText"]) for transcript in api.list_transcripts(run["id"])
    }
    assert (run["status"], decisions) == ("COMPLETED", {("4", "It mostly agrees.")})


def test_each_transcript_is_judged_once(api: Client, models: ModelServer) -> None:
    verdict = {"decisionCode": "1", "decisionText": "It refuses."}
    models.configure(script=[{"contains": JUDGING, "reply": verdict}])
    evaluate(api, create_definition(api, 20, JUDGED), "sim/steady")
    assert sorted(models.counts()["prompts"].values()) == [1] * 20


def test_an_invalid_judge_reply_does_not_fail_the_run(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": JUDGING, "reply": "Not JSON"}])
    run = evaluate(api, create_definition(api, 3, JUDGED), "sim/steady")
    assert (run["status"], run["progress"]["completed"], run["failure"]) == ("COMPLETED", 3, None)


def test_an_invalid_judge_reply_is_recorded_on_the_transcript(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": JUDGING, "reply": "Not JSON"}])
    run = evaluate(api, create_definition(api, 1, JUDGED), "sim/steady")
    transcript = next(api.list_transcripts(run["id"]))
    assert (transcript["decisionCode"], transcript["summarizedAt"] is not None) == ("other", True)
    assert transcript["summaryError"] == "the judge custom/judge gave no valid reply, even after a repair request"


def test_a_rejected_judge_key_is_recorded_on_the_transcript(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": JUDGING, "reply": "the key is not known", "status": 401}])
    run = evaluate(api, create_definition(api, 1, JUDGED), "sim/steady")
    transcript = next(api.list_transcripts(run["id"]))
    assert (run["status"], transcript["decisionCode"]) == ("COMPLETED", "other")
    assert "the key is not known" in transcript["summaryError"]
