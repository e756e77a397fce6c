"""What an answer's headers say about the allowances of its account."""

from datetime import UTC, datetime

import httpx
import pytest

from cupel_core.domain.turns.model_request import Conversation, Message, RateLimits, Role
from cupel_core.providers import http, openai
from cupel_core.providers.account import Account
from cupel_core.providers.rate_limits import read_limits

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_an_account_with_something_left_has_no_limits() -> None:
    headers = {"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1m0s"}
    assert read_limits(headers, NOW) is None
    assert read_limits({}, NOW) is None


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
def test_a_spent_allowance_is_waited_for_until_a_tenth_is_back(headers: dict[str, str], seconds: float) -> None:
    assert read_limits(headers, NOW) == RateLimits(pytest.approx(seconds))


def test_the_longest_of_several_waits_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "10s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "40s",
    }
    assert read_limits(headers, NOW) == RateLimits(pytest.approx(4.0))


@pytest.mark.parametrize("reset", ["", "soon", "2026-11-20T11:00:00Z"])
def test_a_spent_allowance_without_a_time_to_come_says_nothing(reset: str) -> None:
    assert read_limits({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": reset}, NOW) is None


async def test_a_reply_carries_the_limits_of_its_headers() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        body = {"choices": [{"message": {"content": "Hi"}}]}
        headers = {"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "30s"}
        return httpx.Response(200, json=body, headers=headers)

    account = Account("openai", "https://api.openai.com/v1", "sk-test")
    conversation = Conversation((Message(Role.USER, "Hello"),))
    async with http.new_client(httpx.MockTransport(answer)) as client:
        reply = await http.exchange(client, openai, account, "m", conversation, NOW)
    assert (reply.text, reply.limits) == ("Hi", RateLimits(pytest.approx(3.0)))
