"""Conversations on a complete stack, with a scripted agent, judge and user."""

import time
from typing import Any

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import Json, assistant_messages, start_run, wait_for_end, wait_until
from tests.stacks import ModelServer

AGENT, JUDGE, USER = "agent", "judge", "user"
CRITERIA = {"successCriteria": "An appointment is booked.", "failureCriteria": "The agent refuses to help."}
JUDGED = {"config": {"judgeModel": f"custom/{JUDGE}", "personaModel": f"custom/{USER}"}}


def verdict(*, success: bool = False, failure: bool = False) -> Json:
    return {"successMet": success, "failureMet": failure, "confidence": 0.9, "reasoning": "by the conversation"}


def script(*judged: tuple[str, Json], agent: list[Json] | None = None) -> list[Json]:
    """The judge's verdict depends on the text of the conversation; the agent asks for the day until it is given."""
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
    return definition_id, list(api.create_scenarios(definition_id, list(scenarios))["ids"])


def scenario(**fields: Any) -> Json:
    return {"prompt": "I need a haircut.", **CRITERIA, **fields}


def run_transcripts(
    api: Client, *scenarios: Json, models: tuple[str, ...] = (f"custom/{AGENT}",), **more: Any
) -> list[Json]:
    """The transcripts of a completed run."""
    definition_id, _ = define(api, *scenarios)
    run = wait_for_end(api, start_run(api, definition_id, *models, **(JUDGED | more)))
    assert run["status"] == "COMPLETED", run
    return list(api.list_transcripts(run["id"]))


def contents(transcript: Json, role: str) -> list[str]:
    return [message["content"] for message in transcript["content"]["messages"] if message["role"] == role]


def test_the_simulated_user_replies_until_the_conversation_succeeds(api: Client, models: ModelServer) -> None:
    models.configure(script=script(BOOKED))
    (transcript,) = run_transcripts(api, scenario())
    assert contents(transcript, "user") == ["I need a haircut.", "On Tuesday, please."]
    assert assistant_messages(transcript) == ["Which day?", "Booked for Tuesday."]
    assert (transcript["result"]["success"], transcript["result"]["score"]) == (True, 1.0)
    assert transcript["verdict"]["successMet"] is True


def test_failure_ends_the_conversation_at_once_in_mode_every_turn(api: Client, models: ModelServer) -> None:
    models.configure(script=script(("Which day?", verdict(failure=True))))
    (transcript,) = run_transcripts(api, scenario(failureCriteriaMode="every_turn"))
    assert (len(assistant_messages(transcript)), transcript["result"]["success"]) == (1, False)
    assert transcript["scoring"]["tags"] == ["GOAL_MISS"]


def test_an_agent_recovers_from_a_failure_by_default(api: Client, models: ModelServer) -> None:
    models.configure(script=script(BOOKED, ("Which day?", verdict(failure=True))))
    (transcript,) = run_transcripts(api, scenario())
    assert (len(assistant_messages(transcript)), transcript["result"]["success"]) == (2, True)


def test_a_conversation_that_reaches_the_message_limit_fails(api: Client, models: ModelServer) -> None:
    models.configure(script=script(agent=[{"model": AGENT, "reply": "I do not know."}]))
    (transcript,) = run_transcripts(api, scenario(maxMessages=6))
    assert (len(assistant_messages(transcript)), transcript["result"]["success"]) == (3, False)


def test_criteria_without_a_judge_are_refused(api: Client, models: ModelServer) -> None:
    with pytest.raises(ApiProblem, match=r"config\.judgeModel: is required"):
        run_transcripts(api, scenario(), config={})


def test_a_conversation_starts_with_the_seed_messages(api: Client, models: ModelServer) -> None:
    models.configure(script=script(BOOKED))
    seed = [
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Good day!"},
        {"role": "user", "content": "On Tuesday I want a haircut."},
    ]
    (transcript,) = run_transcripts(api, {"messages": seed, **CRITERIA})
    assert assistant_messages(transcript) == ["Good day!", "Booked for Tuesday."]
    assert transcript["turnCount"] == 1


