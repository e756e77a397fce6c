"""A slice is processed concurrently; what the time does not suffice for is left to the next attempt."""

import asyncio

import pytest

from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.budgets.slice_graders import MAX_CONCURRENT, TimeIsUp
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.leaf_ranges import SliceProgress
from cupel_core.providers.errors import CallPostponed, ModelRefused, RetryLater
from cupel_core.runs.slice_worker import process_concurrently


async def test_items_that_run_out_of_time_are_counted() -> None:
    processed = []

    async def process(item: int) -> None:
        if item >= 3:
            raise TimeIsUp
        processed.append(item)

    assert await process_concurrently(range(5), process) == SliceProgress(done=3, left=2)
    assert processed == [0, 1, 2]


async def test_the_longest_wait_that_ends_by_itself_is_noted() -> None:
    waits = [
        RetryLater(90.0, ProbeErrorCode.RATE_LIMITED),
        CallPostponed("openai", 40.0),
        ModelRefused("openai/x", "the key is wrong", 900.0),
        BudgetShortage(1),
        TimeIsUp(),
    ]

    async def process(wait: Exception) -> None:
        raise wait

    assert await process_concurrently(waits, process) == SliceProgress(left=5, wait_seconds=90.0)
    assert await process_concurrently(waits[2:], process) == SliceProgress(left=3)


async def test_results_are_collected_one_at_a_time() -> None:
    collecting, most = 0, 0

    async def process(item: int) -> int:
        await asyncio.sleep(0)
        return item

    async def collect(_: int) -> None:
        nonlocal collecting, most
        collecting += 1
        most = max(most, collecting)
        await asyncio.sleep(0)
        collecting -= 1

    assert await process_concurrently(range(10), process, collect) == SliceProgress(done=10)
    assert most == 1


async def test_the_number_of_items_in_progress_is_limited() -> None:
    running, most = 0, 0

    async def process(_: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    await process_concurrently(range(3 * MAX_CONCURRENT), process)
    assert most == MAX_CONCURRENT


async def test_an_internal_error_cancels_the_remaining_items() -> None:
    cancelled = []

    async def process(item: int) -> None:
        if item == 1:
            raise KeyError(item)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(item)
            raise

    with pytest.raises(KeyError):
        await process_concurrently(range(3), process)
    assert cancelled == [0, 2]
