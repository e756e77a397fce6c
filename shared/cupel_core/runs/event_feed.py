"""The event feed of a run: cheap enough for every viewer to poll it every two seconds."""

from typing import NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import TERMINAL, Progress, Run, RunEvent
from cupel_core.runs.queries import progress
from cupel_core.store import events, runs


class EventFeed(NamedTuple):
    """The events since the last poll; `progress` is None once the run is over, because then its events say it."""

    run: Run
    events: tuple[RunEvent, ...]
    progress: Progress | None


def poll(workspace: str, run_id: str, after: int) -> EventFeed:
    """Events with a `seq` above `after`. The run is read first: if it is over by then, no later event is missed."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    return EventFeed(run, events.list_after(ref, after), None if run.status in TERMINAL else progress(run))
