"""Pauses a run whose model refuses every call or judges nothing, so that its remaining probes are not run in vain."""

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseCause, PauseReason, Run
from cupel_core.store import runs


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
