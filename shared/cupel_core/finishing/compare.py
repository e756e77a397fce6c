"""select-best, once every target has answered: the answers to a case are compared, and their scoring says who won."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.selections import contested, reconclude
from cupel_core.errors import RetryableError
from cupel_core.messages import RunRef
from cupel_core.providers.completion import Attempt, complete
from cupel_core.rescoring.graders import CONCURRENT, Bench, TimeIsUp, models_of
from cupel_core.selections import Compared, Contests
from cupel_core.store import amendments, outcomes, runs, snapshots
from cupel_core.store.selections import OF_RUN
from cupel_core.store.snapshots import Snapshot


def has_contests(snapshot: Snapshot) -> bool:
    """Known without reading scenarios: their pages are marked."""
    assertions = Content.from_json(snapshot.definition).assertions
    return bool(contested(assertions)) or any(page.contested for page in snapshot.manifest.pages)


@dataclass(frozen=True)
class _Entry:
    """A transcript with the assertions that compare it to others."""

    transcript: Transcript
    scenario: Scenario
    assertions: tuple[Assertion, ...]


async def compare(
    ref: RunRef, epoch: int, part: LeafRange, seconds_left: Callable[[], float], attempt: Attempt = complete
) -> None:
    """Compares the transcripts of these leaves with their rivals, wherever those lie.

    A judge that fails leaves them unscored and does not fail the run. RetryableError when time was too short: what was
    judged is stored, the next try goes on.
    """
    run = await asyncio.to_thread(runs.get, ref)
    if run.epoch != epoch or run.status is not RunStatus.SUMMARIZING:
        return
    entries = await asyncio.to_thread(_entries, ref, run, part)
    if not entries:
        return
    models = models_of(run.evaluation, (assertion for entry in entries for assertion in entry.assertions))
    bench = await asyncio.to_thread(Bench, run.workspace, models, seconds_left, attempt)
    panel = await asyncio.to_thread(bench.panel, run.evaluation)
    contests = Contests(ref, run.plan, OF_RUN, run.generation, panel)
    slots = asyncio.Semaphore(CONCURRENT)
    left = await asyncio.gather(*(_compare_one(contests, each, slots) for each in entries))
    if any(left):
        raise RetryableError(f"{sum(left)} transcripts are still to be compared")


def _entries(ref: RunRef, run: Run, part: LeafRange) -> list[_Entry]:
    snapshot = snapshots.get(run.snapshot_key)
    return list(_contested_of(ref, run, snapshot, part)) if has_contests(snapshot) else []


def _contested_of(ref: RunRef, run: Run, snapshot: Snapshot, part: LeafRange) -> Iterator[_Entry]:
    of_all = Content.from_json(snapshot.definition).assertions
    for outcome in outcomes.in_range(ref, part.indexes(run.plan.total)):
        if isinstance(outcome, Transcript) and outcome.messages:
            scenario = snapshot.scenario(run.plan.probe(outcome.probe_index).case)
            if assertions := contested((*of_all, *scenario.assertions)):
                yield _Entry(outcome, scenario, assertions)


async def _compare_one(contests: Contests, entry: _Entry, slots: asyncio.Semaphore) -> bool:
    """Whether it is left for the next try."""
    async with slots:
        try:
            found = await contests.compared(entry.transcript, entry.assertions, entry.scenario.variables)
        except TimeIsUp:
            return True
        index, change = entry.transcript.probe_index, partial(_with, found)
        if change(entry.transcript) != entry.transcript:
            await asyncio.to_thread(amendments.amend, contests.ref, index, change)
        return False


def _with(found: Compared, transcript: Transcript) -> Transcript:
    """The same transcript when it says so already."""
    if transcript.scoring is not None and set(found.results) <= set(transcript.scoring.results):
        return transcript
    dialogue = replace(transcript.dialogue, judge=transcript.dialogue.judge + found.spend)
    return replace(transcript, dialogue=dialogue, scoring=reconclude(transcript.scoring, found.results))
