"""Summaries of a run's transcripts by its judge, slice by slice: decisions by a rubric, and decision texts.

A slice's task summarizes the transcripts without a final summary until they are done or its time is up; then the state
machine repeats the task. Only a task that has summarized nothing, and knows of no provider that asks to wait, fails and
is retried. An execution repeats tasks as often as its history of 25,000 events allows; then it ends without completing
the run, and the sweeper starts the next one.
"""

import asyncio
from collections.abc import Callable

from cupel_core.accounts.leases import LeasePool
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.slice_graders import GraderCalls, OnSpend, ignore_spend, slice_graders, slice_leases
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.transcripts import CONTENT_DELETED, Summary, Transcript, readable_at
from cupel_core.domain.scoring.decisions import OTHER
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.providers.completion import Attempt, complete
from cupel_core.runs.slice_worker import process_concurrently, process_leaf_by_leaf
from cupel_core.scoring.grading.decisions import DecisionJudge, judge_summary
from cupel_core.store import outcomes, runs, snapshots


async def summarize_slice(
    ref: RunRef,
    fencing_token: int,
    leaf_range: LeafRange,
    seconds_left: Callable[[], float],
    on_spend: OnSpend = ignore_spend,
    attempt: Attempt = complete,
) -> SliceProgress:
    """Summarize the transcripts of these leaves that have no final summary, if the run's decisions have a judge.

    A failing judge is recorded on the transcript and does not fail the run. When time is short, finished summaries are
    stored, and the others are left to the next task.
    """
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
    """With items of their own, to which the summaries are added."""
    stored = outcomes.list_outcomes(ref, leaf_range.indexes(run.plan.total))
    listed = [outcome for outcome in stored if isinstance(outcome, Transcript) and not outcome.is_summarized]
    outcomes.own_items(ref, [transcript.probe_index for transcript in listed])
    return listed
