"""Shows an evaluation on standard error while it runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cupel.in_process.options import EvaluationOptions
from cupel.in_process.progress import EvaluationProgress
from cupel_core.base.clock import utc_now

if TYPE_CHECKING:  # Rich's console takes a while to import, and is needed only when something is shown.
    from cupel.progress_display import Show
    from cupel.session import PlainTextConsole

_INTERVAL_SECONDS = 0.25


def console_of(options: EvaluationOptions) -> "PlainTextConsole | None":
    """Standard error, unless no progress is to be shown."""
    if not options.get("progress", True):
        return None
    from cupel.session import console

    return console(stderr=True)


@asynccontextmanager
async def shown(progress: EvaluationProgress, console: "PlainTextConsole | None") -> AsyncIterator[None]:
    """Show the progress as it is now and then, and as it is in the end, unless the evaluation was interrupted."""
    if console is None:
        yield
        return
    from cupel.progress_display import progress_display

    with progress_display(console, progress.run) as show:
        refreshing = asyncio.create_task(_refresh(progress, show))
        try:
            yield
        finally:
            refreshing.cancel()
            await asyncio.gather(refreshing, return_exceptions=True)
        show(progress.read(utc_now()))


async def _refresh(progress: EvaluationProgress, show: "Show") -> None:
    while True:
        show(progress.read(utc_now()))
        await asyncio.sleep(_INTERVAL_SECONDS)
