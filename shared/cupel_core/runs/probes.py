"""How the probes of a run stand, computed from its plan, its barrier and the claims on it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import ACTIVE, ProbeStatus, Run, RunStatus
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.errors import NotFound
from cupel_core.ids import thread_id
from cupel_core.messages import RunRef
from cupel_core.paging import DEFAULT_LIMIT, Page, decode_index, encode_cursor
from cupel_core.runs.queries import ranges_of, starting_at, transcript_id
from cupel_core.store import attempts, barrier, checkpoints, outcomes, runs, snapshots
from cupel_core.store.barrier import LeafItem

_ENDED = (ProbeStatus.COMPLETED, ProbeStatus.ERROR)
_NODE_SPAN = FANOUT * FANOUT
_UNTOUCHED = LeafItem()


@dataclass(frozen=True)
class ProbeView:
    """A probe as it stands, with its outcome where there is one; its id is its transcript's."""

    run: Run
    index: int
    status: ProbeStatus
    scenario_id: str
    model_id: str
    persona_id: str | None
    repeat: int
    outcome: Outcome | None = None
    attempts: tuple[ProbeError, ...] = ()
    """What it came to before it was retried, oldest first."""
    dialogue: Dialogue | None = None
    """Of an errored probe, as far as it came; told only where whole probes are."""

    @property
    def id(self) -> str:
        return transcript_id(self.run.id, self.index)

    @property
    def thread_id(self) -> str:
        """How an agent knows the conversation; another once the probe is retried."""
        transcript = self.transcript
        if transcript is not None and transcript.dialogue.thread_id:
            return transcript.dialogue.thread_id
        generation = self.outcome.generation if self.outcome else self.run.generation
        return thread_id(self.run.id, self.index, generation)

    @property
    def held(self) -> Dialogue | None:
        """What was said."""
        return self.transcript.dialogue if self.transcript else self.dialogue

    @property
    def transcript(self) -> Transcript | None:
        return self.outcome if isinstance(self.outcome, Transcript) else None

    @property
    def error(self) -> ProbeError | None:
        return self.outcome if isinstance(self.outcome, ProbeError) else None


def listed(
    workspace: str,
    run_id: str,
    *,
    status: ProbeStatus | None = None,
    model: str | None = None,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
    now: datetime,
) -> Page[ProbeView]:
    """By index. Only the leaves that a page needs are read: a run of a million has a million probes."""
    run = runs.get(RunRef(workspace, run_id))
    wanted = starting_at(ranges_of(run.plan, model), decode_index(cursor))
    found = ((index, stands) for index, stands in standing(run, _each(wanted), now) if status in (None, stands))
    chosen = list(islice(found, limit + 1))
    views_ = tuple(views(run, chosen[:limit]))
    return Page(views_, encode_cursor(str(chosen[limit][0])) if len(chosen) > limit else None)


def get(workspace: str, probe_id: str, now: datetime) -> ProbeView:
    """NotFound for an id of another workspace, and beyond the run's probes."""
    run, index = probe_of(workspace, probe_id)
    chosen = list(standing(run, [index], now))
    return next(whole(run, chosen))


def probe_of(workspace: str, probe_id: str) -> tuple[Run, int]:
    run_id, _, number = probe_id.rpartition("-")
    unknown = NotFound(f"there is no probe {probe_id}")
    if not run_id or not (number.isascii() and number.isdigit()):
        raise unknown
    try:
        run = runs.get(RunRef(workspace, run_id))
    except NotFound:
        raise unknown from None
    if int(number) >= run.plan.total:
        raise unknown
    return run, int(number)


def standing(run: Run, indexes: Iterable[int], now: datetime) -> Iterator[tuple[int, ProbeStatus]]:
    """How each of these stands, in their order; neighbours share one read."""
    ref, leaves, known = RunRef(run.workspace, run.id), dict[int, LeafItem](), -1
    for index in indexes:
        if index // _NODE_SPAN != known:
            known = index // _NODE_SPAN
            leaves = barrier.leaves(ref, Node(1, known))
        yield index, _status(run, leaves.get(index // FANOUT, _UNTOUCHED), index % FANOUT, now)


def views(run: Run, chosen: Sequence[tuple[int, ProbeStatus]]) -> Iterator[ProbeView]:
    """With outcomes, and with what retried probes had come to."""
    ref, indexes = RunRef(run.workspace, run.id), [index for index, _ in chosen]
    ended = outcomes.get_many(ref, [index for index, stands in chosen if stands in _ENDED])
    history = attempts.of(ref, indexes) if run.generation > 1 else {}
    for index, stands in chosen:
        probe = run.plan.probe(index)
        played = snapshots.played(run.snapshot_key, probe.case)
        yield ProbeView(
            run=run,
            index=index,
            status=stands,
            scenario_id=played.scenario_id,
            model_id=run.plan.targets[probe.target],
            persona_id=played.persona_id,
            repeat=probe.repeat,
            outcome=ended.get(index),
            attempts=tuple(history.get(index, ())),
        )


def whole(run: Run, chosen: Sequence[tuple[int, ProbeStatus]]) -> Iterator[ProbeView]:
    """With the conversation of errored probes too, as far as it was kept."""
    ref = RunRef(run.workspace, run.id)
    for view in views(run, chosen):
        error = view.error
        kept = checkpoints.get(ref, view.index, error.generation) if error else None
        yield replace(view, dialogue=kept)


def _each(ranges: Iterable[range]) -> Iterator[int]:
    return chain.from_iterable(ranges)


def _status(run: Run, item: LeafItem, offset: int, now: datetime) -> ProbeStatus:
    if offset in item.leaf.completed:
        return ProbeStatus.COMPLETED
    if offset in item.leaf.failed:
        return ProbeStatus.ERROR
    if run.status is RunStatus.CANCELLED:
        return ProbeStatus.CANCELLED
    claimed = any(offset in claim.offsets and claim.until > now.timestamp() for claim in item.claims.values())
    return ProbeStatus.RUNNING if claimed and run.status in ACTIVE else ProbeStatus.QUEUED
