"""How the probes of a run stand, computed from its plan, its barrier and the claims on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from shared.domain.barrier import FANOUT, Node
from shared.domain.runs import ACTIVE, ProbeStatus, Run, RunStatus
from shared.domain.transcripts import Outcome, ProbeError
from shared.messages import RunRef
from shared.paging import DEFAULT_LIMIT, Page, decode_index, encode_cursor
from shared.runs.reading import ranges_of, starting_at
from shared.store import attempts, barrier, outcomes, runs, snapshots
from shared.store.barrier import LeafItem

_NODE_SPAN = FANOUT * FANOUT
_UNTOUCHED = LeafItem()


@dataclass(frozen=True)
class ProbeView:
    """A probe as it stands; `error` says why it is ERROR."""

    index: int
    status: ProbeStatus
    scenario_id: str
    model_id: str
    repeat: int
    error: ProbeError | None = None
    attempts: tuple[ProbeError, ...] = ()
    """What it came to before it was retried, oldest first."""


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
    found = ((index, stands) for index, stands in _standing(run, wanted, now) if status in (None, stands))
    chosen = list(islice(found, limit + 1))
    views = tuple(_views(run, chosen[:limit]))
    return Page(views, encode_cursor(str(chosen[limit][0])) if len(chosen) > limit else None)


def _standing(run: Run, ranges: Sequence[range], now: datetime) -> Iterator[tuple[int, ProbeStatus]]:
    ref, leaves, known = RunRef(run.workspace, run.id), dict[int, LeafItem](), -1
    for span in ranges:
        for index in span:
            if index // _NODE_SPAN != known:
                known = index // _NODE_SPAN
                leaves = barrier.leaves(ref, Node(1, known))
            yield index, _status(run, leaves.get(index // FANOUT, _UNTOUCHED), index % FANOUT, now)


def _status(run: Run, item: LeafItem, offset: int, now: datetime) -> ProbeStatus:
    if offset in item.leaf.completed:
        return ProbeStatus.COMPLETED
    if offset in item.leaf.failed:
        return ProbeStatus.ERROR
    if run.status is RunStatus.CANCELLED:
        return ProbeStatus.CANCELLED
    claimed = any(offset in claim.offsets and claim.until > now.timestamp() for claim in item.claims.values())
    return ProbeStatus.RUNNING if claimed and run.status in ACTIVE else ProbeStatus.QUEUED


def _views(run: Run, chosen: Sequence[tuple[int, ProbeStatus]]) -> Iterator[ProbeView]:
    errors = outcomes.get_many(
        RunRef(run.workspace, run.id), [index for index, stands in chosen if stands is ProbeStatus.ERROR]
    )
    history = attempts.of(RunRef(run.workspace, run.id), [index for index, _ in chosen]) if run.generation > 1 else {}
    for index, stands in chosen:
        probe = run.plan.probe(index)
        yield ProbeView(
            index=index,
            status=stands,
            scenario_id=snapshots.scenario_id(run.snapshot_key, probe.scenario),
            model_id=run.plan.targets[probe.target],
            repeat=probe.repeat,
            error=_error(errors.get(index)),
            attempts=tuple(history.get(index, ())),
        )


def _error(outcome: Outcome | None) -> ProbeError | None:
    return outcome if isinstance(outcome, ProbeError) else None
