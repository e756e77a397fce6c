"""The phases of the execution that finishes a run: settle → summarize → tabulate → analyze → complete, or fail.

Counting and analyzing are in `cupel_core.analysis.workflow`. Step Functions repeats a task whose reply was lost, so
each phase may be repeated, and then finds its work done.

Each phase is a conditional transition under the run's fencing token. A task of an execution that was aborted may still
be running when the next execution starts; the later of the two finds the transition made. While a probe has no outcome,
settling raises an error that Step Functions retries. A run without any completed probe becomes FAILED, with its most
frequent error. A failed count or analysis is recorded, and the run completes anyway.

A run's judge summarizes its transcripts slice by slice: decisions by a rubric, and decision texts. A slice's task
summarizes the transcripts without a final summary until they are done or its time is up; then the state machine repeats
the task. Only a task that has summarized nothing, and knows of no provider that asks to wait, fails and is retried. An
execution repeats tasks as often as its history of 25,000 events allows; then it ends without completing the run, and
the sweeper starts the next one.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import datetime

from cupel_core.accounts.leases import LeasePool
from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.slice_graders import GraderCalls, OnSpend, ignore_spend, slice_graders, slice_leases
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.barrier import FANOUT, leaf_of
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress, leaf_ranges
from cupel_core.domain.runs.run import Action, IllegalTransition, Progress, Run, RunFailure, RunStatus
from cupel_core.domain.runs.transcripts import CONTENT_DELETED, ProbeError, Summary, Transcript, readable_at
from cupel_core.domain.scoring.decisions import OTHER
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.domain.text.counts import count_of
from cupel_core.providers import completion
from cupel_core.providers.completion import Attempt
from cupel_core.runs.slice_worker import process_concurrently, process_leaf_by_leaf
from cupel_core.scoring.grading.decisions import DecisionJudge, judge_summary
from cupel_core.scoring.selections import needs_selection
from cupel_core.store import barrier, outcomes, runs, snapshots
from cupel_core.store.barrier import Tree

DELETED = "DELETED"
"""The result in place of the status of a run that was deleted meanwhile. Its execution ends without a failure."""
_FINISHABLE = frozenset({RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SUMMARIZING})
_MAX_EXAMINED = 1_000


@dataclass(frozen=True)
class SettleResult:
    """The run's status after settling, or DELETED, and its slices if a judge is needed."""

    status: str
    slices: tuple[LeafRange, ...] = ()
    total: int = 0


def settle(ref: RunRef, fencing_token: int, now: datetime) -> SettleResult:
    """Settle the run's counts. It becomes SUMMARIZING if a probe completed, otherwise FAILED. A run that is paused or
    cancelled, or whose fencing token has advanced, is unchanged. Raise Conflict while probes have no outcome."""
    try:
        run = runs.get(ref)
        if run.fencing_token != fencing_token or run.status not in _FINISHABLE:
            return SettleResult(run.status, total=run.plan.total)
        if run.status is not RunStatus.SUMMARIZING:
            run = _settle(ref, run, now)
    except NotFound:
        return SettleResult(DELETED)
    except IllegalTransition:  # Another execution, or a user, has changed the run since it was read.
        return settle(ref, fencing_token, now)
    return SettleResult(run.status, _slices(run) if run.status is RunStatus.SUMMARIZING else (), run.plan.total)


def complete(ref: RunRef, fencing_token: int, now: datetime) -> str:
    """Complete the run, unless its status has changed. Return its status afterwards, or DELETED."""
    try:
        spend = barrier.get_state(Tree.for_run(runs.get(ref))).spend
        return runs.transition(
            ref, Action.COMPLETE, now, fencing_token=fencing_token, completed_at=now, spend=spend
        ).status
    except (IllegalTransition, Conflict):
        return _status(ref)
    except NotFound:
        return DELETED


def _status(ref: RunRef) -> str:
    try:
        return runs.get(ref).status
    except NotFound:
        return DELETED


def fail(ref: RunRef, fencing_token: int, where: str, why: str, now: datetime) -> str:
    """Fail a settled run, because its workflow gave up. Return its status afterwards, or DELETED. A run that is not
    settled stays unchanged: the sweeper starts another execution for it."""
    try:
        return _fail(ref, fencing_token, RunFailure(where, why), now)
    except (IllegalTransition, Conflict):
        return _status(ref)
    except NotFound:
        return DELETED


def _fail(ref: RunRef, fencing_token: int, failure: RunFailure, now: datetime) -> RunStatus:
    run = runs.get(ref)
    if run.status is not RunStatus.SUMMARIZING or run.fencing_token != fencing_token:
        return run.status
    data: dict[str, object] = {"failure": failure.to_event()}
    return runs.transition(
        ref,
        Action.FAIL,
        now,
        fencing_token=fencing_token,
        event_data=data,
        completed_at=now,
        failure=failure,
        spend=barrier.get_state(Tree.for_run(run)).spend,
    ).status