def test_each_persona_of_a_scenario_has_a_separate_conversation(api: Client, models: ModelServer) -> None:
    ada = api.create_persona({"name": f"Ada {time.time_ns()}", "systemPrompt": "You never say please."})["id"]
    bob = api.create_persona({"name": f"Bob {time.time_ns()}", "systemPrompt": "You shout."})["id"]
    shouting = {"model": USER, "contains": "You shout.", "reply": {"content": "ON TUESDAY! On Tuesday!"}}
    models.configure(script=[shouting, *script(BOOKED)])
    transcripts = run_transcripts(api, scenario(personaIds=[ada, bob]))
    assert [transcript["personaId"] for transcript in transcripts] == [ada, bob]
    assert [contents(transcript, "user")[1] for transcript in transcripts] == [
        "On Tuesday, please.",
        "ON TUESDAY! On Tuesday!",
    ]


def test_spend_of_target_judge_and_user_is_separate(api: Client, models: ModelServer) -> None:
    models.configure(script=script(BOOKED))
    (transcript,) = run_transcripts(api, scenario())
    assert (transcript["judgeSpend"]["calls"], transcript["personaSpend"]["calls"]) == (2, 1)
    assert models.counts()["requests"] == 5
    assert transcript["judgeSpend"]["usage"]["inputTokens"] > transcript["usage"]["inputTokens"] > 0


def test_retry_repeats_a_conversation_with_a_judge_error(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"model": JUDGE, "reply": "the messages are too long", "status": 400}, *script()])
    definition_id, _ = define(api, scenario())
    run = wait_for_end(api, start_run(api, definition_id, f"custom/{AGENT}", **JUDGED))
    (probe,) = api.list_run_probes(run["id"])
    assert (run["status"], probe["status"], probe["error"]["code"]) == ("FAILED", "ERROR", "judge_error")
    assert probe["result"] is None
    models.configure(script=script(BOOKED))
    api.retry_run(run["id"])
    run = wait_for_end(api, run["id"])
    (retried,) = api.list_run_probes(run["id"])
    assert (run["status"], retried["status"], retried["result"]["success"]) == ("COMPLETED", "COMPLETED", True)
    assert retried["threadId"] != probe["threadId"]
    assert [attempt["code"] for attempt in retried["attempts"]] == ["judge_error"]


def test_a_conversation_resumes_where_it_was_paused(api: Client, models: ModelServer) -> None:
    models.configure(script=script(agent=[{"model": AGENT, "reply": "I do not know."}]), latencySeconds=0.4)
    definition_id, _ = define(api, scenario(maxMessages=12))
    run_id = start_run(api, definition_id, f"custom/{AGENT}", **JUDGED)
    wait_until(lambda: models.counts()["requests"] >= 5)
    api.pause_run(run_id)
    wait_until(lambda: models.counts()["inFlight"] == 0 and api.get_run(run_id)["status"] == "PAUSED")
    time.sleep(3)  # Workers notice a pause up to two seconds after its response.
    before = models.counts()["requests"]
    assert before < 17
    api.resume_run(run_id)
    run = wait_for_end(api, run_id)
    (transcript,) = api.list_transcripts(run_id)
    calls = transcript["turnCount"] + transcript["judgeSpend"]["calls"] + transcript["personaSpend"]["calls"]
    assert (run["status"], transcript["turnCount"], calls) == ("COMPLETED", 6, 17)
    # Every reply was stored at once, so no call was repeated.
    assert models.counts()["requests"] == 17


def test_assertions_contribute_to_the_result(api: Client, models: ModelServer) -> None:
    models.configure(script=script(BOOKED))
    passing = scenario(assertions=[{"type": "icontains", "value": "BOOKED"}, {"type": "not-contains", "value": "x"}])
    failing = scenario(assertions=[{"type": "is-json", "metric": "format"}])
    first, second = run_transcripts(api, passing, failing)
    assert (first["result"]["success"], first["result"]["score"]) == (True, 1.0)
    assert (second["result"]["success"], second["result"]["score"]) == (False, 0.5)
    assert second["scoring"]["tags"] == ["FORMAT_ERROR"]
    assert second["scoring"]["metrics"] == {"format": 0.0}


