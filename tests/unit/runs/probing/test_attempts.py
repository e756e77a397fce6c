"""Attempts bound what a probe may cost, over all deliveries; waits that a provider asks for are none of them."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import ProbeSlice
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.domain.runs.run import Action, Progress, Run, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.providers import completion
from cupel_core.providers.errors import ProviderError
from cupel_core.runs import control, repairs
from cupel_core.runs.probing.invocation import InvocationTime
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, clients, outcomes, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings, settings
from tests.started_runs import NOW, RunSetup, ref_of, send_and_receive, slice_message

MAX_DELAY_SECONDS = 900
"""SQS's limit; no test takes as long."""
type Answer = Callable[[ModelRequest], Reply]
TIMEOUT = ProviderError(ProbeErrorCode.TIMEOUT, "no response within 57 s")
KEY = ProviderError(ProbeErrorCode.AUTH, "HTTP 401: Incorrect API key provided", repair=Remedy.OWNER, refused=True)


class Model:
    """Answers as it is told, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: ProviderError | None = None
        self.fails_from = 0

    async def __call__(self, *_: object) -> Reply:
        self.calls += 1
        if self.error is not None and self.calls > self.fails_from:
            raise self.error
        return Reply("Rating: 4")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    model = Model()
    monkeypatch.setattr(completion, "_call_provider", model)
    return model


@pytest.fixture
def delays() -> list[int]:
    """It lists the delays of the messages that a worker hands on."""
    return []


@pytest.fixture
def sent(cloud: Settings, finish_starts: list[tuple[str, int]], delays: list[int]) -> Iterator[list[ProbeSlice]]:
    """The messages that a worker hands on. The queue keeps those with a delay: it would deliver them beside the copies
    that a test sends."""
    events, seen = clients.sqs().meta.events, list[ProbeSlice]()

    def note(params: dict[str, Any], **_: object) -> None:
        for entry in params["Entries"]:
            if "indexes" in entry["MessageBody"]:
                seen.append(ProbeSlice.model_validate_json(entry["MessageBody"]))
                delays.append(entry["DelaySeconds"])
                entry["DelaySeconds"] = entry["DelaySeconds"] and MAX_DELAY_SECONDS

    events.register("provide-client-params.sqs.SendMessageBatch", note)
    yield seen
    events.unregister("provide-client-params.sqs.SendMessageBatch", note)


def begin(run: Run, indexes: list[int], sent: list[ProbeSlice]) -> list[Any]:
    deliveries = send_and_receive(slice_message(run, indexes))
    sent.clear()
    return deliveries


def worker() -> Worker:
    return Worker("sim", time.time() + 600, receive_wait_seconds=0)


async def deliver_again(sent: list[ProbeSlice]) -> None:
    """Deliver what was handed on, whatever its delay."""
    messages = list(sent)
    deliveries = send_and_receive(*messages)
    sent.clear()
    await worker().run(deliveries)


async def test_attempts_are_counted_over_all_deliveries(
    sent: list[ProbeSlice], model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call as long as half of an invocation: after each timeout there is no time for another one."""
    model.error = TIMEOUT
    monkeypatch.setattr(InvocationTime, "is_closing", property(lambda _: model.calls > closing_after))
    run = RunSetup(scenario_count=1).start()
    closing_after = 0
    deliveries, number = begin(run, [0], sent), 0
    await worker().run(deliveries)
    while sent and number < 10:
        number, closing_after = number + 1, model.calls
        await deliver_again(sent)
    error = outcomes.get(ref_of(run), 0)
    assert isinstance(error, ProbeError)
    assert (model.calls, error.attempts, error.code) == (4, 4, ProbeErrorCode.TIMEOUT)


async def test_a_wait_that_the_provider_asks_for_is_no_attempt(sent: list[ProbeSlice], model: Model) -> None:
    model.error = ProviderError(ProbeErrorCode.RATE_LIMITED, "HTTP 429: Too Many Requests", refused=True)
    run = RunSetup(scenario_count=6).start()
    await worker().run(begin(run, list(range(6)), sent))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(6)
    assert sorted(index for message in sent for index in message.indexes) == list(range(6))
    assert all(message.handoffs == 0 for message in sent)


