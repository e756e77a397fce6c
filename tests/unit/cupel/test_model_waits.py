"""An evaluation in process waits for its models; these tests use a clock of their own."""

import asyncio
from datetime import datetime

import pytest

from cupel.in_process.model_waits import PATIENCE_SECONDS, ModelWaits
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.providers.errors import ProviderError

MODEL = "custom/m"
REFUSED = ProviderError(ProbeErrorCode.RATE_LIMITED, "HTTP 429: Too Many Requests", refused=True)


class Time:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class Server:
    """Refuses until a time, and notes when it was called."""

    def __init__(self, clock: Time, until: float, error: ProviderError = REFUSED) -> None:
        self.clock, self.until, self.error = clock, until, error
        self.calls: list[float] = []

    async def call(self, waits: ModelWaits) -> None:
        """One probe: calls until it is answered."""
        while True:
            try:
                async with waits.call(MODEL):
                    self.calls.append(round(self.clock.now - 1_000))
                    if self.clock.now < self.until:
                        raise self.error
            except ProviderError as error:
                if not error.asks_to_wait:
                    raise
            else:
                return


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def waits(clock: Time) -> ModelWaits:
    return ModelWaits(clock, clock.sleep)


async def test_a_model_that_answers_nothing_is_tried_by_one_call_after_growing_waits(
    clock: Time, waits: ModelWaits
) -> None:
    server = Server(clock, until=1_090.0)
    await asyncio.gather(*(server.call(waits) for _ in range(2)))
    assert server.calls[:5] == [0, 0, 5, 15, 35]
    assert server.calls[5] == server.calls[6] == 95
    assert len(server.calls) == 7


async def test_after_ten_minutes_every_call_fails_with_the_words_of_the_provider(
    clock: Time, waits: ModelWaits
) -> None:
    server = Server(clock, until=float("inf"))
    ended = await asyncio.gather(*(server.call(waits) for _ in range(2)), return_exceptions=True)
    assert [isinstance(each, ProviderError) and "Too Many Requests" in each.message for each in ended] == [True] * 2
    assert server.calls[-1] >= PATIENCE_SECONDS
    assert len(server.calls) <= 8


async def test_other_failures_of_a_model_make_no_call_wait(clock: Time, waits: ModelWaits) -> None:
    broken = ProviderError(ProbeErrorCode.PROVIDER_ERROR, "HTTP 500", repair=Remedy.REPEAT)
    for _ in range(30):
        with pytest.raises(ProviderError):
            await Server(clock, float("inf"), broken).call(waits)
    assert clock.now == 1_000.0


async def test_other_models_of_the_account_are_called(clock: Time, waits: ModelWaits) -> None:
    for _ in range(2):
        with pytest.raises(ProviderError):
            async with waits.call(MODEL):
                raise REFUSED
    async with waits.call("custom/other"):
        pass
    assert (clock.now, waits.is_waiting(MODEL)) == (1_000.0, True)


async def test_whoever_shows_progress_is_told_what_a_call_waits_for(clock: Time, waits: ModelWaits) -> None:
    told: list[tuple[str, bool, str]] = []

    def note(model: str, until: datetime | None, reason: str) -> None:
        told.append((model, until is not None, reason))

    for _ in range(2):
        with pytest.raises(ProviderError):
            async with waits.call(MODEL):
                raise REFUSED
    async with waits.call(MODEL, note):
        pass
    assert told[0][:2] == (MODEL, True)
    assert "Too Many Requests" in told[0][2]
    assert told[-1] == (MODEL, False, "")
