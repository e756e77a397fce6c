"""Responses as the providers document them, and the replies parsed from them."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import ProbeErrorCode, Reply, Usage
from cupel_core.providers import anthropic, bedrock, google, openai
from cupel_core.providers.errors import ProviderError


def chat(message: dict[str, Any], finish_reason: str = "stop") -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1768478400,
        "model": "gpt-5-mini-2025-08-07",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": 19,
            "completion_tokens": 10,
            "total_tokens": 29,
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
        "service_tier": "default",
    }


def message(content: list[dict[str, Any]], stop_reason: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 12,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 100,
            "output_tokens": 6,
            "service_tier": "standard",
        },
    }


def generated(parts: list[dict[str, Any]], finish_reason: str = "STOP") -> dict[str, Any]:
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish_reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 8,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 20,
            "totalTokenCount": 33,
        },
        "modelVersion": "gemini-2.5-flash",
        "responseId": "r1",
    }


def converse(text: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    return {
        "ResponseMetadata": {"HTTPStatusCode": 200},
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": stop_reason,
        "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
        "metrics": {"latencyMs": 300},
    }


def test_openai() -> None:
    expected = Reply("Rating: 4", "gpt-5-mini-2025-08-07", Usage(19, 10), "stop")
    assert openai.parse(chat({"content": "Rating: 4", "refusal": None})) == expected


def test_openai_thinking_parts_are_omitted() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Rating: 2"}]
    assert openai.parse(chat({"content": parts})).text == "Rating: 2"


def test_openai_a_refusal_by_the_model_is_its_answer() -> None:
    assert openai.parse(chat({"content": None, "refusal": "I cannot."})).text == "I cannot."


def test_openai_a_reply_cut_before_an_answer_began_is_an_error_that_no_retry_cures() -> None:
    with pytest.raises(ProviderError, match="cut the reply after 10 tokens, before an answer began") as caught:
        openai.parse(chat({"content": None}, "length"))
    assert (caught.value.final, caught.value.usage) == (True, Usage(19, 10))


def test_a_response_without_token_counts_is_accepted() -> None:
    body = {"choices": [{"message": {"content": "Hi"}}]}
    assert openai.parse(body) == Reply("Hi", None, None, None)


def test_anthropic_counts_what_the_cache_served_as_input() -> None:
    expected = Reply("Rating: 4", "claude-haiku-4-5-20251001", Usage(112, 6, 100), "end_turn")
    assert anthropic.parse(message([{"type": "text", "text": "Rating: 4"}])) == expected


def test_anthropic_a_forced_tool_answers_json() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": anthropic.ANSWER_TOOL, "input": {"code": "3"}}
    assert anthropic.parse(message([block], "tool_use")).text == '{"code":"3"}'


def test_anthropic_thinking_is_omitted() -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "Yes"}]
    assert anthropic.parse(message(blocks)).text == "Yes"


def test_google_counts_thinking_as_output_and_omits_its_text() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "Rating: "}, {"text": "4"}]
    expected = Reply("Rating: 4", "gemini-2.5-flash", Usage(8, 25), "STOP", reasoning="hm")
    assert google.parse(generated(parts)) == expected


def test_google_a_reply_cut_before_an_answer_began_is_an_error() -> None:
    body = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    with pytest.raises(ProviderError, match="before an answer began"):
        google.parse(body)


def test_bedrock() -> None:
    assert bedrock.parse(converse("Rating: 4")) == Reply("Rating: 4", None, Usage(7, 3), "end_turn")


@pytest.mark.parametrize(
    ("parse", "body"),
    [
        (openai.parse, chat({"content": ""}, "content_filter")),
        (anthropic.parse, message([], "refusal")),
        (google.parse, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}),
        (google.parse, {"candidates": [{"finishReason": "SAFETY", "index": 0}]}),
        (bedrock.parse, converse("Blocked.", "guardrail_intervened")),
        (bedrock.parse, converse("", "content_filtered")),
    ],
)
def test_an_answer_withheld_by_the_api_is_content_filtered(parse: Any, body: dict[str, Any]) -> None:
    with pytest.raises(ProviderError) as caught:
        parse(body)
    assert caught.value.code is ProbeErrorCode.CONTENT_FILTERED
    assert not caught.value.retryable


@pytest.mark.parametrize("parse", [openai.parse, anthropic.parse, bedrock.parse])
@pytest.mark.parametrize("body", [{}, [], None, "text", {"choices": []}, {"choices": [{}]}])
def test_a_body_without_an_answer_is_malformed(parse: Any, body: Any) -> None:
    with pytest.raises(ProviderError, match="malformed response") as caught:
        parse(body)
    assert caught.value.is_malformed


def test_google_without_candidates_is_the_providers_error() -> None:
    with pytest.raises(ProviderError) as caught:
        google.parse({"usageMetadata": {}})
    assert caught.value.code is ProbeErrorCode.PROVIDER_ERROR


def with_cached(body: dict[str, Any], key: str, **counts: Any) -> dict[str, Any]:
    return {**body, key: {**body[key], **counts}}


@pytest.mark.parametrize(
    ("parse", "body", "usage"),
    [
        (
            openai.parse,
            with_cached(chat({"content": "Hi"}), "usage", prompt_tokens_details={"cached_tokens": 16}),
            Usage(19, 10, 16),
        ),
        (openai.parse, with_cached(chat({"content": "Hi"}), "usage", prompt_cache_hit_tokens=12), Usage(19, 10, 12)),
        (openai.parse, with_cached(chat({"content": "Hi"}), "usage", prompt_tokens_details=None), Usage(19, 10)),
        (
            anthropic.parse,
            with_cached(message([{"type": "text", "text": "Hi"}]), "usage", cache_creation_input_tokens=30),
            Usage(142, 6, 100, 30),
        ),
        (
            google.parse,
            with_cached(generated([{"text": "Hi"}]), "usageMetadata", cachedContentTokenCount=6),
            Usage(8, 25, 6),
        ),
        (
            bedrock.parse,
            with_cached(converse("Hi"), "usage", cacheReadInputTokens=40, cacheWriteInputTokens=5),
            Usage(52, 3, 40, 5),
        ),
    ],
)
def test_input_tokens_that_the_providers_cache_had_are_told_apart(
    parse: Any, body: dict[str, Any], usage: Usage
) -> None:
    assert parse(body).usage == usage
