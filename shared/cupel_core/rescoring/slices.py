"""A slice of a scoring: its transcripts are judged many at a time, and stored as they come."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.rescores import Rescored, Rescoring, RescoringStatus, Tally
from cupel_core.errors import RetryableError
from cupel_core.messages import RunRef
from cupel_core.providers.completion import Attempt, complete
from cupel_core.rescoring.graders import CONCURRENT, Bench, TimeIsUp, models_of
from cupel_core.rescoring.transcript_grading import Judging
from cupel_core.selections import Contests
from cupel_core.store import outcomes, rescore_results, rescores, runs, snapshots

_BATCH = 25
"""A batch write takes as many."""
_STORED_EVERY_SECONDS = 1.0


async def score_slice(
    ref: RunRef, scoring_id: str, part: LeafRange, seconds_left: Callable[[], float], attempt: Attempt = complete
) -> None:
    """Scores the transcripts of these leaves that have no result yet.

    RetryableError when time was too short: what was judged is stored, the next try goes on.
    """
    rescoring = await asyncio.to_thread(rescores.get, ref, scoring_id)
    if rescoring.status is not RescoringStatus.RUNNING:
        return
    run = await asyncio.to_thread(runs.get, ref)
    results = await asyncio.to_thread(_results_so_far, rescoring, part)
    todo = await asyncio.to_thread(_todo, rescoring, part, results)
    if todo:
        bench = partial(Bench, seconds_left=seconds_left, attempt=attempt)
        judging = await asyncio.to_thread(_judging, run, rescoring, todo, bench)
        await _judge_all(judging, todo, results)
    await results.store()
    if left := len(todo) - results.added:
        raise RetryableError(f"{left} transcripts are still to be scored")


@dataclass
class Results:
    """Of a slice: stored by batch or by time, whichever comes first."""

    ref: RunRef
    scoring_id: str
    leaf: int
    known: frozenset[int]
    tally: Tally
    added: int = 0
    _waiting: list[Rescored] = field(default_factory=list)
    _stored_at: float = field(default_factory=time.monotonic)

    async def add(self, result: Rescored) -> None:
        self._waiting.append(result)
        self.added += 1
        if len(self._waiting) >= _BATCH or time.monotonic() - self._stored_at > _STORED_EVERY_SECONDS:
            await self.store()

    async def store(self) -> None:
        """The results before their count, so that what is counted is there."""
        results, self._waiting = self._waiting, []
        self.tally += _tally(results)
        await asyncio.to_thread(rescore_results.put, self.ref, self.scoring_id, results)
        await asyncio.to_thread(rescores.count, self.ref, self.scoring_id, self.leaf, self.tally)
        self._stored_at = time.monotonic()


def _tally(results: Iterable[Rescored]) -> Tally:
    errors = [result.unscored for result in results]
    return Tally(scored=errors.count(False), errors=errors.count(True))


def _results_so_far(rescoring: Rescoring, part: LeafRange) -> Results:
    ref = RunRef(rescoring.workspace, rescoring.run_id)
    found = list(rescore_results.in_range(ref, rescoring.id, part.indexes(rescoring.probes), consistent=True))
    known = frozenset(result.index for result in found)
    return Results(ref, rescoring.id, part.first_leaf, known, _tally(found))


def _todo(rescoring: Rescoring, part: LeafRange, results: Results) -> list[Transcript]:
    """What a later retry of the run has brought is no part of it."""
    found = outcomes.in_range(results.ref, part.indexes(rescoring.probes))
    transcripts = (each for each in found if isinstance(each, Transcript) and each.generation <= rescoring.generation)
    return [each for each in transcripts if each.probe_index not in results.known]


def _judging(run: Run, rescoring: Rescoring, todo: list[Transcript], bench: Callable[..., Bench]) -> Judging:
    snapshot, config = snapshots.get(run.snapshot_key), rescoring.config
    content, evaluation = Content.from_json(snapshot.definition), config.evaluation(run.evaluation)
    assertions = [*content.assertions] if config.assertions is None else [*config.assertions]
    for case in {run.plan.probe(each.probe_index).case for each in todo}:
        # Read here: the event loop must not wait for a page.
        own = snapshot.scenario(case).assertions
        assertions += own if config.assertions is None else ()
    panel = bench(run.workspace, models_of(evaluation, assertions)).panel(evaluation)
    ref = RunRef(run.workspace, run.id)
    contests = Contests(ref, run.plan, rescoring.id, rescoring.generation, panel)
    return Judging(run, snapshot, content, config, panel, contests)


async def _judge_all(judging: Judging, todo: list[Transcript], results: Results) -> None:
    """What there is no time for is left out."""
    slots = asyncio.Semaphore(CONCURRENT)

    async def judge_one(transcript: Transcript) -> Rescored | None:
        async with slots:
            try:
                return await judging.judge(transcript)
            except TimeIsUp:
                return None

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(judge_one(transcript)) for transcript in todo]
        for task in asyncio.as_completed(tasks):
            found = await task
            if found is not None:
                await results.add(found)
