"""What readers see of a run: its progress, probes, transcripts and events."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import batched, chain
from typing import Any

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import ACTIVE, Event, Progress, Run, RunStatus
from cupel_core.domain.runs.slices import providers_of
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.errors import Invalid, NotFound
from cupel_core.messages import RunRef
from cupel_core.paging import DEFAULT_LIMIT, Page, decode_index, encode_cursor
from cupel_core.store import barrier, governor, outcomes, runs, snapshots
from cupel_core.store import events as event_store
from cupel_core.store.barrier import Tree
from cupel_core.store.governor import HeldModel

_BATCH = 100
MOST_CHARACTERS = 2_000_000
"""Of what was said, in a page: an answer of a function has at most 6 MB. A page that is full ends early."""

# Access times are written beside the answer: a reader does not wait for them, and losing one harms nobody.
_background = ThreadPoolExecutor(max_workers=2, thread_name_prefix="access")


@dataclass(frozen=True)
class RunView:
    run: Run
    progress: Progress
    definition_snapshot: dict[str, Any] | None
    last_accessed_at: datetime | None
    held_models: tuple[HeldModel, ...] = ()
    """Models of the run whose circuit breaker is open; told by `get` alone."""


@dataclass(frozen=True)
class TranscriptView:
    id: str
    run_id: str
    transcript: Transcript
    definition_snapshot: dict[str, Any] | None
    content_available: bool
    """False once the content's time is over, also while its item is still there."""


def get(workspace: str, run_id: str, now: datetime) -> RunView:
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    _background.submit(runs.touch, ref, now)
    return RunView(
        run=run,
        progress=progress(run),
        definition_snapshot=snapshots.definition(run.snapshot_key),
        last_accessed_at=runs.last_accessed_at(ref),
        held_models=_held(run),
    )


def listed(
    workspace: str,
    *,
    definition_id: str | None = None,
    experiment_id: str | None = None,
    schedule_id: str | None = None,
    eval_id: str | None = None,
    status: RunStatus | None = None,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> Page[RunView]:
    """Newest first; without the definition snapshots, which `get` has."""
    found = runs.listed(
        workspace,
        definition_id=definition_id,
        experiment_id=experiment_id,
        schedule_id=schedule_id,
        eval_id=eval_id,
        status=status,
        limit=limit,
        cursor=cursor,
    )
    views = (RunView(run, progress(run), None, None) for run in found.items)
    return Page(tuple(views), found.next_cursor)


def _held(run: Run) -> tuple[HeldModel, ...]:
    if run.status not in ACTIVE:
        return ()
    standings = (governor.standing(run.workspace, provider) for provider in dict.fromkeys(providers_of(run.plan)))
    return tuple(held for standing in standings for held in standing.held_models if held.model in run.models)


def progress(run: Run) -> Progress:
    """From the barrier while probes may still end; a settled run carries its counts."""
    return run.settled or barrier.progress(Tree.of(run))


def delete(workspace: str, run_id: str, now: datetime) -> None:
    runs.delete(RunRef(workspace, run_id), now)


def events(workspace: str, run_id: str, after: int) -> tuple[Event, ...]:
    """Those with a higher `seq` than `after`, in order."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    return event_store.after(ref, after)


def transcripts(
    workspace: str,
    run_id: str,
    *,
    model: str | None = None,
    scenario_id: str | None = None,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
    now: datetime,
) -> Page[TranscriptView]:
    """By probe index."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    ranges = starting_at(ranges_of(run.plan, model), decode_index(cursor))
    if scenario_id is None:
        found = chain.from_iterable(outcomes.in_range(ref, span) for span in ranges)
    else:
        found = chain(_of_scenario(run, scenario_id, ranges))
    kept: list[Transcript] = []
    size = 0
    for each in (each for each in found if isinstance(each, Transcript)):
        if len(kept) == limit or size > MOST_CHARACTERS:
            return Page(tuple(_view(run, one, now) for one in kept), encode_cursor(str(each.probe_index)))
        kept.append(each)
        size += characters(each.dialogue)
    return Page(tuple(_view(run, one, now) for one in kept))


def transcript(workspace: str, transcript_id: str, now: datetime) -> TranscriptView:
    """NotFound for an id of another workspace, and for a probe that has no transcript."""
    run_id, _, number = transcript_id.rpartition("-")
    unknown = NotFound(f"there is no transcript {transcript_id}")
    if not run_id or not (number.isascii() and number.isdigit()):
        raise unknown
    ref = RunRef(workspace, run_id)
    try:
        run = runs.get(ref)
    except NotFound:
        raise unknown from None
    found = outcomes.get(ref, int(number)) if int(number) < run.plan.total else None
    if not isinstance(found, Transcript):
        raise unknown
    _background.submit(outcomes.touch, ref, found.probe_index, now)
    return _view(run, found, now)


def transcript_id(run_id: str, index: int) -> str:
    return f"{run_id}-{index}"


def ranges_of(plan: Plan, model: str | None) -> list[range]:
    """The indexes of one model, or of all, ascending."""
    if model is None:
        return [range(plan.total)]
    if model not in plan.targets:
        raise Invalid.field("model", f"must be one of the run's models: {', '.join(plan.targets)}")
    return list(plan.target_ranges(plan.targets.index(model)))


def characters(dialogue: Dialogue) -> int:
    """How much was said."""
    return sum(len(message.content) for message in dialogue.messages)


def starting_at(ranges: Sequence[range], start: int) -> list[range]:
    return [range(max(span.start, start), span.stop) for span in ranges if span.stop > start]


def _of_scenario(run: Run, scenario_id: str, ranges: Sequence[range]) -> Iterator[Outcome]:
    """The outcomes of one scenario within these ranges, ascending."""
    cases = snapshots.get(run.snapshot_key).cases(scenario_id)
    found = sorted(index for case in cases for index in run.plan.case_indexes(case))
    indexes = [index for index in found if any(index in span for span in ranges)]
    for batch in batched(indexes, _BATCH, strict=False):
        held = outcomes.get_many(RunRef(run.workspace, run.id), batch)
        yield from (held[index] for index in batch if index in held)


def _view(run: Run, transcript: Transcript, now: datetime) -> TranscriptView:
    expired = transcript.content_expires_at is not None and transcript.content_expires_at <= now
    available = bool(transcript.messages) and not expired
    return TranscriptView(
        id=transcript_id(run.id, transcript.probe_index),
        run_id=run.id,
        transcript=transcript,
        definition_snapshot=snapshots.definition(run.snapshot_key),
        content_available=available,
    )
