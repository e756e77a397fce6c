"""Following a run while it goes on: cheap enough to be asked every two seconds, by everyone who watches."""

from typing import NamedTuple

from cupel_core.domain.runs.run import TERMINAL, Event, Progress, Run
from cupel_core.messages import RunRef
from cupel_core.runs.queries import progress
from cupel_core.store import events, runs


class Followed(NamedTuple):
    """What is new; `progress` is None once the run is at its end and its events tell everything."""

    run: Run
    events: tuple[Event, ...]
    progress: Progress | None


def follow(workspace: str, run_id: str, after: int) -> Followed:
    """The run before its events: when it is terminal by then, no later event can be missed."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    return Followed(run, events.after(ref, after), None if run.status in TERMINAL else progress(run))
