"""What a live worker processes stays its own; what a dead or very slow one processed is taken over."""

from collections.abc import Iterator
from typing import Any

import pytest

from cupel_core.domain.conversations.attempts import AttemptInFlight
from cupel_core.domain.conversations.model_request import ModelRequest
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.column_progress import count_columns
from cupel_core.domain.runs.run import Run
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.runs.probing.caches import RunCache
from cupel_core.runs.probing.claimed_slice import INTERNAL_ERROR, REPORT_SECONDS, ClaimedSlice
from cupel_core.runs.probing.claims import CLAIM_SECONDS, RENEW_BEFORE_SECONDS, SliceClaimer
from cupel_core.runs.probing.heartbeat import HIDDEN_SECONDS, INTERVAL_SECONDS, Heartbeat
from cupel_core.store import barrier, clients
from cupel_core.store.settings import Settings
from tests.started_runs import RunSetup, ref_of, send_and_receive, slice_message

START = 1_795_176_000.0
MAX_RECOVERY_SECONDS = 60.0

pytestmark = pytest.mark.usefixtures("cloud")


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def claimer(clock: Clock) -> SliceClaimer:
    return SliceClaimer("worker", START + 300, RunCache(), clock)


@pytest.fixture
def hidden(cloud: Settings) -> Iterator[list[int]]:
    """For how long messages were hidden, in the order of the requests."""
    events, seen = clients.sqs().meta.events, list[int]()

    def note(params: dict[str, Any], **_: object) -> None:
        seen.extend(entry["VisibilityTimeout"] for entry in params["Entries"])

    events.register("provide-client-params.sqs.ChangeMessageVisibilityBatch", note)
    yield seen
    events.unregister("provide-client-params.sqs.ChangeMessageVisibilityBatch", note)


async def claim(claimer: SliceClaimer, run: Run) -> ClaimedSlice:
    claimed = await claimer.claim(send_and_receive(slice_message(run, [0, 1, 2]))[0])
    assert claimed is not None
    return claimed


def take_over(run: Run, now: float) -> None:
    claim = Claim(frozenset({0, 1, 2}), now + CLAIM_SECONDS, now)
    barrier.acquire(ref_of(run), Node(0, 0), "another", claim, [0, 1, 2], now)


def test_the_slices_of_a_dead_worker_are_free_within_a_minute() -> None:
    assert CLAIM_SECONDS <= HIDDEN_SECONDS <= MAX_RECOVERY_SECONDS - 20


def test_a_claim_survives_a_missed_heartbeat_and_its_message_three() -> None:
    latest_renewal = RENEW_BEFORE_SECONDS - INTERVAL_SECONDS  # left, if the beat before came a moment too early
    assert latest_renewal > INTERVAL_SECONDS
    assert 4 * INTERVAL_SECONDS <= HIDDEN_SECONDS


async def test_a_heartbeat_renews_no_claim_that_lasts_for_long(claimer: SliceClaimer, clock: Clock) -> None:
    claimed, heartbeat = await claim(claimer, RunSetup().start()), Heartbeat(claimer)
    heartbeat.add_claimed(claimed)
    clock.now += INTERVAL_SECONDS
    await heartbeat.beat()
    assert claimed.claim.until == START + CLAIM_SECONDS


async def test_a_claim_ends_soon_unless_it_is_renewed(claimer: SliceClaimer) -> None:
    claimed = await claim(claimer, RunSetup().start())
    assert claimed.claim.until == START + CLAIM_SECONDS


async def test_a_heartbeat_renews_the_claim(claimer: SliceClaimer, clock: Clock) -> None:
    run = RunSetup().start()
    claimed, heartbeat = await claim(claimer, run), Heartbeat(claimer)
    heartbeat.add_claimed(claimed)
    clock.now += 20
    await heartbeat.beat()
    assert claimed.claim.until == START + 20 + CLAIM_SECONDS
    assert barrier.get_leaf(ref_of(run), Node(0, 0)).claims == {claimed.claimant: claimed.claim}


async def test_a_claim_never_outlasts_its_workers_invocation(claimer: SliceClaimer, clock: Clock) -> None:
    claimed = await claim(claimer, RunSetup().start())
    clock.now += 280
    claimer.renew(claimed)
    assert claimed.claim.until == START + 300


async def test_probes_with_an_expired_claim_may_not_start(claimer: SliceClaimer, clock: Clock) -> None:
    claimed = await claim(claimer, RunSetup().start())
    clock.now += CLAIM_SECONDS
    assert not claimed.may_start(clock())


async def test_an_expired_claim_that_nobody_took_over_is_renewed(claimer: SliceClaimer, clock: Clock) -> None:
    claimed = await claim(claimer, RunSetup().start())
    clock.now += CLAIM_SECONDS + 1
    claimer.renew(claimed)
    assert claimed.may_start(clock())


async def test_a_worker_finds_out_that_its_claim_was_taken_over(claimer: SliceClaimer, clock: Clock) -> None:
    run = RunSetup().start()
    claimed = await claim(claimer, run)
    clock.now += CLAIM_SECONDS + 1
    take_over(run, clock())
    claimer.renew(claimed)
    assert claimed.is_lost
    assert not claimed.may_start(clock())


