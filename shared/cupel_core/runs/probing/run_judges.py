"""A check that pauses a run if the first replies of its judge are all unusable, so that no more are paid for.

The replies are counted in one item per fencing token, until a worker sees a usable verdict. At the limit, the worker
reads the run's outcomes up to the first verdict and pauses the run only if there is none. A judge that works costs no
write, and resuming the run begins a new count.
"""

import asyncio

from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.domain.runs.unusable_judges import judged_reply, patience, why_stopped
from cupel_core.domain.scoring.unscored import UnscoredCause
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.run_pauses import RunPauses
from cupel_core.runs.probing.unforeseen import log_unforeseen
from cupel_core.store import barrier, counted_outcomes, counters
from cupel_core.store.barrier import Tree
from cupel_core.store.clients import AWS_ERRORS


class RunJudges:
    """Counts the unusable replies of judges, over all workers of a run, since the run was started or resumed last."""

    def __init__(self, pauses: RunPauses) -> None:
        self._pauses = pauses
        self._usable: set[tuple[RunRef, int]] = set()
        """Runs (with fencing tokens) whose judge has given a usable verdict that this worker knows of."""

    async def note(self, claimed: ClaimedSlice, outcome: Outcome) -> None:
        """Count what the outcome says about the judge, and pause the run after too many unusable replies. It never
        raises: the outcome must be recorded in any case, and the next unusable reply is counted again."""
        try:
            await self._note(claimed, outcome)
        except (RetryableError, *AWS_ERRORS):
            return
        except Exception as error:  # noqa: BLE001 - the outcome is paid for
            log_unforeseen(error, "an unusable reply of a judge was not counted")

    async def _note(self, claimed: ClaimedSlice, outcome: Outcome) -> None:
        judged, run = judged_reply(outcome), claimed.context.run
        key = (claimed.probe_slice.run, claimed.probe_slice.fencing_token)
        if judged.is_usable:
            self._usable.add(key)
        if judged.unusable is None or key in self._usable:
            return
        replies = await asyncio.to_thread(counters.add_unusable_reply, *key)
        if replies < patience(run.plan.total):
            return
        if not await asyncio.to_thread(_has_probes_left, run, replies):
            return
        if await asyncio.to_thread(_has_verdict, key[0], run):
            self._usable.add(key)
            return
        cause = _named(judged.unusable, run)
        # Its words may quote the conversation, so they stay in the transcripts.
        await self._pauses.pause_unjudged(claimed, cause.model or "", why_stopped(cause, replies))


def _named(cause: UnscoredCause, run: Run) -> UnscoredCause:
    return cause._replace(model=cause.model or run.grader_config.judge_model)


def _has_probes_left(run: Run, replies: int) -> bool:
    """Return whether a pause saves any call. A run is not paused by its last answer."""
    progress = barrier.get_progress(Tree.for_run(run))
    return max(replies, progress.completed + progress.failed) < run.plan.total


def _has_verdict(ref: RunRef, run: Run) -> bool:
    """Return whether a judge has given a usable verdict on any recorded answer. Reading stops at the first one."""
    counted = counted_outcomes.list_run(ref, range(run.plan.total))
    return any(
        each.success is not None and any(cost.kind == "judge" and cost.calls for cost in each.costs) for each in counted
    )
