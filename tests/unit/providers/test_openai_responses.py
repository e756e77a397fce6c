"""OpenAI's Responses API: which models use it, its requests, and responses as OpenAI documents them."""

from dataclasses import replace
from typing import Any

import pytest

from cupel_core.domain.conversations.model_parameters import ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.providers import model_name_of, openai_responses, prices, wire_format_of
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import ProviderError
from tests.unit.providers.answers import answering

TALK = ModelRequest(
    (
        Message(MessageRole.SYSTEM, "Be brief."),
        Message(MessageRole.USER, "Hello"),
        Message(MessageRole.ASSISTANT, "Hi"),
        Message(MessageRole.USER, "Rate it"),
    )
)
OPENAI = Account("openai", "https://api.openai.com/v1", "sk-test")
OWN_SERVER = Account("custom", "https://llama.example/v1", "sk-test")
CLOSED: dict[str, object] = {
    "type": "object",
    "properties": {"code": {"type": "string"}},
    "required": ["code"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "model",
    [
        "openai/o1-pro",
        "openai/o3-pro-2025-06-10",
        "openai/gpt-5-pro",
        "openai/gpt-5.2-pro",
        "openai/gpt-5.1-codex-max",
        "openai/codex-mini-latest",
        "openai/o4-mini-deep-research",
        "azure/o3-pro",
        "openai/responses:gpt-5",
        "azure/responses:my-deployment",
        "xai/responses:grok-4",
        "groq/responses:openai/gpt-oss-120b",
        "custom-gpu/responses:org/llama",
    ],
)
def test_these_models_are_called_by_the_responses_api(model: str) -> None:
    assert wire_format_of(model) == "openai-responses"


@pytest.mark.parametrize(
    ("model", "wire_format"),
    [
        ("openai/gpt-5", "openai"),
        ("openai/gpt-5-mini", "openai"),
        ("openrouter/openai/gpt-5-pro", "openai"),
        ("custom/gpt-5-codex", "openai"),
        ("anthropic/responses:x", "anthropic"),
        ("sim/steady", "sim"),
    ],
)
def test_others_are_called_as_their_provider_is(model: str, wire_format: str) -> None:
    assert wire_format_of(model) == wire_format


def test_the_prefix_is_not_part_of_a_models_name() -> None:
    assert model_name_of("groq/responses:openai/gpt-oss-120b") == "openai/gpt-oss-120b"
    assert prices.cost_usd("openai/responses:gpt-5", Usage(9, 9)) == prices.cost_usd("openai/gpt-5", Usage(9, 9))


def request(**options: Any) -> dict[str, object]:
    return openai_responses.request_for(
        OPENAI, "gpt-5-pro", ModelRequest(TALK.messages, ModelParameters(**options))
    ).body


def test_the_whole_conversation_is_sent_and_nothing_is_stored() -> None:
    sent = openai_responses.request_for(OPENAI, "gpt-5-pro", TALK)
    assert (sent.url, sent.headers) == ("https://api.openai.com/v1/responses", {"authorization": "Bearer sk-test"})
    assert sent.body == {
        "model": "gpt-5-pro",
        "input": [
            {"type": "message", "role": "system", "content": "Be brief."},
            {"type": "message", "role": "user", "content": "Hello"},
            {"type": "message", "role": "assistant", "content": "Hi"},
            {"type": "message", "role": "user", "content": "Rate it"},
        ],
        "store": False,
    }


def test_options() -> None:
    sent = request(temperature=0.5, max_output_tokens=100, response_format=ResponseFormat.of_schema(CLOSED))
    assert (sent["temperature"], sent["max_output_tokens"]) == (0.5, 100)
    assert sent["text"] == {"format": {"type": "json_schema", "name": "answer", "schema": CLOSED, "strict": True}}


def test_a_limit_below_the_apis_is_raised_to_it() -> None:
    assert request(max_output_tokens=5)["max_output_tokens"] == 16


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://a.openai.azure.com", "https://a.openai.azure.com/openai/v1/responses"),
        (
            "https://a.openai.azure.com?api-version=2025-04-01-preview",
            "https://a.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        ),
    ],
)
def test_azure_names_the_deployment_in_the_body(base_url: str, url: str) -> None:
    sent = openai_responses.request_for(Account("azure", base_url, "k"), "mine", TALK)
    assert (sent.url, sent.headers, sent.body["model"]) == (url, {"api-key": "k"}, "mine")


def text(content: str) -> dict[str, Any]:
    return {"type": "output_text", "text": content, "annotations": [], "logprobs": []}


def response(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": list(content)}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1768478400,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": "gpt-5-pro-2025-10-06",
        "output": [{"id": "rs_1", "type": "reasoning", "summary": []}, *([message] if content else [])],
        "store": False,
        "usage": {
            "input_tokens": 19,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": 49,
        },
        **more,
    }


def test_a_reply() -> None:
    expected = Reply("Rating: 4", "gpt-5-pro-2025-10-06", Usage(19, 30, 4), "stop")
    assert openai_responses.parse(response(text("Rating: "), text("4"))) == expected


def test_a_refusal_by_the_model_is_its_answer() -> None:
    assert openai_responses.parse(response({"type": "refusal", "refusal": "I cannot."})).text == "I cannot."


