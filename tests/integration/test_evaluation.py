"""Conversations on the whole stack: a scripted agent, a scripted judge, a scripted user."""

import time
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import Json, answers, finished, start, until
from tests.stacks import ModelServer

AGENT, JUDGE, USER = "agent", "judge", "user"
CRITERIA = {"successCriteria": "An appointment is booked.", "failureCriteria": "The agent refuses to help."}
EVALUATED = {"config": {"judgeModel": f"custom/{JUDGE}", "personaModel": f"custom/{USER}"}}


def verdict(*, success: bool = False, failure: bool = False) -> Json:
    return {"successMet": success, "failureMet": failure, "confidence": 0.9, "reasoning": "so it was said"}


def script(*judged: tuple[str, Json], agent: list[Json] | None = None) -> list[Json]:
    """The judge's verdict by what the conversation contains, else neither; the agent asks back until told a day."""
    booking = [
        {"model": AGENT, "contains": "On Tuesday", "reply": "Booked for Tuesday."},
        {"model": AGENT, "reply": "Which day?"},
    ]
    return [
        *({"model": JUDGE, "contains": text, "reply": reply} for text, reply in judged),
        {"model": JUDGE, "reply": verdict()},
        {"model": USER, "reply": {"content": "On Tuesday, please."}},
        *(agent or booking),
    ]


BOOKED = ("Booked for Tuesday.", verdict(success=True))


def define(api: Client, *scenarios: Json, content: Json | None = None) -> tuple[str, list[str]]:
    definition_id = str(api.create_definition({"name": "booking", "content": content or {"system": "Be kind."}})["id"])
    return definition_id, list(api.add_scenarios(definition_id, list(scenarios))["ids"])


def scenario(**fields: Any) -> Json:
    return {"prompt": "I need a haircut.", **CRITERIA, **fields}


def held(api: Client, *scenarios: Json, models: tuple[str, ...] = (f"custom/{AGENT}",), **more: Any) -> list[Json]:
    """The transcripts of a run that has completed."""
    definition_id, _ = define(api, *scenarios)
    run = finished(api, start(api, definition_id, *models, **(EVALUATED | more)))
    assert run["status"] == "COMPLETED", run
    return list(api.transcripts(run["id"]))


def said(transcript: Json, role: str) -> list[str]:
    return [message["content"] for message in transcript["content"]["messages"] if message["role"] == role]


def test_a_conversation_goes_on_in_persona_until_it_succeeds(api: Client, models: ModelServer) -> None:
    models.behave(script=script(BOOKED))
    (transcript,) = held(api, scenario())
    assert said(transcript, "user") == ["I need a haircut.", "On Tuesday, please."]
    assert answers(transcript) == ["Which day?", "Booked for Tuesday."]
    assert (transcript["result"]["success"], transcript["result"]["score"]) == (True, 1.0)
    assert transcript["verdict"]["successMet"] is True


def test_failure_stops_at_once_in_the_mode_every_turn(api: Client, models: ModelServer) -> None:
    models.behave(script=script(("Which day?", verdict(failure=True))))
    (transcript,) = held(api, scenario(failureCriteriaMode="every_turn"))
    assert (len(answers(transcript)), transcript["result"]["success"]) == (1, False)
    assert transcript["scoring"]["tags"] == ["GOAL_MISS"]


def test_an_agent_recovers_from_a_failure_by_default(api: Client, models: ModelServer) -> None:
    models.behave(script=script(BOOKED, ("Which day?", verdict(failure=True))))
    (transcript,) = held(api, scenario())
    assert (len(answers(transcript)), transcript["result"]["success"]) == (2, True)


def test_a_conversation_that_reaches_its_last_message_fails(api: Client, models: ModelServer) -> None:
    models.behave(script=script(agent=[{"model": AGENT, "reply": "I do not know."}]))
    (transcript,) = held(api, scenario(maxMessages=6))
    assert (len(answers(transcript)), transcript["result"]["success"]) == (3, False)


def test_without_a_judge_a_conversation_is_a_single_turn(api: Client, models: ModelServer) -> None:
    models.behave(script=script(BOOKED))
    (transcript,) = held(api, scenario(), config={})
    assert (answers(transcript), transcript["result"], transcript["verdict"]) == (["Which day?"], None, None)


