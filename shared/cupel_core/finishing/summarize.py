"""Summaries by a judge, for a slice of a run's transcripts, many at a time."""

import asyncio
from collections.abc import Callable
from random import Random

from cupel_core.accounts import account
from cupel_core.clock import utc_now
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.transcripts import Summary, Transcript
from cupel_core.domain.scoring.decisions import OTHER
from cupel_core.errors import RetryableError
from cupel_core.grading.decisions import Judge, decide
from cupel_core.grading.grader import Grader
from cupel_core.messages import RunRef
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.settings import settings
from cupel_core.store import outcomes, runs, snapshots

CONCURRENT = 50
PATIENCE_SECONDS = 60.0


async def summarize(ref: RunRef, epoch: int, part: LeafRange, seconds_left: Callable[[], float]) -> None:
    """Summarizes the transcripts of these leaves that have no summary, by the definition's judge if it has one.

    A judge that fails is recorded on the transcript and does not fail the run. RetryableError when time was too short:
    what was summarized is stored, the next try goes on.
    """
    run = await asyncio.to_thread(runs.get, ref)
    if run.epoch != epoch or run.status is not RunStatus.SUMMARIZING:
        return
    judge = await asyncio.to_thread(_judge, run)
    if judge is None:
        return
    todo = await asyncio.to_thread(_without_summary, ref, run, part)
    slots = asyncio.Semaphore(min(CONCURRENT, judge.grader.account.max_parallel_requests))
    left = await asyncio.gather(*(_summarize_one(ref, judge, each, slots, seconds_left) for each in todo))
    if any(left):
        raise RetryableError(f"{sum(left)} transcripts are still without summary")


def _judge(run: Run) -> Judge | None:
    rules = Content.from_json(snapshots.get(run.snapshot_key).definition).decision
    if rules is None or not rules.rubric or not rules.judge_model:
        return None
    access = account(run.workspace, rules.judge_model.partition("/")[0])
    timeout = settings().call_timeout_seconds
    grader = Grader(access, rules.judge_model, timeout, PATIENCE_SECONDS, Random())  # noqa: S311 - jitter
    return Judge(grader, rules.rubric)


def _without_summary(ref: RunRef, run: Run, part: LeafRange) -> list[Transcript]:
    found = outcomes.in_range(ref, part.indexes(run.plan.total))
    return [each for each in found if isinstance(each, Transcript) and each.summary is None]


async def _summarize_one(
    ref: RunRef,
    judge: Judge,
    transcript: Transcript,
    slots: asyncio.Semaphore,
    seconds_left: Callable[[], float],
) -> bool:
    """Whether it is left for the next try."""
    async with slots:
        if seconds_left() < judge.grader.timeout_seconds + PATIENCE_SECONDS:
            return True
        summary = await _summary(judge, transcript)
        await asyncio.to_thread(outcomes.summarize, ref, transcript.probe_index, summary)
        return False


async def _summary(judge: Judge, transcript: Transcript) -> Summary:
    try:
        verdict = (await decide(judge, transcript.messages)).value
    except (ProviderError, PleaseWait) as error:
        return Summary(OTHER, "", utc_now(), error=error.detail)
    return Summary(verdict.decisionCode, verdict.decisionText, utc_now())
