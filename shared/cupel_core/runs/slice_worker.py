"""Concurrent processing of the items of a workflow task until time is up. The state machine then repeats the task."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from cupel_core.budgets.slice_graders import MAX_CONCURRENT, TimeIsUp
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress
from cupel_core.providers.errors import CallPostponed, RetryLater


async def process_leaf_by_leaf(
    leaf_range: LeafRange, process: Callable[[LeafRange], Awaitable[SliceProgress]]
) -> SliceProgress:
    """Process the leaves of a task one after another, up to the first that leaves something to the next task."""
    progress = SliceProgress()
    for leaf in leaf_range.by_leaf():
        progress = progress.plus(await process(leaf))
        if progress.left:
            break
    return progress


async def process_concurrently[Item, Result](
    items: Iterable[Item],
    process: Callable[[Item], Awaitable[Result]],
    collect: Callable[[Result], Awaitable[None]] | None = None,
) -> SliceProgress:
    """Process the items, MAX_CONCURRENT at a time, until time is up. Items for which `process` raises TimeIsUp,
    CallPostponed or RetryLater count as left. `collect` gets one result at a time, in the order of completion. Any
    other exception cancels the remaining items."""
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def process_one(item: Item) -> tuple[Result] | SliceProgress:
        async with slots:
            try:
                return (await process(item),)
            except TimeIsUp:
                return SliceProgress(left=1)
            except (CallPostponed, RetryLater) as wait:
                ends_by_itself = isinstance(wait, RetryLater) or wait.ends_by_itself
                return SliceProgress(left=1, wait_seconds=wait.retry_after_seconds if ends_by_itself else 0.0)

    progress = SliceProgress()
    tasks = [asyncio.create_task(process_one(item)) for item in items]
    try:
        for task in asyncio.as_completed(tasks):
            result = await task
            if isinstance(result, SliceProgress):
                progress = progress.plus(result)
                continue
            progress = progress.plus(SliceProgress(done=1))
            if collect is not None:
                await collect(*result)
    except (Exception, asyncio.CancelledError):
        for pending in tasks:
            pending.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return progress
