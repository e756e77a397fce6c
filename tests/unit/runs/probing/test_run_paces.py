"""Runs that limit how many of their conversations are in progress, and how soon one starts after another."""

import asyncio
import time
from random import Random
from typing import Any

import pytest

from cupel_core.accounts.leases import LeasePool
from cupel_core.conversations.runner import run_conversation
from cupel_core.domain.runs.pace import Pace
from cupel_core.domain.runs.run import Progress
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.runs.probing import probe_runner
from cupel_core.runs.probing.run_pauses import RunPaces
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.started_runs import RunSetup, send_and_receive, slice_message


@pytest.fixture
def in_progress(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of conversations in progress at each start; others get the chance to start before one ends."""
    numbers, current = list[int](), 0

    async def run_slowly(*arguments: Any) -> Outcome:
        nonlocal current
        current += 1
        numbers.append(current)
        for _ in range(5):
            await asyncio.sleep(0)
        await asyncio.sleep(0.02)
        try:
            return await run_conversation(*arguments)
        finally:
            current -= 1

    monkeypatch.setattr(probe_runner, "run_conversation", run_slowly)
    return numbers


def worker() -> Worker:
    return Worker("sim", time.time() + 600, receive_wait_seconds=0)


async def test_no_more_conversations_are_in_progress_than_the_run_allows(
    cloud: Settings, finish_starts: list[tuple[str, int]], in_progress: list[int]
) -> None:
    run = RunSetup(scenario_count=20, pace=Pace(max_concurrency=3)).start()
    await worker().run(send_and_receive(slice_message(run, list(range(20)))))
    assert max(in_progress) == 3
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=20)


async def test_workers_share_what_the_run_allows(
    cloud: Settings, finish_starts: list[tuple[str, int]], in_progress: list[int]
) -> None:
    run = RunSetup(scenario_count=20, pace=Pace(max_concurrency=3)).start()
    slices = [slice_message(run, list(range(10))), slice_message(run, list(range(10, 20)))]
    first, second = send_and_receive(*slices)
    await asyncio.gather(worker().run([first]), worker().run([second]))
    assert max(in_progress) <= 3
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=20)


async def test_a_run_without_a_limit_uses_the_account_beside_one_with_a_limit(
    cloud: Settings, finish_starts: list[tuple[str, int]], in_progress: list[int]
) -> None:
    slow = RunSetup(scenario_count=20, pace=Pace(max_concurrency=1)).start()
    fast = RunSetup(scenario_count=20).start()
    await worker().run(send_and_receive(slice_message(slow, list(range(20))), slice_message(fast, list(range(20)))))
    assert max(in_progress) > 5
    assert barrier.get_progress(Tree.for_run(slow)) == Progress(20, completed=20)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def test_a_gap_from_the_range_lies_between_two_starts(cloud: Settings) -> None:
    clock, run = Clock(), RunSetup(pace=Pace(stagger_ms=(200, 400))).start()
    paces = RunPaces(LeasePool(clock=clock), clock, Random(1), wake=lambda: None)
    assert paces.may_start(run)
    assert paces.start(run, "sim/steady") is None
    clock.now += 0.199
    assert not paces.may_start(run)
    clock.now += 0.202
    assert paces.may_start(run)


async def test_gaps_of_one_run_do_not_delay_another(cloud: Settings) -> None:
    clock = Clock()
    paces = RunPaces(LeasePool(clock=clock), clock, Random(1), wake=lambda: None)
    paces.start(RunSetup(pace=Pace(stagger_ms=(9_000, 9_000))).start(), "sim/steady")
    assert paces.may_start(RunSetup(pace=Pace(stagger_ms=(9_000, 9_000))).start())


async def test_a_worker_goes_on_when_a_gap_is_over(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=5, pace=Pace(stagger_ms=(30, 40))).start()
    await worker().run(send_and_receive(slice_message(run, list(range(5)))))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(5, completed=5)
