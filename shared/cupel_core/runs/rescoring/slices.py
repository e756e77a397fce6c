"""A slice of a rescore: its transcripts are graded concurrently, and their results stored as they complete.

Results are stored before the slice's count, which is an absolute number and may be written again. A transcript that has
a result is not graded again, so a repeated task continues where the last one ended. If a judge fails, the result has an
error. Criteria are judged again only if the rescore overrides the judge or the criteria. The scoring of the transcripts
themselves never changes.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import partial

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.budgets.slice_graders import OnSpend, TimeIsUp, grader_models, ignore_spend, slice_graders, slice_leases
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.runs.unusable_judges import judged_scoring, patience, why_stopped
from cupel_core.domain.scoring.rescores import Rescore, RescoreCounts, RescoreResult, RescoreStatus
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.providers.completion import Attempt, complete
from cupel_core.runs.rescoring.transcript_grading import TranscriptGrader, was_graded
from cupel_core.runs.slice_worker import process_concurrently, process_leaf_by_leaf
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.selections import SelectionRunner
from cupel_core.store import outcomes, rescore_results, rescores, runs, snapshots

_BATCH_SIZE = 25
_STORE_INTERVAL_SECONDS = 1.0


async def rescore_slice(
    ref: RunRef,
    rescore_id: str,
    leaf_range: LeafRange,
    seconds_left: Callable[[], float],
    attempt: Attempt = complete,
    on_spend: OnSpend = ignore_spend,
) -> SliceProgress:
    """Grade the transcripts of these leaves that have no result in this rescore yet.

    When time is short, finished results are stored, and the others are left to the next task. When the rescore's own
    budget is used up, nothing is left to any task, unless the budget was raised since the task began. The same holds
    once none of the first replies of its judge was usable.
    """
    run = await asyncio.to_thread(runs.find, ref)
    if run is None:
        return SliceProgress()
    rescore = await asyncio.to_thread(rescores.get, ref, rescore_id)
    if rescore.status is not RescoreStatus.RUNNING or rescore.is_stopped:
        return SliceProgress()
    writer = await asyncio.to_thread(_load_writer, rescore, leaf_range)
    writer.on_spend = partial(on_spend, rescore.config.grader_config(run.grader_config).judge_model)
    stop = _Stop(writer.counts, patience(rescore.total))
    async with (
        slice_leases(seconds_left, run.priority) as leases,
        charged_calls(run, attempt, seconds_left, leases, rescore) as charged,
    ):
        make_graders = partial(slice_graders, seconds_left=seconds_left, limiter=leases, calls=charged)

        async def grade_leaf(leaf: LeafRange) -> SliceProgress:
            pending = await asyncio.to_thread(_list_pending, rescore, leaf, writer)
            if not pending:
                return SliceProgress()
            grader = await asyncio.to_thread(_load_grader, run, rescore, pending, make_graders)
            return await process_concurrently(pending, partial(stop.grade, grader), writer.add)

        progress = await process_leaf_by_leaf(leaf_range, grade_leaf)
    await writer.store()
    if stop.is_exhausted and await asyncio.to_thread(rescores.mark_exhausted, rescore):
        return SliceProgress(done=progress.done)
    if stop.why_unusable is not None:
        await asyncio.to_thread(rescores.mark_judge_unusable, rescore, stop.why_unusable)
        return SliceProgress(done=progress.done)
    return progress


class _Stop:
    """Stops grading when the rescore's own budget is used up, or its judge's first replies were all unusable. `before`
    are the counts of the slice when the task began: a task continues where an earlier one ended."""

    def __init__(self, before: RescoreCounts, max_unusable: int) -> None:
        self.is_exhausted = False
        self.why_unusable: str | None = None
        self._max_unusable = max_unusable
        self._is_scoring = before.scored > 0
        self._unusable = 0

    async def grade(self, grader: TranscriptGrader, transcript: Transcript) -> RescoreResult:
        if self.is_exhausted or self.why_unusable is not None:
            raise TimeIsUp
        try:
            result = await grader.grade(transcript)
        except BudgetShortage as shortage:
            self.is_exhausted = self.is_exhausted or shortage.exhausted is BudgetScope.RUN
            raise
        self._note(result)
        return result

    def _note(self, result: RescoreResult) -> None:
        """Count a result. Unlike a run, a rescore is not paused for a failing judge: it ends, and can be repeated."""
        if result.scoring is None:
            return
        judged = judged_scoring(result.scoring, result.judge, UnscoredCode.JUDGE_FAILED)
        self._is_scoring = self._is_scoring or result.success is not None
        self._unusable += judged.unusable is not None
        if judged.unusable and not self._is_scoring and self._unusable >= self._max_unusable:
            self.why_unusable = self.why_unusable or why_stopped(judged.unusable, self._unusable)


@dataclass
class ResultWriter:
    """Stores the results of a slice in batches, at least once a second."""

    ref: RunRef
    rescore_id: str
    first_leaf: int
    stored_indexes: frozenset[int]
    counts: RescoreCounts
    on_spend: Callable[[Spend], None] = lambda _: None
    _buffer: list[RescoreResult] = field(default_factory=list)
    _stored_at: float = field(default_factory=time.monotonic)

    async def add(self, result: RescoreResult) -> None:
        self._buffer.append(result)
        if len(self._buffer) >= _BATCH_SIZE or time.monotonic() - self._stored_at > _STORE_INTERVAL_SECONDS:
            await self.store()

    async def store(self) -> None:
        """Store the results before their count, so that everything counted can be read."""
        results, self._buffer = self._buffer, []
        self.counts += count_results(results)
        await asyncio.to_thread(record_results, self.ref, self.rescore_id, results)
        self.on_spend(sum((result.judge for result in results), Spend()))
        await asyncio.to_thread(rescores.record_counts, self.ref, self.rescore_id, self.first_leaf, self.counts)
        self._stored_at = time.monotonic()


def record_results(ref: RunRef, rescore_id: str, results: Sequence[RescoreResult]) -> None:
    """Store results, without comments on conversations that were erased while they were graded."""
    rescore_results.record(ref, rescore_id, results)
    for index in outcomes.list_erased(ref, [each.index for each in results if was_graded(each)]):
        rescore_results.erase_content(ref, rescore_id, index)


def count_results(results: Iterable[RescoreResult]) -> RescoreCounts:
    unscored = [result.unscored for result in results]
    return RescoreCounts(scored=unscored.count(False), errors=unscored.count(True))


def _load_writer(rescore: Rescore, leaf_range: LeafRange) -> ResultWriter:
    ref = RunRef(rescore.workspace, rescore.run_id)
    indexes = leaf_range.indexes(rescore.probe_count)
    stored = list(rescore_results.list_range(ref, rescore.id, indexes, consistent=True))
    stored_indexes = frozenset(result.index for result in stored)
    return ResultWriter(ref, rescore.id, leaf_range.first_leaf, stored_indexes, count_results(stored))


def _list_pending(rescore: Rescore, leaf_range: LeafRange, writer: ResultWriter) -> list[Transcript]:
    """Return transcripts without those of later retry rounds, which are not part of this rescore."""
    stored = outcomes.list_outcomes(writer.ref, rescore.chosen(leaf_range.indexes(rescore.probe_count)))
    now = utc_now()
    transcripts = (readable_at(outcome, now) for outcome in stored if isinstance(outcome, Transcript))
    in_scope = (transcript for transcript in transcripts if transcript.retry_round <= rescore.retry_round)
    return [transcript for transcript in in_scope if transcript.probe_index not in writer.stored_indexes]


def _load_grader(
    run: Run, rescore: Rescore, pending: Sequence[Transcript], make_graders: Callable[..., GraderFactory]
) -> TranscriptGrader:
    snapshot, config = snapshots.get(run.snapshot_key), rescore.config
    content, grader_config = Content.from_json(snapshot.definition), config.grader_config(run.grader_config)
    cases = sorted({run.plan.probe(transcript.probe_index).case for transcript in pending})
    scenarios = {case: snapshot.scenario(case) for case in cases}
    assertions = [*content.assertions] if config.assertions is None else [*config.assertions]
    for scenario in scenarios.values():
        assertions += scenario.assertions if config.assertions is None else ()
    graders = make_graders(run.workspace, grader_config, grader_models(grader_config, assertions))
    ref = RunRef(run.workspace, run.id)
    selections = SelectionRunner(ref, run.plan, rescore.id, rescore.retry_round, graders)
    return TranscriptGrader(run, scenarios, content, config, graders, selections)