def test_seed_messages_are_the_beginning_of_the_conversation(api: Client, models: ModelServer) -> None:
    models.behave(script=script(BOOKED))
    seed = [
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Good day!"},
        {"role": "user", "content": "On Tuesday I want a haircut."},
    ]
    (transcript,) = held(api, {"messages": seed, **CRITERIA})
    assert answers(transcript) == ["Good day!", "Booked for Tuesday."]
    assert transcript["turnCount"] == 1


def test_each_persona_of_a_scenario_has_a_conversation_of_its_own(api: Client, models: ModelServer) -> None:
    ada = api.keep("personas", {"name": f"Ada {time.time_ns()}", "systemPrompt": "You never say please."})["id"]
    bob = api.keep("personas", {"name": f"Bob {time.time_ns()}", "systemPrompt": "You shout."})["id"]
    shouting = {"model": USER, "contains": "You shout.", "reply": {"content": "ON TUESDAY! On Tuesday!"}}
    models.behave(script=[shouting, *script(BOOKED)])
    found = held(api, scenario(personaIds=[ada, bob]))
    assert [each["personaId"] for each in found] == [ada, bob]
    assert [said(each, "user")[1] for each in found] == ["On Tuesday, please.", "ON TUESDAY! On Tuesday!"]


def test_what_target_judge_and_user_have_used_is_kept_apart(api: Client, models: ModelServer) -> None:
    models.behave(script=script(BOOKED))
    (transcript,) = held(api, scenario())
    assert (transcript["judge"]["calls"], transcript["persona"]["calls"]) == (2, 1)
    assert models.counts()["requests"] == 5
    assert transcript["judge"]["usage"]["inputTokens"] > transcript["usage"]["inputTokens"] > 0


def test_a_judge_that_talks_nonsense_is_an_error_until_it_is_retried(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"model": JUDGE, "reply": "Who can tell?"}, *script()])
    definition_id, _ = define(api, scenario())
    run = finished(api, start(api, definition_id, f"custom/{AGENT}", **EVALUATED))
    (probe,) = api.probes(run["id"])
    assert (run["status"], probe["status"], probe["error"]["code"]) == ("FAILED", "ERROR", "judge_error")
    assert probe["result"] is None
    models.behave(script=script(BOOKED))
    api.retry_run(run["id"])
    run = finished(api, run["id"])
    (again,) = api.probes(run["id"])
    assert (run["status"], again["status"], again["result"]["success"]) == ("COMPLETED", "COMPLETED", True)
    assert again["threadId"] != probe["threadId"]
    assert [attempt["code"] for attempt in again["attempts"]] == ["judge_error"]


def test_a_conversation_goes_on_after_a_pause_where_it_was(api: Client, models: ModelServer) -> None:
    models.behave(script=script(agent=[{"model": AGENT, "reply": "I do not know."}]), latencySeconds=0.4)
    definition_id, _ = define(api, scenario(maxMessages=12))
    run_id = start(api, definition_id, f"custom/{AGENT}", **EVALUATED)
    until(lambda: models.counts()["requests"] >= 5)
    api.pause_run(run_id)
    until(lambda: models.counts()["inFlight"] == 0 and api.run(run_id)["status"] == "PAUSED")
    time.sleep(3)  # What was acknowledged as paused may be known to a worker two seconds later.
    before = models.counts()["requests"]
    assert before < 17
    api.resume_run(run_id)
    run = finished(api, run_id)
    (transcript,) = api.transcripts(run_id)
    calls = transcript["turnCount"] + transcript["judge"]["calls"] + transcript["persona"]["calls"]
    assert (run["status"], transcript["turnCount"], calls) == ("COMPLETED", 6, 17)
    # Every answer was kept as it came: nothing was asked twice.
    assert models.counts()["requests"] == 17


