"""Shows an evaluation on standard error while it runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cupel.in_process.progress import EvaluationProgress
from cupel.progress_display import Show, progress_display
from cupel.session import PlainTextConsole
from cupel_core.clock import utc_now

_INTERVAL_SECONDS = 0.25


@asynccontextmanager
async def shown(progress: EvaluationProgress, console: PlainTextConsole | None) -> AsyncIterator[None]:
    """Show the progress as it is now and then, and as it is in the end, unless the evaluation was interrupted."""
    if console is None:
        yield
        return
    with progress_display(console, progress.run) as show:
        refreshing = asyncio.create_task(_refresh(progress, show))
        try:
            yield
        finally:
            refreshing.cancel()
            await asyncio.gather(refreshing, return_exceptions=True)
        show(progress.read(utc_now()))


async def _refresh(progress: EvaluationProgress, show: Show) -> None:
    while True:
        show(progress.read(utc_now()))
        await asyncio.sleep(_INTERVAL_SECONDS)
