"""A worker's share of an account, on moto's table, under a clock that the test moves."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import pytest
from botocore.exceptions import ConnectionClosedError

from cupel_core.domain.limits.governor import Limits
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, RateLimits, Reply, Role, Usage
from cupel_core.probing.leases import (
    PATIENCE_SECONDS,
    RENEW_SECONDS,
    SOON_SECONDS,
    STUCK_SECONDS,
    YIELD_SECONDS,
    Place,
    Share,
)
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.settings import Settings
from cupel_core.store import clients, governor

ACCOUNT = Account("openai", "", "sk-test")
HELLO = Conversation((Message(Role.USER, "Hello"),))
MODEL, TYPO = "openai/m", "openai/typo"


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Model:
    """Answers, or raises, as it is told."""

    reply: Reply = field(default_factory=lambda: Reply("Hi"))
    error: ProviderError | None = None

    async def __call__(self, *_: object) -> Reply:
        if self.error is not None:
            raise self.error
        return self.reply


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> Model:
    return Model()


type MakeShare = Callable[..., Share]


@pytest.fixture
def share_of(cloud: Settings, clock: Clock, model: Model) -> MakeShare:
    def make(worker_id: str = "a", priority: Priority = Priority.NORMAL, limits: Limits = Limits(50)) -> Share:  # noqa: B008
        share = Share(Place("ws_a", "openai", worker_id, priority), clock, Random(1), model)
        share.limits = limits
        return share

    return make


async def renewed(share: Share, wanted: int = 50, *models: str) -> Share:
    await share.renew(wanted, frozenset(models))
    return share


async def ask(share: Share, model_id: str = MODEL, times: int = 1) -> None:
    """Whole conversations of one call each."""
    for _ in range(times):
        attempt = share.begin(model_id)
        try:
            await attempt(ACCOUNT, model_id, HELLO, 10.0)
        except ProviderError:
            continue
        finally:
            share.end()


@contextmanager
def lost_replies() -> Iterator[None]:
    """Writes arrive and their replies do not."""
    events = clients.dynamodb().meta.events

    def fail(**_: object) -> None:
        raise ConnectionClosedError(endpoint_url="http://localhost")

    events.register("after-call.dynamodb.PutItem", fail)
    try:
        yield
    finally:
        events.unregister("after-call.dynamodb.PutItem", fail)


async def test_nothing_begins_before_the_governor_was_asked(share_of: MakeShare) -> None:
    share = share_of()
    assert share.is_due(10)
    assert (share.free, share.slots) == (0, 0)


async def test_a_share_is_what_was_granted_less_what_runs(share_of: MakeShare) -> None:
    share = await renewed(share_of(), 30)
    share.begin(MODEL)
    assert (share.slots, share.free) == (30, 29)
    share.end()
    assert share.free == 30


async def test_a_share_that_is_not_renewed_ends(share_of: MakeShare, clock: Clock) -> None:
    share = await renewed(share_of())
    clock.now += 10
    assert share.free == 0


async def test_it_is_renewed_every_two_seconds_while_there_is_work(share_of: MakeShare, clock: Clock) -> None:
    share = await renewed(share_of(), 10)
    clock.now += RENEW_SECONDS - 0.1
    assert not share.is_due(10)
    clock.now += 0.1
    assert share.is_due(10)
    await renewed(share, 0)
    clock.now += RENEW_SECONDS
    assert not share.is_due(0)


async def test_more_work_is_told_soon(share_of: MakeShare, clock: Clock) -> None:
    share = await renewed(share_of(), 10)
    assert not share.is_due(20)
    clock.now += SOON_SECONDS
    assert share.is_due(20)


async def test_a_worker_that_others_wait_for_gives_up_what_it_does_not_use(share_of: MakeShare, clock: Clock) -> None:
    first = await renewed(share_of("a"))
    for _ in range(50):
        first.begin(MODEL)
    second = await renewed(share_of("b"))
    assert second.free == 0
    clock.now += RENEW_SECONDS
    await renewed(first)
    assert not first.is_due(50)
    for _ in range(25):
        first.end()
    clock.now += SOON_SECONDS
    assert first.free == 0
    assert first.is_due(50)
    await renewed(first)
    assert second.is_due(50)
    assert (await renewed(second)).free == 25


async def test_a_report_that_may_not_have_arrived_lets_nothing_more_begin(share_of: MakeShare) -> None:
    share = await renewed(share_of())
    share.begin(MODEL)
    with lost_replies():
        await renewed(share, 2)
    assert share.free == 0
    assert (await renewed(share)).free == 49


async def test_what_a_lost_report_told_is_told_again(share_of: MakeShare, model: Model) -> None:
    share = await renewed(share_of())
    model.error = ProviderError(ErrorCode.AUTH, "no")
    await ask(share, TYPO, times=5)
    with lost_replies():
        await renewed(share)
    assert share.held_seconds(TYPO)
    await renewed(share)
    assert governor.standing("ws_a", "openai").held_models != ()


async def test_a_paused_account_begins_nothing_and_its_probes_go_back(share_of: MakeShare, clock: Clock) -> None:
    governor.set_paused("ws_a", "openai", True)
    share = await renewed(share_of())
    assert share.free == 0
    assert share.delay() is not None


async def test_refusals_hold_their_model_at_once_and_no_other(share_of: MakeShare, model: Model) -> None:
    share = await renewed(share_of())
    model.error = ProviderError(ErrorCode.INVALID_REQUEST, "there is no such model")
    await ask(share, TYPO, times=5)
    assert (share.held_seconds(TYPO) or 0) >= 30
    assert share.held_seconds(MODEL) is None
    assert share.free == 50


async def test_a_breaker_that_opened_is_told_soon(share_of: MakeShare, model: Model, clock: Clock) -> None:
    share = await renewed(share_of())
    model.error = ProviderError(ErrorCode.AUTH, "no")
    await ask(share, TYPO, times=5)
    clock.now += SOON_SECONDS
    assert share.is_due(50)


async def test_a_held_model_is_tried_by_one_probe_whose_answer_frees_it(
    share_of: MakeShare, model: Model, clock: Clock
) -> None:
    share = await renewed(share_of())
    model.error = ProviderError(ErrorCode.AUTH, "no")
    await ask(share, TYPO, times=5)
    await renewed(share)
    clock.now += 31
    assert share.held_seconds(TYPO) == 0
    await renewed(share, 50, TYPO)
    assert share.held_seconds(TYPO) is None
    model.error = None
    attempt = share.begin(TYPO)
    assert (share.held_seconds(TYPO) or 0) > 0
    clock.now += 1
    await attempt(ACCOUNT, TYPO, HELLO, 10.0)
    assert share.held_seconds(TYPO) is None


async def test_a_trial_that_fails_holds_twice_as_long(share_of: MakeShare, model: Model, clock: Clock) -> None:
    share = await renewed(share_of())
    model.error = ProviderError(ErrorCode.AUTH, "no")
    await ask(share, TYPO, times=5)
    await renewed(share)
    clock.now += 31
    await renewed(share, 50, TYPO)
    await ask(share, TYPO)
    assert 60 <= (share.held_seconds(TYPO) or 0) < 65


async def test_a_spent_allowance_stops_the_worker_at_once(share_of: MakeShare, model: Model, clock: Clock) -> None:
    share = await renewed(share_of())
    model.reply = Reply("Hi", limits=RateLimits(2.0))
    await ask(share)
    assert share.free == 0
    assert share.delay() is None
    clock.now += 2.1
    assert share.free == 50


async def test_a_long_block_goes_back_to_the_queue(share_of: MakeShare, model: Model) -> None:
    share = await renewed(share_of())
    model.error = ProviderError(ErrorCode.RATE_LIMITED, "slow down", retry_after=60.0)
    await ask(share, times=3)
    await renewed(share)
    assert 60 <= (share.delay() or 0) <= 62 + PATIENCE_SECONDS
    assert share.free == 0


async def test_requests_per_minute_are_not_exceeded(share_of: MakeShare, clock: Clock) -> None:
    share = await renewed(share_of(limits=Limits(50, requests_per_minute=300)))
    assert share.free == 10
    await ask(share, times=10)
    assert share.free == 0
    assert share.delay() is None
    clock.now += 1
    assert share.is_due(50)
    assert (await renewed(share)).free == 5


async def test_further_calls_of_a_conversation_count_as_requests(share_of: MakeShare) -> None:
    share = await renewed(share_of(limits=Limits(50, requests_per_minute=300)))
    attempt = share.begin(MODEL)
    for _ in range(3):
        await attempt(ACCOUNT, MODEL, HELLO, 10.0)
    share.end()
    assert share.free == 7


async def test_a_slow_rate_hands_on_instead_of_waiting(share_of: MakeShare) -> None:
    share = await renewed(share_of(limits=Limits(50, requests_per_minute=6)))
    await ask(share)
    await renewed(share)
    assert 9 <= (share.delay() or 0) <= 13


async def test_tokens_per_minute_bound_what_begins_by_what_calls_have_used(share_of: MakeShare, model: Model) -> None:
    share = await renewed(share_of(limits=Limits(50, tokens_per_minute=300_000)))
    assert share.free == 10
    model.reply = Reply("Hi", usage=Usage(6_000, 4_000))
    await ask(share)
    assert share.free == 0


async def test_a_lower_priority_gives_way(share_of: MakeShare) -> None:
    await renewed(share_of("high", Priority.HIGH))
    low = await renewed(share_of("low", Priority.LOW))
    assert low.free == 0
    assert (low.delay() or 0) >= YIELD_SECONDS


async def test_a_worker_that_gets_nothing_for_long_hands_on(share_of: MakeShare, clock: Clock) -> None:
    await renewed(share_of("a"))
    share = await renewed(share_of("b"))
    assert share.delay() is None
    clock.now += STUCK_SECONDS + 0.1
    assert share.delay() is not None


async def test_whoever_leaves_frees_its_part_and_tells_the_last(share_of: MakeShare, model: Model) -> None:
    share = await renewed(share_of("a"))
    model.error = ProviderError(ErrorCode.AUTH, "no")
    await ask(share, TYPO, times=5)
    await share.leave()
    assert governor.standing("ws_a", "openai").held_models != ()
    assert (await renewed(share_of("b"))).free == 50
