"""Comparison of the answers to each case once every target has answered (select-best, max-score)."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.slice_graders import OnSpend, grader_models, ignore_spend, slice_graders, slice_leases
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.selections import comparisons, with_selection_results
from cupel_core.providers.completion import Attempt, complete
from cupel_core.runs.slice_worker import process_concurrently, process_leaf_by_leaf
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.selections import SelectionOutcome, SelectionRunner, needs_selection
from cupel_core.store import amendments, outcomes, runs, snapshots
from cupel_core.store.selections import RUN_SCORING
from cupel_core.store.snapshots import Snapshot


@dataclass(frozen=True)
class _Candidate:
    """A transcript with the assertions that compare it to others."""

    transcript: Transcript
    scenario: Scenario
    assertions: tuple[Assertion, ...]


async def compare_slice(
    ref: RunRef,
    fencing_token: int,
    leaf_range: LeafRange,
    seconds_left: Callable[[], float],
    attempt: Attempt = complete,
    on_spend: OnSpend = ignore_spend,
) -> SliceProgress:
    """Compare the transcripts of these leaves with their siblings, which may be in other slices. A failing judge leaves
    them unscored and does not fail the run. When time is short, finished comparisons are stored, and the others are
    left to the next task."""
    run = await asyncio.to_thread(runs.find, ref)
    if run is None or run.fencing_token != fencing_token or run.status is not RunStatus.SUMMARIZING:
        return SliceProgress()
    async with (
        slice_leases(seconds_left, run.priority) as leases,
        charged_calls(run, attempt, seconds_left, leases) as charged,
    ):
        make_graders = partial(slice_graders, seconds_left=seconds_left, limiter=leases, calls=charged)

        async def compare_leaf(leaf: LeafRange) -> SliceProgress:
            candidates = await asyncio.to_thread(_list_candidates, ref, run, leaf)
            return await _compare(ref, run, candidates, make_graders, on_spend) if candidates else SliceProgress()

        return await process_leaf_by_leaf(leaf_range, compare_leaf)


async def _compare(
    ref: RunRef,
    run: Run,
    candidates: Sequence[_Candidate],
    make_graders: Callable[..., GraderFactory],
    on_spend: OnSpend,
) -> SliceProgress:
    """Compare the candidates of one leaf. A transcript that had its results before counts as neither done nor left."""
    changes: list[bool] = []

    async def note_change(was_changed: bool) -> None:
        changes.append(was_changed)

    assertions = (assertion for candidate in candidates for assertion in candidate.assertions)
    models = grader_models(run.grader_config, assertions)
    snapshot = await asyncio.to_thread(snapshots.get, run.snapshot_key)
    graders = await asyncio.to_thread(make_graders, run.workspace, run.grader_config, models, prices=snapshot.prices)
    selections = SelectionRunner(ref, run.plan, RUN_SCORING, run.retry_round, graders)
    compare = partial(_compare_one, selections, partial(on_spend, run.grader_config.judge_model))
    progress = await process_concurrently(candidates, compare, note_change)
    return progress._replace(done=sum(changes))


def _list_candidates(ref: RunRef, run: Run, leaf_range: LeafRange) -> list[_Candidate]:
    """List the transcripts to compare, and give each an item of its own, to which its results are added."""
    snapshot = snapshots.get(run.snapshot_key)
    candidates = list(_iterate_candidates(ref, run, snapshot, leaf_range)) if needs_selection(snapshot) else []
    outcomes.own_items(ref, [candidate.transcript.probe_index for candidate in candidates])
    return candidates


def _iterate_candidates(ref: RunRef, run: Run, snapshot: Snapshot, leaf_range: LeafRange) -> Iterator[_Candidate]:
    definition_assertions = Content.from_json(snapshot.definition).assertions
    for outcome in outcomes.list_outcomes(ref, leaf_range.indexes(run.plan.total)):
        if isinstance(outcome, Transcript) and readable_at(outcome, utc_now()).messages:
            scenario = snapshot.scenario(run.plan.probe(outcome.probe_index).case)
            if assertions := comparisons((*definition_assertions, *scenario.assertions)):
                yield _Candidate(outcome, scenario, assertions)


async def _compare_one(selections: SelectionRunner, on_spend: Callable[[Spend], None], candidate: _Candidate) -> bool:
    """Compare one transcript with its siblings and store the result. Return False if it was stored before."""
    transcript = candidate.transcript
    outcome = await selections.select(transcript.probe_index, candidate.assertions, candidate.scenario.variables)
    change = partial(_with_outcome, outcome)
    if change(transcript) == transcript:
        return False
    await asyncio.to_thread(amendments.amend, selections.ref, transcript.probe_index, change)
    on_spend(outcome.spend)
    return True


def _with_outcome(outcome: SelectionOutcome, transcript: Transcript) -> Transcript:
    """Return the transcript with these results, unchanged if it has them already, so that nothing is counted twice."""
    if transcript.scoring is not None and set(outcome.results) <= set(transcript.scoring.results):
        return transcript
    before = transcript.conversation
    conversation = replace(before, judge_spend=before.judge_spend + outcome.spend)
    scoring = with_selection_results(transcript.scoring, outcome.results)
    return replace(transcript, conversation=conversation, scoring=scoring)
