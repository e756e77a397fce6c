"""SmolLM2 behind llama.cpp's server as the provider of a stack: queue, worker and chats, which read streams."""

from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import create_definition, start_run, wait_for_end
from tests.model.servers import MODEL, LlamaServer

type Json = dict[str, Any]

CHAT, RESPONSES = f"custom-llama/{MODEL}", f"custom-llama/responses:{MODEL}"
SHORT = {"maxOutputTokens": 16, "temperature": 0, "seed": 7}
ENDLESS = {"maxOutputTokens": 800, "extraBody": {"ignore_eos": True}}


@pytest.fixture
def provider(api: Client, llama: LlamaServer) -> LlamaServer:
    api.update_provider("custom-llama", {"baseUrl": llama.base_url, "maxParallelRequests": 4})
    return llama


def turn_of(api: Client, model: str, params: Json) -> Json:
    chat = api.create_chat({"target": {"model": model, "params": params}})
    return api.start_turn(chat["id"], {"content": "Tell a story."})


@pytest.mark.parametrize("model", [CHAT, RESPONSES])
def test_a_chat_is_streamed(api: Client, provider: LlamaServer, model: str) -> None:
    turn = turn_of(api, model, {"maxOutputTokens": 40, "temperature": 0})
    events = list(api.follow_turn(turn["chatId"], turn["id"]))
    deltas = [event["text"] for event in events if event["type"] == "main_llm.delta"]
    chat = api.get_chat(turn["chatId"])
    (exchange,) = api.list_exchanges(chat["id"], chat["activeBranchId"])
    assert len(deltas) > 1
    assert "".join(deltas) == exchange["answer"]["content"]
    assert api.get_turn(turn["chatId"], turn["id"])["status"] == "done"


@pytest.mark.parametrize("model", [CHAT, RESPONSES])
def test_an_aborted_turn_frees_the_server(api: Client, provider: LlamaServer, model: str) -> None:
    before = provider.tokens_written()
    turn = turn_of(api, model, ENDLESS)
    for event in api.follow_turn(turn["chatId"], turn["id"]):
        if event["type"] == "main_llm.delta":
            break
    api.abort_turn(turn["chatId"], turn["id"])
    provider.wait_until_idle()
    assert provider.tokens_written() - before < ENDLESS["maxOutputTokens"]


def test_a_run_is_judged(api: Client, provider: LlamaServer) -> None:
    rubric = {"type": "llm-rubric", "value": "The answer is short."}
    content = {"followUps": ["And in French?"], "params": SHORT, "assertions": [rubric]}
    definition_id = create_definition(api, [f"Say the number {number}." for number in range(4)], content)
    config = {"judgeModel": CHAT, "judgeMaxOutputTokens": 60}
    run = wait_for_end(api, start_run(api, definition_id, CHAT, RESPONSES, config=config), 600)
    assert (run["status"], run["progress"]["failed"]) == ("COMPLETED", 0)
    for found in api.list_transcripts(run["id"]):
        assert found["turnCount"] == 2
        assert 0 < found["usage"]["outputTokens"] <= 2 * SHORT["maxOutputTokens"]
        assert found["costUsd"] is None


def test_a_run_outlives_a_restart_of_its_server(api: Client, tmp_path: Any) -> None:
    server = LlamaServer(tmp_path)
    prompts = [f"Tell a story about the number {number}." for number in range(20)]
    definition_id = create_definition(api, prompts, {"params": SHORT})
    with server.running():
        api.update_provider("custom-llama", {"baseUrl": server.base_url, "maxParallelRequests": 4})
        run_id = start_run(api, definition_id, CHAT)
        server.wait_until_busy()
    with server.running():
        run = wait_for_end(api, run_id, 600)
    assert run["status"] == "COMPLETED"
    assert (run["progress"]["completed"], run["progress"]["failed"]) == (len(prompts), 0)
