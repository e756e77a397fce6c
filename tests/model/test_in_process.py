"""Evaluations of SmolLM2 behind llama.cpp's server in the calling process: chat completions and the Responses API.

A small model may answer anything, so these tests ask only what holds for every answer.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import psutil
import pytest

import cupel
from tests.model.servers import MODEL, SLOT_TOKENS, LlamaServer

type Json = dict[str, Any]

CHAT, RESPONSES = f"custom/{MODEL}", f"custom/responses:{MODEL}"
BOTH = [CHAT, RESPONSES]
SHORT = {"maxOutputTokens": 16, "temperature": 0, "seed": 7}
LONG = {"maxOutputTokens": 900, "temperature": 0, "seed": 7}
VERDICTS, CITIES = ["yes", "no"], ["Paris", "Rome"]


def object_of(name: str, values: list[str]) -> Json:
    """The schema of an object with this property, which is one of the values."""
    properties = {name: {"type": "string", "enum": values}}
    return {"type": "object", "properties": properties, "required": [name], "additionalProperties": False}


def evaluate(llama: LlamaServer, content: Json, *scenarios: Any, models: Any = BOTH, **options: Any) -> Any:
    definition = {"name": "a real model", "content": {"params": SHORT, **content}, "scenarios": list(scenarios)}
    providers = {"custom": {"base_url": llama.base_url}}
    chosen = {"progress": False, "call_timeout_seconds": 300, "max_concurrency": 2, **options}
    return cupel.evaluate(definition, models, providers=providers, **chosen)


def transcripts(evaluation: Any) -> list[Json]:
    """The transcripts as the API has them, target by target. AssertionError if a probe is errored."""
    assert not evaluation.errors, [each.error for each in evaluation.errors]
    return list(evaluation.to_json()["probes"])


def answers(transcript: Json) -> list[Json]:
    return [message for message in transcript["content"]["messages"] if message["role"] == "assistant"]


def test_a_conversation_of_two_turns(llama: LlamaServer) -> None:
    for found in transcripts(evaluate(llama, {"followUps": ["And in French?"]}, "Say hello.")):
        first, second = (answer["reply"]["usage"] for answer in answers(found))
        assert found["turnCount"] == 2
        assert found["modelVersion"] == MODEL
        assert found["finishReason"] in ("stop", "length")
        # The second request has the first one's messages, its answer and the follow-up.
        assert second["inputTokens"] > first["inputTokens"] > 0
        for usage in (first, second):
            assert 0 < usage["outputTokens"] <= SHORT["maxOutputTokens"]
            assert 0 <= usage["cachedInputTokens"] <= usage["inputTokens"]
            assert usage["unreportedCalls"] == 0
        assert found["costUsd"] is None


def test_what_a_request_repeats_is_read_from_the_servers_cache(llama: LlamaServer) -> None:
    prompt = "Once there was a fox who counted. " * 20
    _, *repeated = transcripts(evaluate(llama, {}, prompt, repeats=2, max_concurrency=1))
    for each in repeated:
        assert each["usage"]["cachedInputTokens"] > each["usage"]["inputTokens"] / 2


def test_no_answer_has_a_text_that_stops_it(llama: LlamaServer) -> None:
    (found,) = transcripts(evaluate(llama, {"params": {**SHORT, "stop": ["e", "a"]}}, "Tell a story.", models=CHAT))
    (answer,) = answers(found)
    assert not {"e", "a"} & set(answer["content"])
    (found,) = transcripts(evaluate(llama, {"params": {**SHORT, "stop": ["e", "a"]}}, "Hi.", models=RESPONSES))
    assert found["omittedParameters"] == ["seed", "stop"]


@pytest.mark.parametrize("model", BOTH)
def test_an_answer_that_uses_its_limit_is_cut(llama: LlamaServer, model: str) -> None:
    content = {"params": {**SHORT, "extraBody": {"ignore_eos": True}}}
    (found,) = transcripts(evaluate(llama, content, "Tell a story.", models=model))
    assert (found["finishReason"], found["usage"]["outputTokens"]) == ("length", SHORT["maxOutputTokens"])


def test_an_answer_satisfies_its_schema(llama: LlamaServer) -> None:
    schema = object_of("verdict", VERDICTS)
    response_format = {"type": "json_schema", "schema": schema}
    content = {
        "params": {**SHORT, "maxOutputTokens": 40, "responseFormat": response_format},
        "assertions": [{"type": "is-json", "value": schema}],
    }
    evaluation = evaluate(llama, content, "Is water wet?", "Is fire cold?", models=CHAT)
    for result, found in zip(evaluation.results, transcripts(evaluation), strict=True):
        assert result.success is True
        assert found["output"]["verdict"] in VERDICTS


def test_the_responses_api_of_llama_cpp_ignores_schemas(llama: LlamaServer) -> None:
    """The answer is a text like others, and no output: a story has no verdict."""
    schema = object_of("verdict", VERDICTS)
    response_format = {"type": "json_schema", "schema": schema}
    content = {"params": {**SHORT, "responseFormat": response_format}}
    (found,) = transcripts(evaluate(llama, content, "Tell a story.", models=RESPONSES))
    assert answers(found)[0]["content"]
    assert found["output"] is None


@pytest.mark.parametrize("model", BOTH)
def test_calls_of_tools_are_answered_by_scripts(llama: LlamaServer, model: str) -> None:
    """The bias makes the model begin a call, and the server's grammar lets it write no other than one of the tool."""
    tool = {"name": "weather", "description": "The weather of a city", "parameters": object_of("city", CITIES)}
    params = {"tools": [tool], "toolChoice": "required", "maxToolRounds": 1, "maxOutputTokens": 100, "temperature": 0}
    content = {
        "params": {**params, "extraBody": {"logit_bias": [["<tool_call>\n", 100]]}},
        "toolResults": [{"name": "weather", "result": "It rains."}],
    }
    (found,) = transcripts(evaluate(llama, content, "What is the weather in Paris?", models=model))
    _, call, result, *_ = found["content"]["messages"]
    assert (found["toolRounds"], result["role"], result["content"]) == (1, "tool", "It rains.")
    assert call["toolCalls"][0]["name"] == "weather"
    assert json.loads(call["toolCalls"][0]["arguments"])["city"] in CITIES
    assert call["toolCalls"][0]["id"] == result["toolCallId"]