def test_a_rubric_is_graded_by_the_judge_of_the_run(api: Client, models: ModelServer) -> None:
    graded = {"pass": True, "score": 0.8, "reason": "polite enough"}
    models.configure(script=[{"model": JUDGE, "contains": "is polite", "reply": graded}, *script(BOOKED)])
    rubric = {"type": "llm-rubric", "value": "the answer is polite", "threshold": 0.5}
    (transcript,) = run_transcripts(api, {"prompt": "On Tuesday", "assertions": [rubric]})
    assert (transcript["result"]["success"], transcript["result"]["score"]) == (True, 0.8)


def test_an_assertion_that_cannot_be_computed_is_not_a_failure(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"model": JUDGE, "reply": "hm"}, *script()])
    (transcript,) = run_transcripts(
        api, {"prompt": "Hello", "assertions": [{"type": "llm-rubric", "value": "is polite"}]}
    )
    assert (transcript["result"], transcript["scoring"]["success"]) == (None, None)
    assert transcript["scoring"]["results"][0]["error"]


@pytest.fixture
def connector(api: Client, models: ModelServer) -> str:
    """The model server as an agent with a custom JSON protocol."""
    config = {
        "path": "/chat/completions",
        "request": "{model: 'agent', messages: messages}",
        "reply": "choices[0].message.content",
    }
    body = {"name": f"agent {time.time_ns()}", "type": "http", "baseUrl": f"{models.url}/v1", "config": config}
    return str(api.create_connector(body)["id"])


def test_an_eval_of_an_agent_runs_its_scenarios(api: Client, models: ModelServer, connector: str) -> None:
    models.configure(script=script(BOOKED))
    _, ids = define(api, scenario(), scenario(prompt="On Tuesday?"), content={"maxTurns": 50})
    body = {"name": f"eval {time.time_ns()}", "connectorId": connector, "scenarioIds": ids, **JUDGED["config"]}
    eval_id = str(api.create_eval(body)["id"])
    started = api.create_eval_run(eval_id)
    run = wait_for_end(api, started["run"]["id"])
    assert (run["status"], started["jobCount"]) == ("COMPLETED", 2)
    transcripts = list(api.list_transcripts(run["id"]))
    assert [transcript["result"]["success"] for transcript in transcripts] == [True, True]
    assert {transcript["modelId"] for transcript in transcripts} == {f"connector/{connector}"}
    assert api.create_eval_run(eval_id)["run"]["executionId"] == run["executionId"] + 1


def test_a_playground_run_calls_an_agent(api: Client, models: ModelServer, connector: str) -> None:
    models.configure(script=script(BOOKED))
    _, ids = define(api, scenario())
    started = api.create_playground_run({"scenarioId": ids[0], "connectorId": connector, **JUDGED})
    run = wait_for_end(api, started["run"]["id"])
    (probe,) = api.list_probes(scenario_id=ids[0])
    assert (run["status"], run["playground"], probe["result"]["success"]) == ("COMPLETED", True, True)
    assert [message["role"] for message in probe["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert probe["latencyMs"] >= 0


def test_an_unreachable_agent_is_a_probe_error(api: Client, models: ModelServer) -> None:
    body = {"name": f"gone {time.time_ns()}", "type": "http", "baseUrl": "http://127.0.0.1:9"}
    config = {"request": "{text: message}", "reply": "text"}
    unreachable = str(api.create_connector({**body, "config": config})["id"])
    definition_id, _ = define(api, {"prompt": "Hello?"})
    run = wait_for_end(api, start_run(api, definition_id, f"connector/{unreachable}"), seconds=90)
    (probe,) = api.list_run_probes(run["id"])
    assert (run["status"], probe["error"]["code"]) == ("FAILED", "network")
