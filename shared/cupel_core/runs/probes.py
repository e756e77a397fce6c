from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import DEFAULT_LIMIT, Entry, decode_index, encode_cursor
from cupel_core.domain.runs.barrier import FANOUT, leaf_batches
from cupel_core.domain.runs.column_progress import LeafCounts
from cupel_core.domain.runs.run import ProbeStatus, Run, RunStatus
from cupel_core.domain.runs.transcripts import Outcome, readable_at
from cupel_core.domain.runs.views import ProbeView
from cupel_core.runs.probe_ranges import probe_ranges
from cupel_core.runs.queries import find_probe
from cupel_core.store import attempts, barrier, checkpoints, runs, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.outcome_reads import OutcomeLocation, location_in, read_at

_WITH_OUTCOME = (ProbeStatus.COMPLETED, ProbeStatus.ERROR)
MAX_PROBES = 100_000
"""One page examines at most this many probes, so that a large run without a match is read within a request's time."""
_MAX_LEAVES = 20
"""The times of this many leaves are compared: the last ones, and those not full, which workers are processing."""
_NEVER = datetime.min.replace(tzinfo=UTC)


class IndexedStatus(NamedTuple):
    probe_index: int
    status: ProbeStatus
    retry_round: int
    called_since: datetime | None = None
    """The time when the worker of a running probe made the first call."""
    location: OutcomeLocation | None = None


def list_probes(
    workspace: str,
    run_id: str,
    *,
    status: ProbeStatus | None = None,
    model: str | None = None,
    prompt_id: str | None = None,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
    now: datetime,
) -> Iterator[Entry[ProbeView]]:
    """Yield the probes by index, reading only the leaves that a page needs, because a run may have a million probes. An
    entry without a probe ends the page: after `limit`, or once MAX_PROBES were examined."""
    run = runs.get(RunRef(workspace, run_id))
    indexes = chain.from_iterable(probe_ranges(run.plan, model, prompt_id, decode_index(cursor)))
    found, next_index = list[IndexedStatus](), None
    for examined, probe in enumerate(probe_statuses(run, indexes, now, limit + 1)):
        if examined == MAX_PROBES or (len(found) == limit and status in (None, probe.status)):
            next_index = probe.probe_index
            break
        if status in (None, probe.status):
            found.append(probe)
    for view in build_views(run, found, now):
        yield Entry(encode_cursor(str(view.index)), view)
    if next_index is not None:
        yield Entry(encode_cursor(str(next_index)), None)


def get_probe(workspace: str, probe_id: str, now: datetime) -> ProbeView:
    """Return the probe with its conversation. Raise NotFound if the workspace has no probe with this id."""
    run, index = locate_probe(workspace, probe_id)
    return next(with_conversations(run, list(probe_statuses(run, [index], now)), now))


def locate_probe(workspace: str, probe_id: str) -> tuple[Run, int]:
    located = find_probe(workspace, probe_id)
    if located is None:
        raise NotFound(f"there is no probe {probe_id}")
    return located


