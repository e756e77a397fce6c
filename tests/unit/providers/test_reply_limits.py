"""What a provider or an agent may put into a reply, and into the headers that ask to wait."""

import time
from datetime import UTC, datetime

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply, Usage
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_limits import MAX_TOKENS, bounded_reply, token_count
from cupel_core.providers.retry_after import MAX_SECONDS, duration_seconds, retry_after_seconds
from cupel_core.providers.wire_format import strip_code_fence
from tests.unit.providers.answers import answering

NOW = datetime(2026, 11, 22, tzinfo=UTC)
REQUEST = ModelRequest((Message(MessageRole.USER, "Hello"),))


async def _reply(**fields: object) -> Reply:
    """The reply that an OpenAI-compatible server with this response gives."""
    choice = {
        "message": {"content": fields.pop("content", "yes")},
        "finish_reason": fields.pop("finish_reason", "stop"),
    }
    send = answering(200, {"choices": [choice], **fields})
    return await complete(Account("openai", "https://api.example"), "openai/m", REQUEST, 5.0, send)


async def test_a_model_version_of_any_length_is_stored_as_a_label() -> None:
    assert len((await _reply(model="m" * 500_000)).model_version or "") == 200


async def test_a_finish_reason_of_any_length_is_stored_as_a_label() -> None:
    assert len((await _reply(finish_reason="f" * 500_000)).finish_reason or "") == 200


@pytest.mark.parametrize(
    ("reported", "counted"),
    [
        (12, 12),
        (-5, 0),
        (True, 0),
        ("12", 0),
        (None, 0),
        (1e400, MAX_TOKENS),
        (float("nan"), 0),
        (-1e400, 0),
        (10**30, MAX_TOKENS),
        ([], 0),
    ],
)
def test_a_count_of_tokens_is_a_number_in_range(reported: object, counted: int) -> None:
    assert token_count(reported) == counted


async def test_wrong_counts_do_not_lose_an_answer() -> None:
    reply = await _reply(usage={"prompt_tokens": -3, "completion_tokens": "many"})
    assert (reply.text, reply.usage) == ("yes", None)


def test_no_more_tokens_are_cached_than_there_are() -> None:
    reply = Reply("Hi", usage=Usage(100, 5, 300, 300))
    assert bounded_reply(reply).usage == Usage(100, 5, 100, 0)


async def test_an_answer_that_is_too_long_is_an_error_that_is_not_retried() -> None:
    with pytest.raises(ProviderError, match="at most 1,000,000") as raised:
        await _reply(content="a" * 1_000_001)
    assert not raised.value.retryable


def test_a_conversation_id_that_is_too_long_is_an_error_that_is_not_retried() -> None:
    with pytest.raises(ProviderError, match="the conversation id has 1,000,000 characters; at most 500") as raised:
        bounded_reply(Reply("yes", thread_id="i" * 1_000_000))
    assert not raised.value.retryable


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ((ToolCall("c", "find", "x" * 10_000_000),), "the arguments of a tool call has 10,000,000 characters"),
        ((ToolCall("c", "find", "{}"),) * 1_000, "the answer has 1,000 tool calls; at most 100"),
        ((ToolCall("c", "find", "{}", "s" * 200_001),), "the thought signature of a tool call has 200,001"),
    ],
    ids=["arguments", "calls", "signature"],
)
def test_calls_of_tools_beyond_a_limit_are_an_error_that_is_not_retried(
    calls: tuple[ToolCall, ...], reason: str
) -> None:
    with pytest.raises(ProviderError, match=reason) as raised:
        bounded_reply(Reply("", tool_calls=calls))
    assert not raised.value.retryable


def test_the_name_and_the_id_of_a_call_are_labels() -> None:
    call = bounded_reply(Reply("", tool_calls=(ToolCall("i" * 500, "n\ud800" * 500, "{}"),))).tool_calls[0]
    assert (len(call.id), len(call.name)) == (200, 200)
    assert call.name.encode()


def test_every_text_of_a_reply_can_be_encoded() -> None:
    reply = bounded_reply(Reply("a\ud800", "v\ud800", finish_reason="f\ud800", thread_id="t\ud800"))
    assert (reply.text, reply.model_version, reply.finish_reason, reply.thread_id) == ("a?", "v?", "f?", "t?")


@pytest.mark.parametrize("value", ["1e300", "9" * 300 + "d", "Mon, 01 Jan 9999 00:00:00 GMT"])
def test_nobody_waits_longer_than_a_day(value: str) -> None:
    headers = {"retry-after": value, "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": value}
    assert retry_after_seconds(headers, NOW) in (None, MAX_SECONDS)


def test_a_date_that_no_calendar_has_is_no_delay() -> None:
    assert retry_after_seconds({"retry-after": f"Mon, 01 Jan {'9' * 30} 00:00:00 GMT"}, NOW) is None


def test_a_duration_of_a_million_digits_is_refused_at_once() -> None:
    started_at = time.process_time()
    assert duration_seconds("1" * 1_000_000) is None
    assert time.process_time() - started_at < 0.1


def test_a_fence_around_a_million_line_breaks_is_stripped_at_once() -> None:
    started_at = time.process_time()
    strip_code_fence("```" + "\n" * 1_000_000 + "x")
    assert time.process_time() - started_at < 0.5
