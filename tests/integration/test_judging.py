"""Decisions of a judge model, in the finishing workflow."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import create_definition, evaluate
from tests.stacks import ModelServer

JUDGED = {"decision": {"rubric": "1 is never, 5 is always.", "judgeModel": "custom/judge"}}
JUDGING = "1 is never, 5 is always."
FUNCTION = "cupel-finish"
SHORT_TIMEOUT = 130
"""Judge calls start in the first 5 s of an invocation only: one may take 120 s, and 5 s are for storing results."""


@pytest.fixture
def short_invocations(aws: Callable[[str], Any]) -> Iterator[None]:
    client = aws("lambda")
    timeout = client.get_function_configuration(FunctionName=FUNCTION)["Timeout"]
    client.update_function_configuration(FunctionName=FUNCTION, Timeout=SHORT_TIMEOUT)
    yield
    client.update_function_configuration(FunctionName=FUNCTION, Timeout=timeout)


def slice_outputs(step_functions: Any, run_id: str) -> list[dict[str, Any]]:
    """What the tasks of the run's slices have returned, in order."""
    machines = step_functions.list_state_machines()["stateMachines"]
    (machine,) = (each["stateMachineArn"] for each in machines if each["name"] == FUNCTION)
    execution = f"{machine.replace(':stateMachine:', ':execution:')}:{run_id}-1"
    history = step_functions.get_execution_history(executionArn=execution, maxResults=1_000)["events"]
    outputs = (
        json.loads(each["taskSucceededEventDetails"]["output"]) for each in history if each["type"] == "TaskSucceeded"
    )
    return [output for output in outputs if "again" in output]


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
    assert transcript["summaryError"] == (
        "the judge custom/judge gave no usable reply, even after a repair request: "
        'it has no JSON object; it said "Not JSON"'
    )


def test_a_rejected_judge_key_is_recorded_on_the_transcript(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": JUDGING, "reply": "the key is not known", "status": 401}])
    run = evaluate(api, create_definition(api, 1, JUDGED), "sim/steady")
    transcript = next(api.list_transcripts(run["id"]))
    assert (run["status"], transcript["decisionCode"]) == ("COMPLETED", "other")
    assert "the key is not known" in transcript["summaryError"]


@pytest.mark.usefixtures("short_invocations")
def test_judging_continues_in_further_invocations(api: Client, models: ModelServer, aws: Callable[[str], Any]) -> None:
    api.update_provider("custom", {"maxParallelRequests": 5})
    verdict = {"decisionCode": "2", "decisionText": "It is rare."}
    models.configure(script=[{"contains": JUDGING, "reply": verdict}], latencySeconds=1)
    run = evaluate(api, create_definition(api, 40, JUDGED), "sim/steady")
    decisions = [transcript["decisionCode"] for transcript in api.list_transcripts(run["id"])]
    assert (run["status"], decisions) == ("COMPLETED", ["2"] * 40)
    assert sorted(models.counts()["prompts"].values()) == [1] * 40
    outputs = slice_outputs(aws("stepfunctions"), run["id"])
    assert [output["again"] for output in outputs] == [True] * (len(outputs) - 1) + [False]
    assert len(outputs) > 1