def test_a_request_beyond_the_context_is_refused_with_the_servers_words(llama: LlamaServer) -> None:
    evaluation = evaluate(llama, {}, "word " * (2 * SLOT_TOKENS))
    assert len(evaluation.errors) == 2
    for result in evaluation.errors:
        assert (result.error.code, result.error.attempts) == ("invalid_request", 1)
        assert f"context size ({SLOT_TOKENS} tokens)" in result.error.message
        assert result.spends["target"].cost_usd == 0


@pytest.mark.parametrize("judge", BOTH)
def test_a_judge_that_may_say_anything_gives_a_verdict_or_none(llama: LlamaServer, judge: str) -> None:
    scenario = {"prompt": "Say hello.", "successCriteria": "The answer greets."}
    options = {"judge_model": judge, "judge_max_output_tokens": 80, "max_turns": 1}
    evaluation = evaluate(llama, {}, scenario, models=CHAT, **options)
    (result,) = evaluation.results
    assert result.error is None
    assert result.spends["judge"].calls >= 1
    if result.success is None:
        assert evaluation.models[0].unscored == 1


def test_more_conversations_than_the_server_has_slots(llama: LlamaServer) -> None:
    prompts = [f"Say the number {number}." for number in range(8)]
    found = transcripts(evaluate(llama, {}, *prompts, max_concurrency=8))
    assert len(found) == 16


def test_calls_that_take_too_long_are_given_up(llama: LlamaServer) -> None:
    content = {"params": {**LONG, "extraBody": {"ignore_eos": True}}}
    options = {"call_timeout_seconds": 0.2, "max_attempts": 2, "retry_delay_seconds": 0}
    (result,) = evaluate(llama, content, "Tell a story.", models=CHAT, **options).errors
    assert (result.error.code, result.error.attempts) == ("timeout", 2)
    # llama.cpp writes an answer to its end that is not streamed, although nobody waits for it any more.
    llama.wait_until_idle()


def test_an_interrupted_evaluation_leaves_no_connection_open(llama: LlamaServer) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    short, long = {"params": SHORT}, {"params": {**LONG, "extraBody": {"ignore_eos": True}}}
    targets = [{"model": CHAT, "label": "short", **short}, {"model": CHAT, "label": "long", **long}]
    with pytest.raises(Interrupted):
        evaluate(llama, {"params": {}}, "Tell a story.", models=targets, on_complete=interrupt)
    open_ports = [each.raddr.port for each in psutil.Process().net_connections() if each.raddr]
    assert llama.port not in open_ports
    llama.wait_until_idle()


def test_a_restart_of_the_server_loses_no_probe(tmp_path: Any) -> None:
    """While the server loads its model again, it refuses connections, and then answers 503."""
    server, begun = LlamaServer(tmp_path), Event()
    prompts = [f"Tell a story about the number {number}." for number in range(12)]
    with ThreadPoolExecutor(1) as pool:
        with server.running():
            running = pool.submit(
                evaluate,
                server,
                {},
                *prompts,
                max_attempts=10,
                retry_delay_seconds=1,
                on_complete=lambda *_: begun.set(),
            )
            assert begun.wait(120)
        with server.running():
            assert len(transcripts(running.result(600))) == 2 * len(prompts)