class Clock:
    """Jumps to when a message that was handed on is due."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


async def test_half_an_hour_of_refusals_loses_nothing_and_costs_nothing(
    sent: list[ProbeSlice], delays: list[int], model: Model
) -> None:
    clock = Clock()
    model.error = ProviderError(ProbeErrorCode.RATE_LIMITED, "HTTP 429: Too Many Requests", refused=True)
    run = RunSetup(scenario_count=40).start()
    deliveries, started_at, received = begin(run, list(range(40)), sent), clock.now, list[int]()
    delays.clear()
    while clock.now < started_at + 1_800:
        deliveries += queues.receive(settings().probe_queue_url("sim"), 10)
        received += [delivery.receive_count for delivery in deliveries]
        assert await Worker("sim", clock.now + 600, clock, receive_wait_seconds=0).run(deliveries) == []
        # What has no delay was received by the worker itself, or is received with the next messages.
        messages = [message for message, delay in zip(sent, delays, strict=True) if delay]
        clock.now += min(filter(None, delays))
        deliveries = send_and_receive(*messages)
        sent.clear()
        delays.clear()
    assert set(received) == {1}, "no message was left to its visibility timeout, which leads to a dead letter"
    assert sorted(index for message in messages for index in message.indexes) == list(range(40))
    assert model.calls < 150
    assert (barrier.get_progress(Tree.for_run(run)), runs.get(ref_of(run)).status) == (Progress(40), RunStatus.RUNNING)


async def test_calls_in_flight_when_a_key_is_revoked_are_handed_back(sent: list[ProbeSlice], model: Model) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    model.error, model.fails_from = KEY, 20
    run = RunSetup(scenario_count=80).start()
    await worker().run(begin(run, list(range(80)), sent))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(80, completed=20)
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED


async def test_a_run_whose_key_was_rotated_completes_every_probe_once_the_new_key_is_set(
    sent: list[ProbeSlice], model: Model
) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    model.error, model.fails_from = KEY, 20
    run = RunSetup(scenario_count=80).start()
    await worker().run(begin(run, list(range(80)), sent))
    model.error = None
    repairs.update_provider("ws_a", "sim", {"max_parallel_requests": 10}, utc_now())
    resumed = runs.get(ref_of(run))
    assert resumed.status is RunStatus.RUNNING, "it goes on by itself"
    await worker().run(begin(resumed, list(range(80)), sent))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(80, completed=80)


async def test_a_key_that_was_never_right_is_an_error_at_once(sent: list[ProbeSlice], model: Model) -> None:
    model.error = KEY
    run = RunSetup(scenario_count=1).start()
    await worker().run(begin(run, [0], sent))
    assert (model.calls, barrier.get_progress(Tree.for_run(run)).failed) == (1, 1)


async def test_a_run_that_is_resumed_with_a_wrong_key_is_paused_again_without_errors(
    sent: list[ProbeSlice], model: Model
) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    run = RunSetup(scenario_count=30).start()
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    resumed, model.error = control.resume("ws_a", run.id, utc_now()), KEY
    await worker().run(begin(resumed, list(range(30)), sent))
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED
    assert barrier.get_progress(Tree.for_run(run)) == Progress(30)


async def test_a_quota_for_the_day_pauses_the_run_and_errors_no_probe(sent: list[ProbeSlice], model: Model) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    words = "HTTP 429: free-models-per-day (until 2026-01-16 00:00 UTC)"
    model.error = ProviderError(ProbeErrorCode.RATE_LIMITED, words, repair=Remedy.OWNER, refused=True)
    run = RunSetup(scenario_count=30).start()
    await worker().run(begin(run, list(range(30)), sent))
    paused = runs.get(ref_of(run))
    assert (paused.status, barrier.get_progress(Tree.for_run(run)).failed) == (RunStatus.PAUSED, 0)
    assert paused.pause_cause is not None
    assert words in paused.pause_cause.message