def _settle(ref: RunRef, run: Run, now: datetime) -> Run:
    counts, spend, _ = barrier.get_state(Tree.for_run(run))
    if not counts.finished:
        missing = counts.total - counts.completed - counts.failed
        raise Conflict(f"{count_of(missing, 'probe')} without an outcome yet")
    data: dict[str, object] = {"completed": counts.completed, "failed": counts.failed}
    if not counts.completed:
        failure = _failure(ref, counts)
        data["failure"] = failure.to_event()
        return runs.transition(
            ref,
            Action.FAIL,
            now,
            fencing_token=run.fencing_token,
            event_data=data,
            settled=counts,
            spend=spend,
            completed_at=now,
            failure=failure,
        )
    if run.status is RunStatus.PENDING:
        runs.transition(ref, Action.START, now, fencing_token=run.fencing_token, started_at=now)
    return runs.transition(ref, Action.SUMMARIZE, now, fencing_token=run.fencing_token, event_data=data, settled=counts)


def _failure(ref: RunRef, counts: Progress) -> RunFailure:
    stored = outcomes.list_outcomes(ref, range(min(counts.total, _MAX_EXAMINED)))
    errors = [outcome for outcome in stored if isinstance(outcome, ProbeError)]
    if not errors:
        return RunFailure("probing", "no conversation completed")
    code, count = Counter(error.code for error in errors).most_common(1)[0]
    example = next(error.probe_index for error in errors if error.code == code)
    why = f"no conversation completed; most often {code} ({count} of {len(errors)} examined)"
    return RunFailure("probing", why, example)


def _slices(run: Run) -> tuple[LeafRange, ...]:
    snapshot = snapshots.get(run.snapshot_key)
    rules = Content.from_json(snapshot.definition).decision
    has_judge = rules is not None and rules.judged_by(run.grader_config.judge_model) is not None
    return leaf_ranges(run.plan.total) if has_judge or needs_selection(snapshot) else ()


def record_costs(ref: RunRef, fencing_token: int, leaf_range: LeafRange) -> None:
    """Add the present costs of these leaves' outcomes to the barrier, from the leaves up to its root. Repeating it is
    harmless, because the costs are those of the stored outcomes and not of an invocation."""
    run = runs.find(ref)
    if run is None or run.fencing_token != fencing_token or run.status is not RunStatus.SUMMARIZING:
        return
    tree, indexes = Tree.for_run(run), leaf_range.indexes(run.plan.total)
    for first in range(indexes.start, indexes.stop, FANOUT):
        node = leaf_of(first)
        costs = outcomes.list_own_costs(ref, node, barrier.get_leaf(ref, node))
        item = barrier.record(tree, node, costs=costs)
        barrier.propagate(tree, node, item)


async def summarize_slice(
    ref: RunRef,
    fencing_token: int,
    leaf_range: LeafRange,
    seconds_left: Callable[[], float],
    on_spend: OnSpend = ignore_spend,
    attempt: Attempt = completion.complete,
) -> SliceProgress:
    """Summarize the transcripts of these leaves that have no final summary, if the run's decisions have a judge. A
    failing judge is recorded on the transcript and does not fail the run. When time is short, finished summaries are
    stored, and the others are left to the next task."""
    run = await asyncio.to_thread(runs.find, ref)
    if run is None or run.fencing_token != fencing_token or run.status is not RunStatus.SUMMARIZING:
        return SliceProgress()
    async with (
        slice_leases(seconds_left, run.priority) as leases,
        charged_calls(run, attempt, seconds_left, leases) as charged,
    ):
        judge = await asyncio.to_thread(_load_judge, run, seconds_left, leases, charged)
        if judge is None:
            return SliceProgress()

        async def summarize(transcript: Transcript) -> None:
            if readable_at(transcript, utc_now()).messages:
                summary = await judge_summary(judge, transcript, utc_now)
            else:
                code = transcript.summary.decision_code if transcript.summary else OTHER
                cause = UnscoredCause(UnscoredCode.DELETED)
                summary = Summary(code, "", utc_now(), CONTENT_DELETED, cause=cause)
            if await asyncio.to_thread(outcomes.set_summary, ref, transcript.probe_index, summary):
                on_spend(judge.grader.model, summary.spend)

        async def summarize_leaf(leaf: LeafRange) -> SliceProgress:
            return await process_concurrently(await asyncio.to_thread(_list_unsummarized, ref, run, leaf), summarize)

        return await process_leaf_by_leaf(leaf_range, summarize_leaf)


def _load_judge(
    run: Run, seconds_left: Callable[[], float], leases: LeasePool, calls: GraderCalls
) -> DecisionJudge | None:
    snapshot = snapshots.get(run.snapshot_key)
    rules = Content.from_json(snapshot.definition).decision
    model = rules.judged_by(run.grader_config.judge_model) if rules else None
    if rules is None or model is None:
        return None
    config = GraderConfig(judge_max_output_tokens=run.grader_config.judge_max_output_tokens)
    graders = slice_graders(run.workspace, config, (model,), seconds_left, leases, calls, snapshot.prices)
    return DecisionJudge(graders.grader(model), rules.rubric)


def _list_unsummarized(ref: RunRef, run: Run, leaf_range: LeafRange) -> list[Transcript]:
    stored = outcomes.list_outcomes(ref, leaf_range.indexes(run.plan.total))
    listed = [outcome for outcome in stored if isinstance(outcome, Transcript) and not outcome.is_summarized]
    outcomes.own_items(ref, [transcript.probe_index for transcript in listed])
    return listed
