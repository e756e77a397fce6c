"""The rules of retrying, with a scripted attempt and a sleep that only writes down."""

from dataclasses import dataclass, field
from random import Random

import pytest

from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete_with_retry
from cupel_core.providers.errors import PleaseWait, ProviderError

HELLO = Conversation((Message(Role.USER, "Hello"),))
ACCOUNT = Account("openai", "https://api.openai.com/v1", "sk-test")
REPLY = Reply("Hi")


def failed(code: ErrorCode, retry_after: float | None = None, *, final: bool = False) -> ProviderError:
    return ProviderError(code, "no", retry_after, final=final)


@dataclass
class Script:
    """Fails as told, then answers."""

    failures: list[ProviderError]
    attempts: int = 0
    slept: list[float] = field(default_factory=list)
    told: list[tuple[ErrorCode, float]] = field(default_factory=list)

    async def attempt(self, account: Account, model: str, conversation: Conversation, timeout_seconds: float) -> Reply:
        assert (account, model, conversation, timeout_seconds) == (ACCOUNT, "openai/m", HELLO, 30)
        self.attempts += 1
        if self.attempts <= len(self.failures):
            raise self.failures[self.attempts - 1]
        return REPLY

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def run(self, patience_seconds: float = 60) -> Reply:
        return await complete_with_retry(
            ACCOUNT,
            "openai/m",
            HELLO,
            timeout_seconds=30,
            patience_seconds=patience_seconds,
            rng=Random(1),
            on_retry=lambda error, wait: self.told.append((error.code, wait)),
            attempt=self.attempt,
            sleep=self.sleep,
        )


@pytest.mark.parametrize(
    "code", [ErrorCode.RATE_LIMITED, ErrorCode.TIMEOUT, ErrorCode.PROVIDER_ERROR, ErrorCode.NETWORK]
)
async def test_what_may_pass_is_tried_again(code: ErrorCode) -> None:
    script = Script([failed(code), failed(code), failed(code)])
    assert await script.run() == REPLY
    assert script.attempts == 4
    assert script.told == [(code, wait) for wait in script.slept]


@pytest.mark.parametrize("code", [ErrorCode.AUTH, ErrorCode.INVALID_REQUEST, ErrorCode.CONTENT_FILTERED])
async def test_what_cannot_pass_is_final_at_once(code: ErrorCode) -> None:
    script = Script([failed(code)])
    with pytest.raises(ProviderError) as caught:
        await script.run()
    assert (caught.value.code, caught.value.attempts, script.slept) == (code, 1, [])


async def test_an_error_that_says_it_is_final_is() -> None:
    script = Script([failed(ErrorCode.PROVIDER_ERROR, final=True)])
    with pytest.raises(ProviderError):
        await script.run()
    assert script.attempts == 1


async def test_the_fourth_failure_is_the_last() -> None:
    script = Script([failed(ErrorCode.NETWORK) for _ in range(9)])
    with pytest.raises(ProviderError) as caught:
        await script.run()
    assert caught.value.attempts == script.attempts == 4
    assert len(script.slept) == 3


async def test_retry_after_is_waited_in_full() -> None:
    script = Script([failed(ErrorCode.RATE_LIMITED, 7.0)])
    await script.run()
    assert 7.0 <= script.slept[0] <= 8.0


async def test_a_wait_beyond_patience_hands_the_probe_on() -> None:
    script = Script([failed(ErrorCode.RATE_LIMITED, 61.0)])
    with pytest.raises(PleaseWait) as caught:
        await script.run(patience_seconds=60)
    assert 61 <= caught.value.retry_after_seconds <= 62
    assert caught.value.code is ErrorCode.RATE_LIMITED
    assert script.slept == []


async def test_patience_is_for_all_waits_together() -> None:
    script = Script([failed(ErrorCode.RATE_LIMITED, 40.0), failed(ErrorCode.RATE_LIMITED, 40.0)])
    with pytest.raises(PleaseWait) as caught:
        await script.run(patience_seconds=60)
    assert caught.value.attempts == 2
    assert len(script.slept) == 1
