"""What a worker does with what the governor grants it."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from cupel_core import accounts
from cupel_core.domain.limits.governor import Limits, Report
from cupel_core.domain.runs.run import Priority, Progress, Run
from cupel_core.messages import ProbeSlice
from cupel_core.probing.worker import Worker
from cupel_core.settings import Settings
from cupel_core.store import barrier, clients, governor
from cupel_core.store.barrier import Tree
from cupel_core.store.queues import Delivery
from tests.started_runs import Given, delivered, slice_of

LEAF = list(range(20))


class Sent(NamedTuple):
    """A message as it was handed on."""

    piece: ProbeSlice
    delay_seconds: int


@pytest.fixture
def sent(cloud: Settings) -> Iterator[list[Sent]]:
    """What is handed on. A delayed message cannot be received by a test that does not wait."""
    events, seen = clients.sqs().meta.events, list[Sent]()

    def note(params: dict[str, Any], **_: object) -> None:
        for entry in params["Entries"]:
            seen.append(Sent(ProbeSlice.model_validate_json(entry["MessageBody"]), entry["DelaySeconds"]))

    events.register("provide-client-params.sqs.SendMessageBatch", note)
    yield seen
    events.unregister("provide-client-params.sqs.SendMessageBatch", note)


def worker(priority: Priority = Priority.NORMAL) -> Worker:
    return Worker("sim", time.time() + 600, linger_seconds=0, priority=priority)


def given(run: Run, indexes: list[int], sent: list[Sent]) -> list[Delivery]:
    deliveries = delivered(slice_of(run, indexes))
    sent.clear()
    return deliveries


async def test_a_worker_alone_takes_all_that_is_allowed(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    accounts.configure("ws_a", "sim", {"max_parallel_requests": 3})
    run = Given(scenario_count=20).start()
    await worker().run(delivered(slice_of(run, LEAF)))
    assert barrier.progress(Tree.of(run)) == Progress(20, completed=20)
    assert governor.standing("ws_a", "sim").limit == 3


async def test_a_worker_that_ends_leaves_its_seat(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=20).start()
    await worker().run(delivered(slice_of(run, LEAF)))
    assert governor.standing("ws_a", "sim").workers == 0


async def test_a_paused_account_hands_its_slices_on_and_calls_no_model(
    sent: list[Sent], finishing: list[tuple[str, int]]
) -> None:
    run = Given(scenario_count=20).start()
    governor.set_paused("ws_a", "sim", True)
    assert await worker().run(given(run, LEAF, sent)) == []
    assert barrier.progress(Tree.of(run)) == Progress(20)
    assert [one.piece.indexes for one in sent] == [LEAF]
    assert 5 <= sent[0].delay_seconds <= 7


async def test_what_the_governor_holds_back_is_no_handoff_of_the_provider(
    sent: list[Sent], finishing: list[tuple[str, int]]
) -> None:
    run = Given(scenario_count=20).start()
    governor.set_paused("ws_a", "sim", True)
    await worker().run(given(run, LEAF, sent))
    assert sent[0].piece.handoffs == 0


async def test_a_model_that_refuses_every_call_is_held_and_the_others_go_on(
    sent: list[Sent], finishing: list[tuple[str, int]]
) -> None:
    accounts.configure("ws_a", "sim", {"max_parallel_requests": 5})
    run = Given(scenario_count=20, models=("sim/typo", "sim/steady")).start()
    await worker().run(given(run, list(range(40)), sent))
    counts = barrier.progress(Tree.of(run))
    assert counts.completed == 20
    assert 5 <= counts.failed < 10
    assert [held.model for held in governor.standing("ws_a", "sim").held_models] == ["sim/typo"]
    assert len(sent[0].piece.indexes) == 20 - counts.failed
    assert 30 <= sent[0].delay_seconds <= 32


async def test_a_low_worker_gives_way_to_a_high_one(sent: list[Sent], finishing: list[tuple[str, int]]) -> None:
    high = Report("high", Priority.HIGH, wanted=60, in_flight=50)
    governor.renew("ws_a", "sim", Limits(50), high, time.time())
    run = Given(scenario_count=20).start()
    await worker(Priority.LOW).run(given(run, LEAF, sent))
    assert barrier.progress(Tree.of(run)) == Progress(20)
    assert sent[0].delay_seconds >= 10
