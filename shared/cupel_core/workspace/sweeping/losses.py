"""Immediate recovery after a known loss of all messages and workers.

On AWS, the sweep can recognize a lost message or a dead worker only by the time that has passed. After a start of the
embedded cloud, the loss is certain: its queues are empty, no execution runs, and no worker is left.
"""

from collections.abc import Callable
from datetime import datetime

from cupel_core.workspace.sweeping.callback_recovery import resend_lost_callbacks
from cupel_core.workspace.sweeping.generation_recovery import recover_generations
from cupel_core.workspace.sweeping.interrupted_work import recover_rescores
from cupel_core.workspace.sweeping.job_recovery import recover_jobs
from cupel_core.workspace.sweeping.run_recovery import RecoveryAction, recover_runs
from cupel_core.workspace.sweeping.sweep import resend_stale_dispatches
from cupel_core.workspace.sweeping.turn_recovery import recover_turns


def resume_lost(lost_before: datetime, now: datetime, seconds_left: Callable[[], float]) -> dict[str, int]:
    """Resume everything whose messages were sent, and whose workers were started, before that moment. Return counts by
    kind. The regular sweeps find what is left when time runs out. Turns come first, because people wait for them."""
    turns = recover_turns(now, seconds_left, lost_before)
    dispatched = resend_stale_dispatches(now, lost_before)
    actions = recover_runs(now, seconds_left, lost_before)
    return {
        "turns": turns,
        "dispatched": dispatched,
        **{action: actions[action] for action in RecoveryAction},
        "rescores": recover_rescores(now, seconds_left, lost_before),
        "jobs": recover_jobs(now, seconds_left, lost_before),
        "generations": recover_generations(now, seconds_left, lost_before),
        "callbacks": resend_lost_callbacks(now, seconds_left, lost_before),
    }
