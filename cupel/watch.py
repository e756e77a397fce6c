"""Follows a run to its end."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from cupel import render
from cupel.json_types import Json
from cupel.session import Session
from cupel_core.domain.runs.run import TERMINAL, RunStatus

if TYPE_CHECKING:
    from cupel.client import Client

FIRST_WAIT_SECONDS = 0.25
MAX_WAIT_SECONDS = 1.0
WAIT_GROWTH = 1.2


def watch(session: Session, client: "Client", run: Json) -> Json:
    """Show progress until the run has ended; return the run in its final state.

    A run that is paused because of its provider is followed further only on a terminal, where someone may repair it.
    """
    shown: list[str] = []
    with progress_bar(session) as display:
        task = display.add_task("", total=run["progress"]["total"], run=run)
        for run in follow(client, run, session.sleep):  # noqa: B020 - each is the same run, later
            progress = run["progress"]
            display.update(task, completed=progress["completed"] + progress["failed"], run=run)
            problems = render.problem_lines(run)
            if problems != shown:
                for line in problems:
                    display.console.print(line, soft_wrap=True)
                shown = problems
            if _waits_for_repair(run) and not session.err.is_terminal:
                break
    return run


def _waits_for_repair(run: Json) -> bool:
    return run["status"] == RunStatus.PAUSED and run.get("pauseReason") == "provider"


def follow(client: "Client", run: Json, sleep: Callable[[float], None]) -> Iterator[Json]:
    """The run now and after each wait; the last one is terminal."""
    wait = FIRST_WAIT_SECONDS
    while True:
        yield run
        if run["status"] in TERMINAL:
            return
        sleep(wait)
        wait = min(MAX_WAIT_SECONDS, wait * WAIT_GROWTH)
        run = client.get_run(run["id"])


def progress_bar(session: Session) -> Progress:
    return Progress(
        TextColumn("{task.fields[run][status]:<11}"),
        BarColumn(bar_width=30),
        _CountsColumn(),
        TimeElapsedColumn(),
        console=session.err,
    )


class _CountsColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        progress = task.fields["run"]["progress"]
        rate = f"  {task.speed:,.0f}/s" if task.speed else ""
        return Text(
            f"{progress['completed']:,} completed, {progress['failed']:,} failed of {progress['total']:,}{rate}"
        )
