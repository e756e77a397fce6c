"""Rate limits of an account, read from response headers."""

from datetime import UTC, datetime

import pytest

from cupel_core.domain.conversations.model_request import ExhaustedAllowance, Message, MessageRole, ModelRequest
from cupel_core.providers import http, openai
from cupel_core.providers.account import Account
from cupel_core.providers.retry_after import parse_exhausted_allowance
from tests.unit.providers.answers import answering

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_an_account_within_its_limits_has_no_wait() -> None:
    headers = {"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1m0s"}
    assert parse_exhausted_allowance(headers, NOW) is None
    assert parse_exhausted_allowance({}, NOW) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0s"}, 6.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20"}, 2.0),
        (
            {
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-11-20T12:00:30Z",
            },
            3.0,
        ),
    ],
)
def test_an_exhausted_limit_is_waited_for_until_a_tenth_is_restored(headers: dict[str, str], seconds: float) -> None:
    assert parse_exhausted_allowance(headers, NOW) == ExhaustedAllowance(pytest.approx(seconds))


def test_the_longest_of_several_waits_is_used() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "10s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "40s",
    }
    assert parse_exhausted_allowance(headers, NOW) == ExhaustedAllowance(pytest.approx(4.0))


@pytest.mark.parametrize("reset", ["", "soon", "2026-11-20T11:00:00Z"])
def test_an_exhausted_limit_without_a_future_reset_is_ignored(reset: str) -> None:
    assert (
        parse_exhausted_allowance({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": reset}, NOW) is None
    )


async def test_a_reply_carries_the_limits_of_its_headers() -> None:
    headers = {"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "30s"}
    send = answering(200, {"choices": [{"message": {"content": "Hi"}}]}, headers)
    account = Account("openai", "https://api.openai.com/v1", "sk-test")
    conversation = ModelRequest((Message(MessageRole.USER, "Hello"),))
    reply = await http.exchange(openai, account, "m", conversation, 5, NOW, send)
    assert (reply.text, reply.exhausted_allowance) == ("Hi", ExhaustedAllowance(pytest.approx(3.0)))