def test_calls_of_the_providers_tools_are_no_answer() -> None:
    body = response(text("Paris"))
    body["output"].insert(0, {"type": "web_search_call", "id": "ws_1", "status": "completed"})
    assert openai_responses.parse(body).text == "Paris"


def test_an_answer_cut_off_by_the_limit_has_the_finish_reason_of_chat_completions() -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply = openai_responses.parse(response(text("Half"), **cut))
    assert (reply.text, reply.finish_reason) == ("Half", "length")


@pytest.mark.parametrize(
    ("limit", "reason"),
    [(30, "length"), (20, "length"), (31, "stop"), (None, "stop")],
    ids=["as many tokens", "more", "fewer", "no limit"],
)
async def test_an_answer_of_ones_own_server_is_cut_if_it_has_all_tokens_that_its_request_allows(
    limit: int | None, reason: str
) -> None:
    """llama.cpp's server calls every response completed; OpenAI says which are not."""
    request = replace(TALK, parameters=ModelParameters(max_output_tokens=limit))
    for account, model, expected in (
        (OWN_SERVER, "custom/responses:llama", reason),
        (OPENAI, "openai/responses:gpt-5", "stop"),
    ):
        reply = await complete(account, model, request, 5, answering(200, response(text("Half"))))
        assert (reply.text, reply.finish_reason) == ("Half", expected)


async def test_a_limit_below_the_least_of_the_api_is_the_one_that_was_sent() -> None:
    usage = {"input_tokens": 19, "output_tokens": 15, "total_tokens": 34}
    request = replace(TALK, parameters=ModelParameters(max_output_tokens=5))
    answer = answering(200, response(text("Whole"), usage=usage))
    assert (await complete(OWN_SERVER, "custom/responses:llama", request, 5, answer)).finish_reason == "stop"


async def test_calls_with_all_tokens_stay_calls() -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "find", "arguments": "{}"}
    request = replace(TALK, parameters=ModelParameters(max_output_tokens=30))
    answer = answering(200, response(output=[call]))
    reply = await complete(OWN_SERVER, "custom/responses:llama", request, 5, answer)
    assert (reply.tool_calls[0].name, reply.finish_reason) == ("find", "stop")


def test_an_answer_withheld_by_the_api_is_content_filtered() -> None:
    body = response(text("Half"), status="incomplete", incomplete_details={"reason": "content_filter"})
    with pytest.raises(ProviderError) as caught:
        openai_responses.parse(body)
    assert caught.value.code is ProbeErrorCode.CONTENT_FILTERED


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": "server_error", "message": "The model failed."}, ProbeErrorCode.PROVIDER_ERROR),
        ({"code": "rate_limit_exceeded", "message": "Slow down."}, ProbeErrorCode.RATE_LIMITED),
        ({"code": "invalid_prompt", "message": "Invalid prompt."}, ProbeErrorCode.INVALID_REQUEST),
        (
            {"code": "invalid_prompt", "message": "flagged as potentially violating our usage policy"},
            ProbeErrorCode.CONTENT_FILTERED,
        ),
        ({"code": "image_content_policy_violation", "message": "No."}, ProbeErrorCode.CONTENT_FILTERED),
        ({"code": 429, "message": "Provider returned error"}, ProbeErrorCode.RATE_LIMITED),  # OpenRouter
    ],
)
def test_a_failed_response(error: dict[str, Any], code: ProbeErrorCode) -> None:
    with pytest.raises(ProviderError, match=error["message"]) as caught:
        openai_responses.parse(response(status="failed", error=error))
    assert caught.value.code is code


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled"])
def test_a_response_without_an_end_is_an_error_of_the_provider(status: str) -> None:
    with pytest.raises(ProviderError, match=status) as caught:
        openai_responses.parse(response(status=status))
    assert caught.value.code is ProbeErrorCode.PROVIDER_ERROR


@pytest.mark.parametrize("body", [{}, [], None, {"output": None}, {"output": []}, {"choices": []}])
def test_a_body_without_an_answer_is_malformed(body: Any) -> None:
    with pytest.raises(ProviderError, match="malformed response"):
        openai_responses.parse(body)


async def test_a_model_that_exists_only_there_is_called_there() -> None:
    send = answering(200, response(text("4")))
    reply = await complete(OPENAI, "openai/gpt-5-pro", TALK, 5, send)
    assert (reply.text, send.requests[0].url) == ("4", "https://api.openai.com/v1/responses")


async def test_a_rejected_parameter_is_left_out_next_time() -> None:
    message = "Unsupported parameter: 'temperature' is not supported with this model."
    account = Account("openai", "https://api.openai.com/v1", "sk-other")
    refusing = answering(400, {"error": {"message": message, "type": "invalid_request_error", "param": "temperature"}})
    asked = ModelRequest(TALK.messages, ModelParameters(temperature=0.5))
    with pytest.raises(ProviderError):
        await complete(account, "openai/gpt-9-pro", asked, 5, refusing)
    accepting = answering(200, response(text("4")))
    reply = await complete(account, "openai/gpt-9-pro", asked, 5, accepting)
    assert "temperature" not in accepting.requests[0].body
    assert reply.omitted_parameters == ("temperature",)