def probe_statuses(run: Run, indexes: Iterable[int], now: datetime, per_read: int = FANOUT) -> Iterator[IndexedStatus]:
    """Yield the status of each probe, in the order of `indexes`. The leaves of `per_read` probes are read first."""
    ref = RunRef(run.workspace, run.id)
    for batch in leaf_batches(indexes, per_read):
        leaves = barrier.get_leaves(ref, sorted({index // FANOUT for index in batch}))
        for index in batch:
            leaf, offset = leaves[index // FANOUT], index % FANOUT
            status, retry_round = _status(run, leaf, offset, now), leaf.round_of(offset, run.conversation_round)
            called_since = leaf.called_since(offset) if status is ProbeStatus.RUNNING else None
            location = location_in(leaf, index) if status in _WITH_OUTCOME else None
            yield IndexedStatus(index, status, retry_round, called_since, location)


def build_views(run: Run, probes: Sequence[IndexedStatus], now: datetime) -> Iterator[ProbeView]:
    """Yield views with outcomes and the errors of earlier attempts. A long conversation is read when its view is
    made."""
    ref, indexes = RunRef(run.workspace, run.id), [probe.probe_index for probe in probes]
    recorded = read_at(ref, [probe.location for probe in probes if probe.location is not None])
    earlier_errors = attempts.list_attempts(ref, indexes) if run.retry_round > 1 else {}
    for (index, status, retry_round, called_since, _), outcome in _with_outcomes(probes, recorded):
        probe = run.plan.probe(index)
        yield ProbeView(
            run=run,
            index=index,
            status=status,
            column=run.plan.columns[probe.column],
            case=snapshots.get_case(run.snapshot_key, probe.case),
            repeat=probe.repeat,
            retry_round=outcome.retry_round if outcome else retry_round,
            called_since=called_since,
            outcome=outcome and readable_at(outcome, now),
            attempts=tuple(readable_at(error, now) for error in earlier_errors.get(index, ())),
        )


def _with_outcomes(
    probes: Iterable[IndexedStatus], recorded: Iterator[Outcome]
) -> Iterator[tuple[IndexedStatus, Outcome | None]]:
    """Yield each probe with its outcome, if it is among the recorded ones, which are in the same order."""
    outcome = next(recorded, None)
    for probe in probes:
        if outcome is None or outcome.probe_index != probe.probe_index:
            yield probe, None
        else:
            yield probe, outcome
            outcome = next(recorded, None)


def with_conversations(run: Run, probes: Sequence[IndexedStatus], now: datetime) -> Iterator[ProbeView]:
    """Yield views that also have the conversation of a running or errored probe, up to its last checkpoint."""
    ref = RunRef(run.workspace, run.id)
    for view in build_views(run, probes, now):
        is_partial = view.error is not None or view.status is ProbeStatus.RUNNING
        checkpoint = checkpoints.load(ref, view.index, view.retry_round, now) if is_partial else None
        yield replace(view, partial_conversation=checkpoint)


def _status(run: Run, item: LeafItem, offset: int, now: datetime) -> ProbeStatus:
    if offset in item.leaf.completed:
        return ProbeStatus.COMPLETED
    if offset in item.leaf.failed:
        return ProbeStatus.ERROR
    if any(offset in claim.calling and claim.until > now.timestamp() for claim in item.claims.values()):
        return ProbeStatus.RUNNING  # A call in flight is recorded even if the run is paused or cancelled.
    return ProbeStatus.CANCELLED if run.status is RunStatus.CANCELLED else ProbeStatus.QUEUED


def list_recent(run: Run, limit: int, now: datetime) -> list[ProbeView]:
    """List at most `limit` probes that have ended, latest first. Probes of a leaf that was written to long ago may be
    missing."""
    ref = RunRef(run.workspace, run.id)
    leaves = barrier.get_leaves(ref, _recent_leaves(barrier.read_leaves(Tree.for_run(run)).leaves))
    recorded = list[int]()
    for number, leaf in sorted(leaves.items(), key=lambda item: item[1].recorded_at or _NEVER, reverse=True):
        if len(recorded) >= limit:
            break
        recorded += _recorded_in(number, leaf)
    views = build_views(run, list(probe_statuses(run, sorted(recorded), now)), now)
    ended = [view for view in views if view.outcome is not None]
    return sorted(ended, key=lambda view: view.completed_at or _NEVER, reverse=True)[:limit]


def _recent_leaves(leaves: Iterable[LeafCounts]) -> list[int]:
    listed = list(leaves)
    unfinished = [leaf.number for leaf in listed if leaf.completed + leaf.failed < FANOUT]
    last = [leaf.number for leaf in listed[-_MAX_LEAVES:]]
    return sorted({*unfinished[:_MAX_LEAVES], *last})


def _recorded_in(number: int, leaf: LeafItem) -> list[int]:
    return [number * FANOUT + offset for offset in leaf.leaf.completed | leaf.leaf.failed]
