"""A worker's lease on moto's table, under a clock that the test controls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import pytest
from botocore.exceptions import ConnectionClosedError

from cupel_core.domain.limits.governor import MIN_RENEW_INTERVAL_SECONDS, RENEW_INTERVAL_SECONDS, Limits
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import (
    ExhaustedAllowance,
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.probing.leases import (
    MAX_STARVED_SECONDS,
    MAX_WAIT_SECONDS,
    OUTRANKED_DELAY_SECONDS,
    LeaseHolder,
    LeaseKey,
)
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ParameterRejected, ProviderError
from cupel_core.settings import Settings
from cupel_core.store import clients, governor

ACCOUNT = Account("openai", "", "sk-test")
HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
MODEL, BROKEN_MODEL = "openai/m", "openai/typo"


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Model:
    """Returns `reply`, or raises `error` if it is set."""

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


type MakeHolder = Callable[..., LeaseHolder]


@pytest.fixture
def holder_of(cloud: Settings, clock: Clock, model: Model) -> MakeHolder:
    def make(worker_id: str = "a", priority: Priority = Priority.NORMAL, limits: Limits = Limits(50)) -> LeaseHolder:  # noqa: B008
        holder = LeaseHolder(LeaseKey("ws_a", "openai", worker_id, priority), clock, Random(1), model)
        holder.limits = limits
        return holder

    return make


async def renewed(holder: LeaseHolder, demand: int = 50, *models: str) -> LeaseHolder:
    await holder.renew(demand, frozenset(models))
    return holder


async def call_model(holder: LeaseHolder, model_id: str = MODEL, times: int = 1) -> None:
    """Run conversations of one call each."""
    for _ in range(times):
        attempt = holder.start_conversation(model_id)
        try:
            await attempt(ACCOUNT, model_id, HELLO, 10.0)
        except ProviderError:
            continue
        finally:
            holder.end_conversation()


@contextmanager
def lost_replies() -> Iterator[None]:
    """Writes succeed, but their responses are lost."""
    events = clients.dynamodb().meta.events

    def fail(**_: object) -> None:
        raise ConnectionClosedError(endpoint_url="http://localhost")

    events.register("after-call.dynamodb.PutItem", fail)
    try:
        yield
    finally:
        events.unregister("after-call.dynamodb.PutItem", fail)


async def test_nothing_starts_before_the_first_renewal(holder_of: MakeHolder) -> None:
    holder = holder_of()
    assert holder.is_renewal_due(10)
    assert (holder.free_slots, holder.granted_slots) == (0, 0)


async def test_free_slots_are_granted_slots_minus_running_conversations(holder_of: MakeHolder) -> None:
    holder = await renewed(holder_of(), 30)
    holder.start_conversation(MODEL)
    assert (holder.granted_slots, holder.free_slots) == (30, 29)
    holder.end_conversation()
    assert holder.free_slots == 30


async def test_a_lease_that_is_not_renewed_expires(holder_of: MakeHolder, clock: Clock) -> None:
    holder = await renewed(holder_of())
    clock.now += 10
    assert holder.free_slots == 0


async def test_a_lease_is_renewed_every_two_seconds_while_there_is_work(holder_of: MakeHolder, clock: Clock) -> None:
    holder = await renewed(holder_of(), 10)
    clock.now += RENEW_INTERVAL_SECONDS - 0.1
    assert not holder.is_renewal_due(10)
    clock.now += 0.1
    assert holder.is_renewal_due(10)
    await renewed(holder, 0)
    clock.now += RENEW_INTERVAL_SECONDS
    assert not holder.is_renewal_due(0)


async def test_a_higher_demand_is_reported_soon(holder_of: MakeHolder, clock: Clock) -> None:
    holder = await renewed(holder_of(), 10)
    assert not holder.is_renewal_due(20)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert holder.is_renewal_due(20)


async def test_a_worker_releases_unused_slots_that_others_wait_for(holder_of: MakeHolder, clock: Clock) -> None:
    first = await renewed(holder_of("a"))
    for _ in range(50):
        first.start_conversation(MODEL)
    second = await renewed(holder_of("b"))
    assert second.free_slots == 0
    clock.now += RENEW_INTERVAL_SECONDS
    await renewed(first)
    assert not first.is_renewal_due(50)
    for _ in range(25):
        first.end_conversation()
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert first.free_slots == 0
    assert first.is_renewal_due(50)
    await renewed(first)
    assert second.is_renewal_due(50)
    assert (await renewed(second)).free_slots == 25


async def test_after_a_report_that_may_be_lost_nothing_more_starts(holder_of: MakeHolder) -> None:
    holder = await renewed(holder_of())
    holder.start_conversation(MODEL)
    with lost_replies():
        await renewed(holder, 2)
    assert holder.free_slots == 0
    assert (await renewed(holder)).free_slots == 49


async def test_a_lost_report_is_repeated(holder_of: MakeHolder, model: Model) -> None:
    holder = await renewed(holder_of())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, BROKEN_MODEL, times=5)
    with lost_replies():
        await renewed(holder)
    assert holder.suspended_seconds(BROKEN_MODEL)
    await renewed(holder)
    assert governor.get_status("ws_a", "openai").suspended_models != ()


async def test_a_paused_account_starts_nothing_and_its_probes_return_to_the_queue(
    holder_of: MakeHolder, clock: Clock
) -> None:
    governor.set_paused("ws_a", "openai", True)
    holder = await renewed(holder_of())
    assert holder.free_slots == 0
    assert holder.requeue_delay_seconds() is not None


async def test_refusals_suspend_their_model_at_once_and_no_other(holder_of: MakeHolder, model: Model) -> None:
    holder = await renewed(holder_of())
    model.error = ProviderError(ProbeErrorCode.INVALID_REQUEST, "there is no such model")
    await call_model(holder, BROKEN_MODEL, times=5)
    assert (holder.suspended_seconds(BROKEN_MODEL) or 0) >= 30
    assert holder.suspended_seconds(MODEL) is None
    assert holder.free_slots == 50


async def test_refusals_of_a_parameter_suspend_no_model(holder_of: MakeHolder, model: Model) -> None:
    holder = holder_of()
    await holder.renew(20, frozenset())
    refusal = ProviderError(ProbeErrorCode.INVALID_REQUEST, "HTTP 400: `temperature` is deprecated for this model.")
    model.error = ParameterRejected(refusal)
    await call_model(holder, times=20)
    assert holder.suspended_seconds(MODEL) is None


async def test_an_opened_breaker_is_reported_soon(holder_of: MakeHolder, model: Model, clock: Clock) -> None:
    holder = await renewed(holder_of())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, BROKEN_MODEL, times=5)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert holder.is_renewal_due(50)


async def test_a_suspended_model_is_tried_by_one_probe_whose_success_resumes_it(
    holder_of: MakeHolder, model: Model, clock: Clock
) -> None:
    holder = await renewed(holder_of())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, BROKEN_MODEL, times=5)
    await renewed(holder)
    clock.now += 31
    assert holder.suspended_seconds(BROKEN_MODEL) == 0
    await renewed(holder, 50, BROKEN_MODEL)
    assert holder.suspended_seconds(BROKEN_MODEL) is None
    model.error = None
    attempt = holder.start_conversation(BROKEN_MODEL)
    assert (holder.suspended_seconds(BROKEN_MODEL) or 0) > 0
    clock.now += 1
    await attempt(ACCOUNT, BROKEN_MODEL, HELLO, 10.0)
    assert holder.suspended_seconds(BROKEN_MODEL) is None


async def test_a_failed_trial_suspends_for_twice_as_long(holder_of: MakeHolder, model: Model, clock: Clock) -> None:
    holder = await renewed(holder_of())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, BROKEN_MODEL, times=5)
    await renewed(holder)
    clock.now += 31
    await renewed(holder, 50, BROKEN_MODEL)
    await call_model(holder, BROKEN_MODEL)
    assert 60 <= (holder.suspended_seconds(BROKEN_MODEL) or 0) < 65


async def test_an_exhausted_allowance_stops_the_worker_at_once(
    holder_of: MakeHolder, model: Model, clock: Clock
) -> None:
    holder = await renewed(holder_of())
    model.reply = Reply("Hi", exhausted_allowance=ExhaustedAllowance(2.0))
    await call_model(holder)
    assert holder.free_slots == 0
    assert holder.requeue_delay_seconds() is None
    clock.now += 2.1
    assert holder.free_slots == 50


async def test_probes_return_to_the_queue_during_a_long_block(holder_of: MakeHolder, model: Model) -> None:
    holder = await renewed(holder_of())
    model.error = ProviderError(ProbeErrorCode.RATE_LIMITED, "slow down", retry_after_seconds=60.0)
    await call_model(holder, times=3)
    await renewed(holder)
    assert 60 <= (holder.requeue_delay_seconds() or 0) <= 62 + MAX_WAIT_SECONDS
    assert holder.free_slots == 0


async def test_requests_per_minute_are_not_exceeded(holder_of: MakeHolder, clock: Clock) -> None:
    holder = await renewed(holder_of(limits=Limits(50, requests_per_minute=300)))
    assert holder.free_slots == 10
    await call_model(holder, times=10)
    assert holder.free_slots == 0
    assert holder.requeue_delay_seconds() is None
    clock.now += 1
    assert holder.is_renewal_due(50)
    assert (await renewed(holder)).free_slots == 5


async def test_further_calls_of_a_conversation_count_as_requests(holder_of: MakeHolder) -> None:
    holder = await renewed(holder_of(limits=Limits(50, requests_per_minute=300)))
    attempt = holder.start_conversation(MODEL)
    for _ in range(3):
        await attempt(ACCOUNT, MODEL, HELLO, 10.0)
    holder.end_conversation()
    assert holder.free_slots == 7


async def test_at_a_slow_rate_probes_are_handed_on_instead_of_waiting(holder_of: MakeHolder) -> None:
    holder = await renewed(holder_of(limits=Limits(50, requests_per_minute=6)))
    await call_model(holder)
    await renewed(holder)
    assert 9 <= (holder.requeue_delay_seconds() or 0) <= 13


async def test_tokens_per_minute_limit_new_conversations_by_observed_usage(holder_of: MakeHolder, model: Model) -> None:
    holder = await renewed(holder_of(limits=Limits(50, tokens_per_minute=300_000)))
    assert holder.free_slots == 10
    model.reply = Reply("Hi", usage=Usage(6_000, 4_000))
    await call_model(holder)
    assert holder.free_slots == 0


async def test_a_lower_priority_yields(holder_of: MakeHolder) -> None:
    await renewed(holder_of("high", Priority.HIGH))
    low = await renewed(holder_of("low", Priority.LOW))
    assert low.free_slots == 0
    assert (low.requeue_delay_seconds() or 0) >= OUTRANKED_DELAY_SECONDS


async def test_a_starved_worker_hands_its_probes_on(holder_of: MakeHolder, clock: Clock) -> None:
    await renewed(holder_of("a"))
    holder = await renewed(holder_of("b"))
    assert holder.requeue_delay_seconds() is None
    clock.now += MAX_STARVED_SECONDS + 0.1
    assert holder.requeue_delay_seconds() is not None


async def test_a_leaving_worker_frees_its_lease_and_sends_its_last_report(holder_of: MakeHolder, model: Model) -> None:
    holder = await renewed(holder_of("a"))
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, BROKEN_MODEL, times=5)
    await holder.leave()
    assert governor.get_status("ws_a", "openai").suspended_models != ()
    assert (await renewed(holder_of("b"))).free_slots == 50
