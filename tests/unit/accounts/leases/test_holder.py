"""A worker's lease on moto's table, under a clock that the test controls."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random

import pytest
from botocore.exceptions import ConnectionClosedError

from cupel_core.accounts.leases.holder import LeaseHolder, Reservation
from cupel_core.accounts.leases.lease_state import (
    MAX_INFORMATION_AGE_SECONDS,
    MAX_STARVED_SECONDS,
    MIN_HEADROOM,
    OUTRANKED_DELAY_SECONDS,
    LeaseKey,
    PendingProbes,
)
from cupel_core.accounts.leases.renewal_schedule import CHECK_INTERVAL_SECONDS
from cupel_core.domain.conversations.model_request import ExhaustedAllowance, ProbeErrorCode, Reply, Usage
from cupel_core.domain.limits.governor import MIN_RENEW_INTERVAL_SECONDS, RENEW_INTERVAL_SECONDS, Limits
from cupel_core.domain.limits.worker_capacity import MAX_CALLS
from cupel_core.domain.runs.run import Priority
from cupel_core.providers.errors import CallPostponed, CallPrevented, ParameterRejected, ProviderError
from cupel_core.store import clients, governor
from cupel_core.store.settings import Settings

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
def make_holder(cloud: Settings, clock: Clock, model: Model) -> MakeHolder:
    def make(worker_id: str = "a", priority: Priority = Priority.NORMAL, limits: Limits = Limits(50)) -> LeaseHolder:  # noqa: B008
        holder = LeaseHolder(LeaseKey("ws_a", "openai", worker_id, priority), clock, Random(1))
        holder.limits = limits
        return holder

    return make


async def renewed(holder: LeaseHolder, demand: int = 50, *models: str) -> LeaseHolder:
    """Report so many conversations, running or pending, and renew the lease."""
    report_demand(holder, demand, *models)
    await holder.renew()
    return holder


def report_demand(holder: LeaseHolder, demand: int, *models: str) -> None:
    holder.pending = PendingProbes(demand - holder.open_conversations, lambda: frozenset(models))


def is_renewal_due(holder: LeaseHolder, demand: int) -> bool:
    report_demand(holder, demand)
    return holder.is_renewal_due


async def call_model(holder: LeaseHolder, model: Model, model_id: str = MODEL, times: int = 1) -> None:
    """Run conversations of one call each."""
    for _ in range(times):
        reservation = holder.start_conversation(model_id)
        with suppress(ProviderError):
            await make_call(holder, model, model_id, reservation)
        holder.end_conversation()


async def make_call(
    holder: LeaseHolder, model: Model, model_id: str = MODEL, reservation: Reservation | None = None
) -> None:
    async with holder.slot(model_id, 1.0, reservation=reservation) as on_answer:
        on_answer(await model())


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


async def test_nothing_starts_before_the_first_renewal(make_holder: MakeHolder) -> None:
    holder = make_holder()
    assert is_renewal_due(holder, 10)
    assert (holder.free_slots, holder.granted_slots) == (0, 0)


async def test_free_slots_are_granted_slots_minus_those_in_use(make_holder: MakeHolder) -> None:
    holder = await renewed(make_holder(), 30)
    reservation = holder.start_conversation(MODEL)
    assert (holder.granted_slots, holder.free_slots) == (30, 29)
    reservation.release()
    assert holder.free_slots == 30


async def test_a_worker_that_got_all_it_asked_for_may_have_its_part_of_the_account(make_holder: MakeHolder) -> None:
    holder = make_holder(limits=Limits(500))
    assert holder.attainable_slots(2) == 0
    await renewed(holder, 30)
    assert [holder.attainable_slots(workers) for workers in (1, 2, 50)] == [400, 250, 30]


async def test_a_worker_that_got_less_than_it_asked_for_has_what_it_got(make_holder: MakeHolder) -> None:
    await renewed(make_holder("a", limits=Limits(60)), 40)
    second = await renewed(make_holder("b", limits=Limits(60)), 40)
    assert (second.granted_slots, second.attainable_slots(2)) == (20, 20)


async def test_a_worker_asks_for_at_most_as_many_calls_as_it_has_connections(make_holder: MakeHolder) -> None:
    holder = await renewed(make_holder(limits=Limits(1_000)), 900)
    assert holder.granted_slots == MAX_CALLS


@pytest.mark.parametrize(("granted", "tolerated"), [(1, 10), (40, 10), (200, 50)])
async def test_an_account_is_crowded_when_a_quarter_of_its_calls_wait(
    make_holder: MakeHolder, model: Model, granted: int, tolerated: int
) -> None:
    holder = await renewed(make_holder(limits=Limits(granted)), 900)
    for _ in range(granted):
        holder.start_conversation(MODEL)
    waiting = [asyncio.create_task(make_call(holder, model)) for _ in range(tolerated)]
    await asyncio.sleep(0)
    assert not holder.is_crowded
    waiting.append(asyncio.create_task(make_call(holder, model)))
    await asyncio.sleep(0)
    assert holder.is_crowded
    for call in waiting:
        call.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert not holder.is_crowded


async def test_a_lease_that_is_not_renewed_expires(make_holder: MakeHolder, clock: Clock) -> None:
    holder = await renewed(make_holder())
    clock.now += 10
    assert holder.free_slots == 0


async def test_a_lease_is_renewed_every_three_seconds_while_there_is_work(
    make_holder: MakeHolder, clock: Clock
) -> None:
    holder = await renewed(make_holder(), 10)
    clock.now += RENEW_INTERVAL_SECONDS - 0.1
    assert not is_renewal_due(holder, 10)
    clock.now += 0.1
    assert is_renewal_due(holder, 10)
    await renewed(holder, 0)
    clock.now += RENEW_INTERVAL_SECONDS
    assert not is_renewal_due(holder, 0)


async def test_a_higher_demand_is_reported_soon(make_holder: MakeHolder, clock: Clock) -> None:
    holder = await renewed(make_holder(), 10)
    assert not is_renewal_due(holder, 20)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert is_renewal_due(holder, 20)


async def test_a_worker_releases_unused_slots_that_others_wait_for(make_holder: MakeHolder, clock: Clock) -> None:
    first = await renewed(make_holder("a"))
    reservations = [first.start_conversation(MODEL) for _ in range(50)]
    second = await renewed(make_holder("b"))
    assert second.free_slots == 0
    clock.now += RENEW_INTERVAL_SECONDS
    await renewed(first)
    assert not is_renewal_due(first, 50)
    for reservation in reservations[:25]:
        reservation.release()
        first.end_conversation()
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert first.free_slots == 0
    assert is_renewal_due(first, 50)
    await renewed(first)
    assert is_renewal_due(second, 50)
    assert (await renewed(second)).free_slots == 25


@pytest.mark.parametrize(("demand", "interval"), [(26, CHECK_INTERVAL_SECONDS), (25, RENEW_INTERVAL_SECONDS)])
async def test_the_only_worker_soon_learns_of_one_that_needs_part_of_its_slots(
    make_holder: MakeHolder, clock: Clock, demand: int, interval: float
) -> None:
    holder = await renewed(make_holder(), demand)
    for _ in range(4):  # The first renewals come sooner: workers of a run begin together.
        clock.now += interval
        await renewed(holder, demand)
    clock.now += interval - 0.1
    assert not is_renewal_due(holder, demand)
    clock.now += 0.1
    assert is_renewal_due(holder, demand)


async def test_a_worker_that_is_not_alone_renews_its_lease_as_usual(make_holder: MakeHolder, clock: Clock) -> None:
    first = await renewed(make_holder("a"))
    await renewed(make_holder("b"), 1)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    await renewed(first)
    clock.now += CHECK_INTERVAL_SECONDS
    assert (first.granted_slots, is_renewal_due(first, 50)) == (49, False)


async def test_a_worker_that_comes_to_need_more_than_others_leave_asks_soon(
    make_holder: MakeHolder, clock: Clock
) -> None:
    other = await renewed(make_holder("a"), 45)
    for _ in range(45):
        other.start_conversation(MODEL)
    holder = make_holder("b")
    for demand in (5, 5, 5, 5, 50):  # It gets all that it asks for, except the last time.
        await renewed(holder, demand)
        clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert holder.granted_slots == 5
    assert not is_renewal_due(holder, 50)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert is_renewal_due(holder, 50)


async def test_after_a_report_that_may_be_lost_nothing_more_starts(make_holder: MakeHolder) -> None:
    holder = await renewed(make_holder())
    holder.start_conversation(MODEL)
    with lost_replies():
        await renewed(holder, 2)
    assert holder.free_slots == 0
    assert (await renewed(holder)).free_slots == 49


async def test_a_lost_report_is_repeated(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    with lost_replies():
        await renewed(holder)
    assert holder.refusal(BROKEN_MODEL)
    await renewed(holder)
    assert (await renewed(make_holder("b"))).refusal(BROKEN_MODEL)


async def test_a_paused_account_starts_nothing_and_its_probes_return_to_the_queue(
    make_holder: MakeHolder, clock: Clock
) -> None:
    governor.set_paused("ws_a", "openai", True)
    holder = await renewed(make_holder())
    assert holder.free_slots == 0
    assert holder.requeue_delay_seconds() is not None


async def test_refusals_stop_the_runs_of_their_model_at_once_and_no_other(
    make_holder: MakeHolder, model: Model
) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.INVALID_REQUEST, "there is no such model")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    assert "there is no such model" in (holder.refusal(BROKEN_MODEL) or "")
    assert holder.refusal(MODEL) is None
    assert holder.free_slots == 50


async def test_a_report_that_was_lost_is_repeated_even_if_the_worker_needs_nothing_more(
    make_holder: MakeHolder, clock: Clock
) -> None:
    holder = await renewed(make_holder("a"))
    with lost_replies():
        await renewed(holder, 0)
    clock.now += RENEW_INTERVAL_SECONDS
    assert is_renewal_due(holder, 0)
    await renewed(holder, 0)
    clock.now += RENEW_INTERVAL_SECONDS
    assert not is_renewal_due(holder, 0)


async def test_an_opened_breaker_is_reported_soon_by_a_worker_that_waits_for_slots(
    make_holder: MakeHolder, model: Model, clock: Clock
) -> None:
    other = await renewed(make_holder("a"), 45)
    for _ in range(45):
        other.start_conversation(MODEL)
    holder = make_holder("b")
    for _ in range(6):
        await renewed(holder, 50)
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert is_renewal_due(holder, 50)


async def test_a_breaker_is_outdated_for_a_run_that_was_changed_since_the_last_renewal(
    make_holder: MakeHolder, model: Model, clock: Clock
) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    assert not holder.is_outdated(BROKEN_MODEL, changed_at=clock.now - 1)
    assert holder.is_outdated(BROKEN_MODEL, changed_at=clock.now + 1)
    clock.now += 2
    await renewed(holder)
    assert not holder.is_outdated(BROKEN_MODEL, changed_at=clock.now - 1)


async def test_refusals_of_a_parameter_suspend_no_model(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder(), 20)
    refusal = ProviderError(ProbeErrorCode.INVALID_REQUEST, "HTTP 400: `temperature` is deprecated for this model.")
    model.error = ParameterRejected(refusal)
    await call_model(holder, model, times=20)
    assert holder.suspended_seconds(MODEL) is None


async def test_an_opened_breaker_is_reported_soon(make_holder: MakeHolder, model: Model, clock: Clock) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    clock.now += MIN_RENEW_INTERVAL_SECONDS
    assert is_renewal_due(holder, 50)


async def test_a_suspended_model_is_tried_by_one_probe_whose_success_resumes_it(
    make_holder: MakeHolder, model: Model, clock: Clock
) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.PROVIDER_ERROR, "no")
    await call_model(holder, model, BROKEN_MODEL, times=20)
    await renewed(holder)
    clock.now += 31
    assert holder.suspended_seconds(BROKEN_MODEL) == 0
    await renewed(holder, 50, BROKEN_MODEL)
    assert holder.suspended_seconds(BROKEN_MODEL) is None
    model.error = None
    reservation = holder.start_conversation(BROKEN_MODEL)
    assert (holder.suspended_seconds(BROKEN_MODEL) or 0) > 0
    clock.now += 1
    await make_call(holder, model, BROKEN_MODEL, reservation)
    assert holder.suspended_seconds(BROKEN_MODEL) is None


async def test_a_failed_trial_suspends_for_twice_as_long(make_holder: MakeHolder, model: Model, clock: Clock) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.PROVIDER_ERROR, "no")
    await call_model(holder, model, BROKEN_MODEL, times=20)
    await renewed(holder)
    clock.now += 31
    await renewed(holder, 50, BROKEN_MODEL)
    await call_model(holder, model, BROKEN_MODEL)
    assert 60 <= (holder.suspended_seconds(BROKEN_MODEL) or 0) < 65


async def test_an_exhausted_allowance_stops_the_calls_of_its_model_at_once(
    make_holder: MakeHolder, model: Model
) -> None:
    holder = await renewed(make_holder())
    model.reply = Reply("Hi", exhausted_allowance=ExhaustedAllowance(20.0))
    await call_model(holder, model)
    assert 20 <= (holder.suspended_seconds(MODEL) or 0) <= 22
    assert holder.suspended_seconds("openai/other") is None
    assert holder.free_slots == 50


async def test_probes_of_a_model_that_asks_to_wait_return_to_the_queue(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.RATE_LIMITED, "slow down", retry_after_seconds=60.0)
    await call_model(holder, model, times=2)
    await renewed(holder)
    assert 60 <= (holder.suspended_seconds(MODEL) or 0) <= 62
    assert holder.requeue_delay_seconds() is None


async def test_requests_per_minute_are_not_exceeded(make_holder: MakeHolder, model: Model, clock: Clock) -> None:
    holder = await renewed(make_holder(limits=Limits(50, requests_per_minute=300)))
    assert holder.free_slots == 10
    await call_model(holder, model, times=10)
    assert holder.free_slots == 0
    assert holder.requeue_delay_seconds() is None
    clock.now += 1
    assert is_renewal_due(holder, 50)
    assert (await renewed(holder)).free_slots == 5


async def test_further_calls_of_a_conversation_count_as_requests(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder(limits=Limits(50, requests_per_minute=300)))
    reservation = holder.start_conversation(MODEL)
    for _ in range(3):
        await make_call(holder, model, MODEL, reservation)
    holder.end_conversation()
    assert holder.free_slots == 7


async def test_at_a_slow_rate_probes_are_handed_on_instead_of_waiting(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder(limits=Limits(50, requests_per_minute=6)))
    await call_model(holder, model)
    await renewed(holder)
    assert 9 <= (holder.requeue_delay_seconds() or 0) <= 13


async def test_tokens_per_minute_limit_new_conversations_by_observed_usage(
    make_holder: MakeHolder, model: Model
) -> None:
    holder = await renewed(make_holder(limits=Limits(50, tokens_per_minute=300_000)))
    assert holder.free_slots == 10
    model.reply = Reply("Hi", usage=Usage(6_000, 4_000))
    await call_model(holder, model)
    assert holder.free_slots == 0


async def test_a_lower_priority_yields(make_holder: MakeHolder) -> None:
    await renewed(make_holder("high", Priority.HIGH))
    low = await renewed(make_holder("low", Priority.LOW))
    assert low.free_slots == 0
    assert (low.requeue_delay_seconds() or 0) >= OUTRANKED_DELAY_SECONDS


async def test_a_starved_worker_hands_its_probes_on(make_holder: MakeHolder, clock: Clock) -> None:
    await renewed(make_holder("a"))
    holder = await renewed(make_holder("b"))
    assert holder.requeue_delay_seconds() is None
    clock.now += MAX_STARVED_SECONDS + 0.1
    assert holder.requeue_delay_seconds() is not None


async def test_a_leaving_worker_frees_its_lease_and_sends_its_last_report(
    make_holder: MakeHolder, model: Model
) -> None:
    holder = await renewed(make_holder("a"))
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    await holder.leave()
    other = await renewed(make_holder("b"))
    assert (other.free_slots, "no" in (other.refusal(BROKEN_MODEL) or "")) == (50, True)


async def test_a_call_without_a_free_slot_waits_until_another_ends(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder(limits=Limits(1)))
    reservation = holder.start_conversation(MODEL)
    waiting = asyncio.create_task(make_call(holder, model))
    await asyncio.sleep(0)
    assert (holder.waiting_calls, holder.in_flight) == (1, 1)
    reservation.release()
    await waiting
    assert (holder.waiting_calls, holder.in_flight) == (0, 0)


async def test_waiting_calls_start_in_their_order(make_holder: MakeHolder) -> None:
    holder = await renewed(make_holder(limits=Limits(1)))
    reservation, order = holder.start_conversation(MODEL), list[str]()

    async def call(name: str) -> None:
        async with holder.slot(MODEL, 1.0):
            order.append(name)

    calls = [asyncio.create_task(call(name)) for name in "abc"]
    await asyncio.sleep(0)
    reservation.release()
    await asyncio.gather(*calls)
    assert order == ["a", "b", "c"]


async def test_a_call_that_waits_too_long_is_postponed_and_holds_nothing(make_holder: MakeHolder) -> None:
    holder = await renewed(make_holder(limits=Limits(1)))
    holder.start_conversation(MODEL)
    with pytest.raises(CallPostponed):
        async with holder.slot(MODEL, 0.01):
            pytest.fail("the call was made")
    assert (holder.waiting_calls, holder.in_flight) == (0, 1)


async def test_a_cancelled_waiting_call_holds_nothing(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder(limits=Limits(1)))
    reservation = holder.start_conversation(MODEL)
    waiting = asyncio.create_task(make_call(holder, model))
    await asyncio.sleep(0)
    reservation.release()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert (holder.waiting_calls, holder.in_flight) == (0, 0)


async def test_a_grader_s_call_to_a_paused_account_is_postponed(make_holder: MakeHolder, model: Model) -> None:
    governor.set_paused("ws_a", "openai", True)
    holder = await renewed(make_holder())
    with pytest.raises(CallPostponed):
        await make_call(holder, model)


async def test_a_call_is_postponed_if_its_account_is_paused_during_a_slow_check(
    make_holder: MakeHolder, clock: Clock
) -> None:
    holder = await renewed(make_holder())

    async def slow_check() -> None:
        governor.set_paused("ws_a", "openai", True)
        clock.now += RENEW_INTERVAL_SECONDS
        await holder.renew()

    with pytest.raises(CallPostponed):
        async with holder.slot(MODEL, 1.0, slow_check):
            pytest.fail("the call was made")
    assert holder.in_flight == 0


async def test_a_call_is_postponed_if_nothing_is_heard_of_its_account_during_a_slow_check(
    make_holder: MakeHolder, clock: Clock
) -> None:
    holder = await renewed(make_holder())

    async def slow_check() -> None:
        clock.now += MAX_INFORMATION_AGE_SECONDS

    with pytest.raises(CallPostponed):
        async with holder.slot(MODEL, 1.0, slow_check):
            pytest.fail("the call was made")


async def test_a_patient_call_waits_until_a_paused_account_resumes(
    make_holder: MakeHolder, model: Model, clock: Clock
) -> None:
    governor.set_paused("ws_a", "openai", True)
    holder = await renewed(make_holder())

    async def call() -> None:
        async with holder.slot(MODEL, 5.0, patient=True) as on_answer:
            on_answer(await model())

    waiting = asyncio.create_task(call())
    await asyncio.sleep(0)
    assert holder.waiting_calls == 1
    governor.set_paused("ws_a", "openai", False)
    clock.now += RENEW_INTERVAL_SECONDS
    await renewed(holder)
    await waiting


async def test_a_call_of_a_suspended_judge_is_postponed(make_holder: MakeHolder, model: Model) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.AUTH, "no")
    await call_model(holder, model, BROKEN_MODEL, times=5)
    with pytest.raises(CallPostponed) as postponed:
        await make_call(holder, model, BROKEN_MODEL)
    assert postponed.value.retry_after_seconds >= 30


async def test_a_worker_that_has_not_heard_of_the_governor_for_five_seconds_starts_nothing(
    make_holder: MakeHolder, clock: Clock
) -> None:
    holder = await renewed(make_holder())
    clock.now += MAX_INFORMATION_AGE_SECONDS
    assert holder.free_slots == 0


async def test_a_lease_used_for_grading_only_follows_the_calls_of_the_last_seconds(
    make_holder: MakeHolder, model: Model, clock: Clock
) -> None:
    holder = await renewed(make_holder(), 1)
    report_demand(holder, 0)
    await make_call(holder, model)
    assert holder.demand == 1 + MIN_HEADROOM
    clock.now += 10
    await holder.renew()
    assert holder.demand == 0


async def test_the_slot_of_a_conversation_that_makes_no_call_is_not_counted_as_a_request(
    make_holder: MakeHolder,
) -> None:
    holder = await renewed(make_holder(limits=Limits(50, requests_per_minute=300)))
    holder.start_conversation(MODEL).release()
    assert holder.free_slots == 10


async def prevent_call(holder: LeaseHolder, model_id: str = MODEL) -> None:
    """A call that its guard prevents once it has a slot."""
    with pytest.raises(CallPrevented):
        async with holder.slot(model_id, 1.0):
            raise CallPrevented


async def test_a_call_that_its_guard_prevents_is_not_counted_as_a_request(make_holder: MakeHolder) -> None:
    holder = await renewed(make_holder(limits=Limits(50, requests_per_minute=300)))
    await prevent_call(holder)
    assert holder.free_slots == 10


async def test_a_prevented_trial_leaves_the_trial_to_the_next_call(
    make_holder: MakeHolder, model: Model, clock: Clock
) -> None:
    holder = await renewed(make_holder())
    model.error = ProviderError(ProbeErrorCode.PROVIDER_ERROR, "no")
    await call_model(holder, model, BROKEN_MODEL, times=20)
    await renewed(holder)
    clock.now += 31
    await renewed(holder, 50, BROKEN_MODEL)
    await prevent_call(holder, BROKEN_MODEL)
    assert holder.suspended_seconds(BROKEN_MODEL) is None
