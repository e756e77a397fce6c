"""The progress of an evaluation in this process: a bar on a terminal, otherwise a line every ten seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.text import Text

from cupel.counts import count_of
from cupel.in_process import Probe
from cupel.session import Session
from cupel_core.domain.runs.run import ProbeStatus

LINE_INTERVAL_SECONDS = 10.0

type ShowStatus = Callable[[Probe, ProbeStatus], None]


class _Counts(NamedTuple):
    total: int = 0
    completed: int = 0
    errored: int = 0

    @property
    def ended(self) -> int:
        return self.completed + self.errored

    def after(self, status: ProbeStatus, total: int) -> "_Counts":
        is_completed, is_errored = status is ProbeStatus.COMPLETED, status is ProbeStatus.ERROR
        return _Counts(total, self.completed + is_completed, self.errored + is_errored)

    def __str__(self) -> str:
        return f"{self.completed:,} completed, {self.errored:,} errored of {count_of(self.total, 'probe')}"


@contextmanager
def evaluation_progress(session: Session, now: Callable[[], float] = time.monotonic) -> Iterator[ShowStatus]:
    """Shows what it is called with, as `on_status` of an evaluation."""
    if not session.err.is_terminal:
        yield _counting(_EvaluationLines(session, now).show)
        return
    with Progress(BarColumn(bar_width=16), _CountsColumn(), TimeElapsedColumn(), console=session.err) as progress:
        yield _counting(_Bar(progress).show)


def _counting(show: Callable[[_Counts], None]) -> ShowStatus:
    counts = _Counts()

    def on_status(probe: Probe, status: ProbeStatus) -> None:
        nonlocal counts
        counts = counts.after(status, probe.total)
        show(counts)

    return on_status


class _EvaluationLines:
    def __init__(self, session: Session, now: Callable[[], float]) -> None:
        self._session, self._now = session, now
        self._printed_at = now()

    def show(self, counts: _Counts) -> None:
        if counts.ended == counts.total or self._now() - self._printed_at >= LINE_INTERVAL_SECONDS:
            self._session.remark(str(counts))
            self._printed_at = self._now()


class _Bar:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def show(self, counts: _Counts) -> None:
        if self._task is None:
            self._task = self._progress.add_task("", total=counts.total, counts=counts)
        self._progress.update(self._task, completed=counts.ended, counts=counts)


class _CountsColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        rate = f"  {task.speed:,.0f}/s" if task.speed else ""
        return Text(f"{task.fields['counts']}{rate}")