def test_assertions_are_part_of_the_result(api: Client, models: ModelServer) -> None:
    models.behave(script=script(BOOKED))
    passing = scenario(assertions=[{"type": "icontains", "value": "BOOKED"}, {"type": "not-contains", "value": "x"}])
    failing = scenario(assertions=[{"type": "is-json", "metric": "format"}])
    first, second = held(api, passing, failing)
    assert (first["result"]["success"], first["result"]["score"]) == (True, 1.0)
    assert (second["result"]["success"], second["result"]["score"]) == (False, 0.5)
    assert second["scoring"]["tags"] == ["FORMAT_ERROR"]
    assert second["scoring"]["metrics"] == {"format": 0.0}


def test_a_rubric_is_judged_by_the_runs_judge(api: Client, models: ModelServer) -> None:
    graded = {"pass": True, "score": 0.8, "reason": "polite enough"}
    models.behave(script=[{"model": JUDGE, "contains": "is polite", "reply": graded}, *script(BOOKED)])
    rubric = {"type": "llm-rubric", "value": "the answer is polite", "threshold": 0.5}
    (transcript,) = held(api, {"prompt": "On Tuesday", "assertions": [rubric]})
    assert (transcript["result"]["success"], transcript["result"]["score"]) == (True, 0.8)


def test_an_assertion_that_cannot_be_computed_is_no_failure(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"model": JUDGE, "reply": "hm"}, *script()])
    (transcript,) = held(api, {"prompt": "Hello", "assertions": [{"type": "llm-rubric", "value": "is polite"}]})
    assert (transcript["result"], transcript["scoring"]["success"]) == (None, None)
    assert transcript["scoring"]["results"][0]["error"]


@pytest.fixture
def connector(api: Client, models: ModelServer) -> str:
    """The model server as somebody's agent: an endpoint that takes and gives JSON of its own."""
    config = {
        "path": "/chat/completions",
        "request": "{model: 'agent', messages: messages}",
        "reply": "choices[0].message.content",
    }
    body = {"name": f"agent {time.time_ns()}", "type": "http", "baseUrl": f"{models.url}/v1", "config": config}
    return str(api.keep("connectors", body)["id"])


def test_an_eval_of_an_agent_runs_its_scenarios(api: Client, models: ModelServer, connector: str) -> None:
    models.behave(script=script(BOOKED))
    _, ids = define(api, scenario(), scenario(prompt="On Tuesday?"), content={"matchingRules": [{"any": "thing"}]})
    body = {"name": f"eval {time.time_ns()}", "connectorId": connector, "scenarioIds": ids, **EVALUATED["config"]}
    eval_id = str(api.keep("evals", body)["id"])
    started = api.run_eval(eval_id)
    run = finished(api, started["run"]["id"])
    assert (run["status"], started["jobCount"]) == ("COMPLETED", 2)
    found = list(api.transcripts(run["id"]))
    assert [each["result"]["success"] for each in found] == [True, True]
    assert {each["modelId"] for each in found} == {f"connector/{connector}"}
    assert api.run_eval(eval_id)["run"]["executionId"] == run["executionId"] + 1


def test_the_playground_tries_an_agent(api: Client, models: ModelServer, connector: str) -> None:
    models.behave(script=script(BOOKED))
    _, ids = define(api, scenario())
    started = api.try_out({"scenarioId": ids[0], "connectorId": connector, **EVALUATED})
    run = finished(api, started["run"]["id"])
    (probe,) = api.all_probes(scenarioId=ids[0])
    assert (run["status"], run["playground"], probe["result"]["success"]) == ("COMPLETED", True, True)
    assert [message["role"] for message in probe["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert probe["latencyMs"] >= 0


def test_an_agent_that_is_away_is_an_error_of_the_probe(api: Client, models: ModelServer) -> None:
    body = {"name": f"gone {time.time_ns()}", "type": "http", "baseUrl": "http://127.0.0.1:9"}
    config = {"request": "{text: message}", "reply": "text"}
    gone = str(api.keep("connectors", {**body, "config": config})["id"])
    definition_id, _ = define(api, {"prompt": "Hello?"})
    run = finished(api, start(api, definition_id, f"connector/{gone}"), seconds=90)
    (probe,) = api.probes(run["id"])
    assert (run["status"], probe["error"]["code"]) == ("FAILED", "network")
