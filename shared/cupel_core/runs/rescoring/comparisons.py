"""max-score in a rescore: the scores of the answers to each case are compared once all transcripts are graded.

A judge's comparisons (select-best) need the answers only, and are made while the transcripts are graded.
"""

import asyncio
from collections.abc import Iterable
from functools import partial

from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange, leaf_ranges
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import MAX_SCORE, Assertion
from cupel_core.domain.scoring.rescores import Rescore, RescoreResult, RescoreStatus
from cupel_core.domain.scoring.selections import comparisons, with_selection_results
from cupel_core.runs.rescoring.slices import count_results, record_results
from cupel_core.runs.rescoring.transcript_grading import assertions_of, was_graded
from cupel_core.runs.slice_worker import process_concurrently
from cupel_core.scoring.selections import SelectionRunner, needs_selection
from cupel_core.store import rescore_results, rescores, runs, snapshots

LEAVES_PER_TASK = 100
"""A comparison of scores calls no model, so a task takes more leaves than a task that grades."""


@dataclass(frozen=True)
class _ComparedResult:
    result: RescoreResult
    assertions: tuple[Assertion, ...]


def comparison_ranges(run: Run, rescore: Rescore) -> tuple[LeafRange, ...]:
    """Return the ranges whose results are compared. There are none if nothing compares answers."""
    if rescore.config.assertions is not None:
        is_needed = bool(comparisons(rescore.config.assertions))
    else:
        is_needed = needs_selection(snapshots.get(run.snapshot_key))
    return leaf_ranges(rescore.probe_count, LEAVES_PER_TASK) if is_needed else ()


async def compare_range(ref: RunRef, rescore_id: str, leaf_range: LeafRange) -> int:
    """Add the results of comparisons to those of these leaves, and return how many were changed. Repeating it is
    harmless. Nothing is compared in a rescore that was stopped, because some answers have no scores then."""
    run = await asyncio.to_thread(runs.find, ref)
    rescore = await asyncio.to_thread(rescores.get, ref, rescore_id) if run else None
    if run is None or rescore is None or rescore.status is not RescoreStatus.RUNNING or rescore.is_stopped:
        return 0
    selections = SelectionRunner(ref, run.plan, rescore.id, rescore.retry_round)
    changed = 0
    for part in leaf_ranges(rescore.probe_count):  # Counts are stored by the parts in which the results were graded.
        if leaf_range.first_leaf <= part.first_leaf < leaf_range.first_leaf + leaf_range.leaves:
            changed += await _compare_part(run, rescore, part, selections)
    return changed


async def _compare_part(run: Run, rescore: Rescore, part: LeafRange, selections: SelectionRunner) -> int:
    ref, indexes = RunRef(run.workspace, run.id), part.indexes(rescore.probe_count)
    before = await asyncio.to_thread(_results_by_index, ref, rescore, indexes)
    candidates = await asyncio.to_thread(_list_candidates, run, rescore, before.values())
    compared: list[RescoreResult] = []

    async def collect(result: RescoreResult) -> None:
        compared.append(result)

    await process_concurrently(candidates, partial(_compare_one, selections), collect)
    changed = [result for result in compared if result != before[result.index]]
    await asyncio.to_thread(record_results, ref, rescore.id, changed)
    after = before | {result.index: result for result in changed}
    await asyncio.to_thread(rescores.record_counts, ref, rescore.id, part.first_leaf, count_results(after.values()))
    return len(changed)


def _results_by_index(ref: RunRef, rescore: Rescore, indexes: range) -> dict[int, RescoreResult]:
    stored = rescore_results.list_range(ref, rescore.id, indexes, consistent=True)
    return {result.index: result for result in stored}


def _list_candidates(run: Run, rescore: Rescore, results: Iterable[RescoreResult]) -> list[_ComparedResult]:
    snapshot = snapshots.get(run.snapshot_key)
    content = Content.from_json(snapshot.definition)
    candidates = []
    for result in filter(_is_comparable, results):
        scenario = snapshot.scenario(run.plan.probe(result.index).case)
        assertions = comparisons(assertions_of(rescore.config, content, scenario))
        if any(assertion.kind == MAX_SCORE for assertion in assertions):
            candidates.append(_ComparedResult(result, assertions))
    return candidates


def _is_comparable(result: RescoreResult) -> bool:
    """Return whether the transcript was graded, even if a comparison is all that there is to grade."""
    return result.scoring is not None and (was_graded(result) or not result.scoring.results)


async def _compare_one(selections: SelectionRunner, candidate: _ComparedResult) -> RescoreResult:
    result = candidate.result
    outcome = await selections.select(result.index, candidate.assertions, {}, {MAX_SCORE})
    return result.with_scoring(with_selection_results(result.scoring, outcome.results))
