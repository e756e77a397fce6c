"""The retry rules, with a scripted attempt and a sleep that only records its duration."""

from dataclasses import dataclass, field
from random import Random

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete_with_retry
from cupel_core.providers.errors import ProviderError, RetryLater, malformed_reply

HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
ACCOUNT = Account("openai", "https://api.openai.com/v1", "sk-test")
REPLY = Reply("Hi")


def failed(code: ProbeErrorCode, retry_after: float | None = None, *, final: bool = False) -> ProviderError:
    return ProviderError(code, "no", retry_after, final=final)


@dataclass
class Script:
    """Fails with each of these errors, then returns a reply."""

    failures: list[ProviderError]
    attempts: int = 0
    slept: list[float] = field(default_factory=list)
    reported: list[tuple[ProbeErrorCode, float]] = field(default_factory=list)

    async def attempt(self, account: Account, model: str, conversation: ModelRequest, timeout_seconds: float) -> Reply:
        assert (account, model, conversation, timeout_seconds) == (ACCOUNT, "openai/m", HELLO, 30)
        self.attempts += 1
        if self.attempts <= len(self.failures):
            raise self.failures[self.attempts - 1]
        return REPLY

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def run(self, max_wait_seconds: float = 60, retry_delay_seconds: float | None = None) -> Reply:
        return await complete_with_retry(
            ACCOUNT,
            "openai/m",
            HELLO,
            timeout_seconds=30,
            max_wait_seconds=max_wait_seconds,
            rng=Random(1),
            retry_delay_seconds=retry_delay_seconds,
            on_retry=lambda error, wait: self.reported.append((error.code, wait)),
            attempt=self.attempt,
            sleep=self.sleep,
        )


async def test_the_delay_of_a_run_spaces_attempts_and_not_the_waits_that_a_provider_asks_for() -> None:
    asked, failures = failed(ProbeErrorCode.RATE_LIMITED, 3.0), [failed(ProbeErrorCode.TIMEOUT)] * 2
    usual, longer, none = Script([asked, *failures]), Script([asked, *failures]), Script([asked, *failures])
    await usual.run()
    await longer.run(retry_delay_seconds=5.0)
    await none.run(retry_delay_seconds=0)
    assert longer.slept == [usual.slept[0], *(pytest.approx(10 * seconds) for seconds in usual.slept[1:])]
    assert none.slept == [usual.slept[0], 0, 0]


@pytest.mark.parametrize(
    "code", [ProbeErrorCode.RATE_LIMITED, ProbeErrorCode.TIMEOUT, ProbeErrorCode.PROVIDER_ERROR, ProbeErrorCode.NETWORK]
)
async def test_a_retryable_error_is_retried(code: ProbeErrorCode) -> None:
    script = Script([failed(code), failed(code), failed(code)])
    assert await script.run() == REPLY
    assert script.attempts == 4
    assert script.reported == [(code, wait) for wait in script.slept]


@pytest.mark.parametrize("code", [ProbeErrorCode.AUTH, ProbeErrorCode.INVALID_REQUEST, ProbeErrorCode.CONTENT_FILTERED])
async def test_an_error_that_is_not_retryable_is_raised_at_once(code: ProbeErrorCode) -> None:
    script = Script([failed(code)])
    with pytest.raises(ProviderError) as caught:
        await script.run()
    assert (caught.value.code, caught.value.attempts, script.slept) == (code, 1, [])


async def test_a_final_error_is_not_retried() -> None:
    script = Script([failed(ProbeErrorCode.PROVIDER_ERROR, final=True)])
    with pytest.raises(ProviderError):
        await script.run()
    assert script.attempts == 1


async def test_there_are_at_most_four_attempts() -> None:
    script = Script([failed(ProbeErrorCode.NETWORK) for _ in range(9)])
    with pytest.raises(ProviderError) as caught:
        await script.run()
    assert caught.value.attempts == script.attempts == 4
    assert len(script.slept) == 3


async def test_retry_after_is_waited_in_full() -> None:
    script = Script([failed(ProbeErrorCode.RATE_LIMITED, 7.0)])
    await script.run()
    assert 7.0 <= script.slept[0] <= 8.0


async def test_a_wait_beyond_the_limit_raises_retry_later() -> None:
    script = Script([failed(ProbeErrorCode.RATE_LIMITED, 61.0)])
    with pytest.raises(RetryLater) as caught:
        await script.run(max_wait_seconds=60)
    assert 61 <= caught.value.retry_after_seconds <= 62
    assert (caught.value.code, caught.value.model) == (ProbeErrorCode.RATE_LIMITED, "openai/m")
    assert script.slept == []


async def test_the_limit_is_for_all_waits_together() -> None:
    script = Script([failed(ProbeErrorCode.RATE_LIMITED, 40.0), failed(ProbeErrorCode.RATE_LIMITED, 40.0)])
    with pytest.raises(RetryLater) as caught:
        await script.run(max_wait_seconds=60)
    assert "try again in 4" in caught.value.detail
    assert len(script.slept) == 1


async def test_an_unreadable_reply_is_asked_for_twice() -> None:
    script = Script([malformed_reply("it is empty")] * 4)
    with pytest.raises(ProviderError, match="it is empty") as caught:
        await script.run()
    assert (script.attempts, caught.value.attempts) == (2, 2)


async def test_unreadable_replies_count_apart_from_other_errors() -> None:
    busy = failed(ProbeErrorCode.RATE_LIMITED)
    script = Script([busy, malformed_reply("it is empty"), busy])
    assert await script.run() == REPLY
    assert script.attempts == 4
