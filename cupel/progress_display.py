"""Shows the progress of a run or of an evaluation in this process: a view on a terminal, otherwise lines."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from rich.live import Live

from cupel.json_types import Json
from cupel.live_view import live_view, problems, progress_line
from cupel.session import PlainTextConsole
from cupel_core.domain.runs.run import TERMINAL

LINE_INTERVAL = timedelta(seconds=10)

type Show = Callable[[Json], None]

_live_views: list[Live] = []
"""The view on the terminal, if there is one: the second of two parallel evaluations prints lines above it."""


@contextmanager
def progress_display(console: PlainTextConsole, run: Json) -> Iterator[Show]:
    if _live_views or not console.is_terminal:
        yield _LinePrinter(console, run).show
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        _live_views.append(live)
        try:
            yield lambda progress: live.update(live_view(progress, run, *console.size), refresh=True)
        finally:
            _live_views.remove(live)


class _LinePrinter:
    """Prints a line every ten seconds since the run's start and at the end, and new delays of targets."""

    def __init__(self, console: PlainTextConsole, run: Json) -> None:
        self._console, self._run = console, run
        self._problems: Collection[tuple[str, ...]] = ()
        self._printed_at = datetime.fromisoformat(run["createdAt"])

    def show(self, progress: Json) -> None:
        read_at = datetime.fromisoformat(progress["readAt"])
        if read_at - self._printed_at >= LINE_INTERVAL or progress["status"] in TERMINAL:
            self._print(progress_line(progress, self._run))
            self._printed_at = read_at
        current = problems(progress, self._run)
        for key, lines in current.items():
            for line in lines if key not in self._problems else ():
                self._print(line)
        self._problems = current.keys()

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False)