async def test_a_renewed_claim_covers_no_probes_of_another_worker(claimer: SliceClaimer, clock: Clock) -> None:
    run = RunSetup().start()
    other = Claim(frozenset({0}), START + 20, START)
    barrier.acquire(ref_of(run), Node(0, 0), "another", other, [0], START)
    claimed = await claim(claimer, run)
    claimer.renew(claimed)
    assert barrier.get_leaf(ref_of(run), Node(0, 0)).claims[claimed.claimant].offsets == {1, 2}


async def test_only_probes_with_an_internal_error_are_requeued_with_a_higher_count(claimer: SliceClaimer) -> None:
    claimed = await claim(claimer, RunSetup().start())
    claimed.postpone_pending(0, 2, INTERNAL_ERROR)
    claimed.postpone_pending(1, 2, "a suspended model")
    requeued = {tuple(message.indexes): message.failures for message, _ in claimed.remainder_messages()}
    assert requeued == {(0,): 1, (1,): 0}


async def test_a_heartbeat_hides_messages_for_half_a_minute(claimer: SliceClaimer, hidden: list[int]) -> None:
    heartbeat = Heartbeat(claimer)
    heartbeat.add_deliveries(send_and_receive(slice_message(RunSetup().start(), [0])))
    await heartbeat.beat()
    assert hidden == [HIDDEN_SECONDS]


async def test_a_settled_message_is_not_hidden_any_more(claimer: SliceClaimer, hidden: list[int]) -> None:
    heartbeat, deliveries = Heartbeat(claimer), send_and_receive(slice_message(RunSetup().start(), [0]))
    heartbeat.add_deliveries(deliveries)
    heartbeat.remove(deliveries[0])
    await heartbeat.beat()
    assert hidden == []


class InFlight(AttemptLog):
    """The log of a conversation with one call in flight."""

    def __init__(self, call: AttemptInFlight) -> None:
        super().__init__()
        self._call = call
        self.first_call_at = call.since

    @property
    def open_calls(self) -> list[AttemptInFlight]:
        return [self._call]


async def test_a_renewed_claim_names_the_repeated_and_slow_calls(claimer: SliceClaimer, clock: Clock) -> None:
    run = RunSetup(scenario_count=3).start()
    claimed, heartbeat = await claim(claimer, run), Heartbeat(claimer)
    heartbeat.add_claimed(claimed)
    calls = (AttemptInFlight(1, 4, START + 5), AttemptInFlight(2, 2, START + 35), AttemptInFlight(1, 4, START))
    claimed.logs |= {index: InFlight(call) for index, call in enumerate(calls)}
    clock.now += 20
    await heartbeat.beat()
    assert slow_calls_of(run, clock.now) == [(1, 2, 2, 0.0)]
    clock.now += 20
    await heartbeat.beat()
    assert slow_calls_of(run, clock.now) == [(1, 2, 2, 5.0), (2, 1, 4, 40.0), (0, 1, 4, 35.0)]
    claimed.logs.clear()
    clock.now += 20
    await heartbeat.beat()
    assert slow_calls_of(run, clock.now) == []


async def test_claims_name_the_conversations_that_have_begun(claimer: SliceClaimer, clock: Clock) -> None:
    run = RunSetup(scenario_count=3).start()
    claimed, heartbeat = await claim(claimer, run), Heartbeat(claimer)
    heartbeat.add_claimed(claimed)
    waiting, calling = AttemptLog(), AttemptLog()
    claimed.logs |= {0: waiting, 1: calling}
    with calling.in_flight("sim/steady", ModelRequest(()), 1):
        pass
    await heartbeat.report()
    assert called_since(run) == {1: calling.first_call_at}
    clock.now += REPORT_SECONDS
    claimed.logs.clear()
    claimed.ended[2] = START
    await heartbeat.report()
    assert called_since(run) == {2: START}


async def test_claims_are_reported_only_when_conversations_have_begun(claimer: SliceClaimer, clock: Clock) -> None:
    claimed, heartbeat = await claim(claimer, RunSetup().start()), Heartbeat(claimer)
    heartbeat.add_claimed(claimed)
    clock.now += 5
    await heartbeat.report()
    assert claimed.claim.until == START + CLAIM_SECONDS
    claimed.ended[0] = clock.now
    await heartbeat.report()
    claimed.ended[1] = clock.now
    await heartbeat.report()
    assert claimed.claim.calling == {0: START + 5}
    assert claimed.claim.until == START + 5 + CLAIM_SECONDS


def called_since(run: Run) -> dict[int, float]:
    [claim] = barrier.get_leaf(ref_of(run), Node(0, 0)).claims.values()
    return dict(claim.calling)


def slow_calls_of(run: Run, now: float) -> list[tuple[int, int, int, float]]:
    (counts,) = count_columns(run.plan, barrier.read_leaves(barrier.Tree.for_run(run))[1], now)
    return [(call.offset, call.attempt, call.max_attempts, call.seconds(now)) for call in counts.slow_calls]
