"""Runs that this worker pauses: a model refuses every call, a judge gives no verdict, or their budget is used up."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseCause, PauseReason, Run
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.store import runs


class RunPauses:
    """`on_end` is called after each attempt to pause a run, successful or not."""

    def __init__(self, allowances: RunAllowances, on_end: Callable[[], None]) -> None:
        self._allowances = allowances
        self._on_end = on_end
        self._pauses: dict[tuple[RunRef, int], asyncio.Task[None]] = {}
        """The keys are runs with their fencing tokens."""

    def pause_refused(self, claimed: ClaimedSlice, model: str, reason: str) -> "asyncio.Task[None]":
        """Pause the slice's run because this model refuses every call."""
        run = claimed.context.run
        return self._start(claimed, lambda: asyncio.to_thread(pause_refused_run, run, model, reason))

    def pause_unjudged(self, claimed: ClaimedSlice, model: str, message: str) -> "asyncio.Task[None]":
        """Pause the slice's run because none of the first replies of this judge was usable."""
        pause = partial(pause_refused_run, claimed.context.run, model, message, PauseReason.JUDGE)
        return self._start(claimed, lambda: asyncio.to_thread(pause))

    def pause_exhausted(self, claimed: ClaimedSlice, scope: BudgetScope, needed: int) -> "asyncio.Task[None]":
        """Pause the slice's run because this budget does not allow a call that may cost `needed`."""
        run = claimed.context.run
        return self._start(claimed, lambda: self._allowances.pause_exhausted(run, scope, needed))

    def has_paused(self, claimed: ClaimedSlice) -> bool:
        """Return whether this worker has paused the slice's run, so that its pending probes are to be dropped."""
        pausing = self._pauses.get((claimed.probe_slice.run, claimed.probe_slice.fencing_token))
        return pausing is not None and pausing.done() and pausing.exception() is None

    def _start(self, claimed: ClaimedSlice, pause: Callable[[], Coroutine[Any, Any, None]]) -> "asyncio.Task[None]":
        """Return the pause in progress or done; start a new one if there is none, or it failed."""
        key = (claimed.probe_slice.run, claimed.probe_slice.fencing_token)
        pausing = self._pauses.get(key)
        if pausing is None or (pausing.done() and pausing.exception() is not None):
            pausing = asyncio.create_task(pause())
            pausing.add_done_callback(lambda _: self._on_end())
            self._pauses[key] = pausing
        return pausing


def pause_refused_run(run: Run, model: str, message: str, reason: PauseReason = PauseReason.PROVIDER) -> None:
    """Pause the run, unless another worker or a user was faster. Probes that have failed stay errored."""
    cause = PauseCause(model, message)
    try:
        runs.transition(
            RunRef(run.workspace, run.id),
            Action.PAUSE,
            utc_now(),
            fencing_token=run.fencing_token,
            event_data={"pauseReason": reason, "model": model, "message": message},
            pause_reason=reason,
            pause_cause=cause,
        )
    except (IllegalTransition, Conflict, NotFound):
        return
