"""The execution of due erasures: deleted and expired content, and once more the content of deleted probes.

A run is erased block by block, and its progress is stored after each, so that a run of any size is erased over several
sweeps. Every step may be repeated.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.clock import from_iso
from cupel_core.base.errors import AppError, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.chats import catalog as chat_catalog
from cupel_core.definitions.files import catalog
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import ACTIVE, TERMINAL, Run
from cupel_core.domain.scoring.selections import sibling_probes
from cupel_core.runs.erasure import delete_runs, erase_copies, erase_probe, erase_quotations
from cupel_core.runs.workspace_erasure import continue_closing
from cupel_core.store import (
    barrier,
    blobs,
    checkpoints,
    comparisons,
    definitions,
    erasures,
    generations,
    keys,
    labels,
    object_names,
    outcome_pages,
    outcomes,
    partitions,
    reports,
    rescore_results,
    rescores,
    runs,
    selections,
    workspaces,
)
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.erasures import LAST_WRITE_AFTER, Erasure, ErasureKind
from cupel_core.store.outcome_items import OutcomeItem
from cupel_core.store.selections import RUN_SCORING
from cupel_core.workspace.sweeping.workspace_erasure import erase_workspace, is_being_erased

_RESERVE_SECONDS = 15.0
"""One block takes less than this, even if each of its probes has an object in the bucket."""
_CHECK_AGAIN_AFTER = timedelta(hours=6)
"""A run's content expires over the time in which it was recorded. Each check erases what has expired by then."""
_WRITERS = 8
_BLOCKS_PER_NODE = FANOUT * FANOUT // keys.PROBES_PER_BLOCK


class ErasureResult(StrEnum):
    ERASED = "erased"
    CONTINUED = "continued"
    """The erasure continues in the next sweep, or is checked again later."""
    FAILED = "failed"


class _Remaining(NamedTuple):
    """The position where the next sweep continues, if time is up, and the earliest expiry of the remaining content."""

    next_block: int | None
    expires_at: datetime | None


def erase_due(now: datetime, seconds_left: Callable[[], float]) -> dict[ErasureResult, int]:
    """Carry out the due erasures while time allows. Return how many ended in which way. An erasure that AWS refuses
    does not delay the others. The next sweep repeats it."""
    counts = dict.fromkeys(ErasureResult, 0)
    for erasure in erasures.list_due(now):
        if seconds_left() < _RESERVE_SECONDS:
            break
        try:
            counts[_carry_out(erasure, now, seconds_left)] += 1
        except (AppError, *AWS_ERRORS):
            counts[ErasureResult.FAILED] += 1
    return counts


def _carry_out(erasure: Erasure, now: datetime, seconds_left: Callable[[], float]) -> ErasureResult:
    match erasure.kind:
        case ErasureKind.RUN:
            is_done = _erase_run(erasure, now, seconds_left)
        case ErasureKind.PROBE:
            is_done = _erase_probe_again(erasure, now)
        case ErasureKind.RUNS:
            is_done = delete_runs(*erasure.ref, now, lambda: seconds_left() > _RESERVE_SECONDS)
        case ErasureKind.DEFINITION:
            is_done = _erase_definition(erasure.ref, now, seconds_left)
        case ErasureKind.CLOSING:
            is_done = continue_closing(erasure, now, lambda: seconds_left() > _RESERVE_SECONDS)
        case ErasureKind.WORKSPACE | ErasureKind.WORKSPACE_AGAIN:
            is_done = _erase_workspace(erasure, now, seconds_left)
        case ErasureKind.FILE | ErasureKind.CHAT | ErasureKind.EXPIRED_CHAT:
            is_done = _erase_file_or_chat(erasure, now, seconds_left)
        case ErasureKind.EXPIRED:
            is_done = _erase_expired(erasure, now, seconds_left)
    if is_done:
        erasures.remove(erasure)
    return ErasureResult.ERASED if is_done else ErasureResult.CONTINUED


def _blocks(run: Run, erasure: Erasure) -> range:
    return range(erasure.next_block, -(-run.plan.total // keys.PROBES_PER_BLOCK))


def _erase_run(erasure: Erasure, now: datetime, seconds_left: Callable[[], float]) -> bool:
    """Erase everything of a deleted run. Its item is erased last, because it lists what must be erased."""
    ref, run = erasure.ref, runs.get_deleted(erasure.ref)
    if run is None:
        return True
    erase_copies(ref, now)  # These are copies of a deletion that crashed.
    rescore_ids = [rescore.id for rescore in rescores.list_all_of_run(ref)]
    for block in _blocks(run, erasure):
        if seconds_left() < _RESERVE_SECONDS:
            return False
        for partition in _partitions_of_block(ref, block, rescore_ids):
            partitions.erase(partition)
        blobs.delete_prefix(object_names.block_blobs(ref, block))
        erasures.set_progress(erasure, block + 1, None)
    comparisons.delete_all_of_run(ref)
    for rescore_id in rescore_ids:
        partitions.erase(keys.rescore_counts(ref, rescore_id))
    partitions.erase(keys.rescores(ref))
    partitions.erase(keys.analyses(ref))
    partitions.erase(keys.reports(ref))
    blobs.delete_prefix(object_names.conversation_blobs(ref))
    blobs.delete_prefix(object_names.snapshot_blobs(ref))
    blobs.delete_prefix(object_names.analysis_blobs(ref))
    partitions.erase(keys.run(ref), except_sort_key="run")
    partitions.erase(keys.run(ref))
    return True


def _partitions_of_block(ref: RunRef, block: int, rescore_ids: Iterable[str]) -> Iterator[str]:
    first = block * keys.PROBES_PER_BLOCK
    yield keys.pages(ref, first // FANOUT)
    yield from (keys.probes(ref, first), keys.attempts(ref, first), keys.checkpoints(ref, first))
    yield keys.selections(ref, RUN_SCORING, first)
    yield keys.labels(ref, block)
    for rescore_id in rescore_ids:
        yield from (keys.rescore_results(ref, rescore_id, first), keys.selections(ref, rescore_id, first))
    if block % _BLOCKS_PER_NODE == 0:
        yield keys.barrier_nodes(ref, Node(0, first // FANOUT), 0)


def _erase_definition(ref: RunRef, now: datetime, seconds_left: Callable[[], float]) -> bool:
    """Erase a definition once no request is left that could start a run of it. Its runs are deleted too."""
    workspace, definition_id = ref
    if not delete_runs(workspace, definition_id, now, lambda: seconds_left() > _RESERVE_SECONDS):
        return False
    generations.erase_all(workspace, definition_id)
    blobs.delete_prefix(object_names.scenario_blobs(workspace, definition_id))
    definitions.erase(workspace, definition_id)
    return True


def _erase_workspace(erasure: Erasure, now: datetime, seconds_left: Callable[[], float]) -> bool:
    """Erase a workspace within half of the time, so that a large one does not delay the others. It is erased twice,
    because a late request may have written copies of data that it had read before."""
    workspace = erasure.ref.workspace
    if not is_being_erased(workspace):
        return True
    reserve = (seconds_left() + _RESERVE_SECONDS) / 2
    if not erase_workspace(workspace, now, lambda: seconds_left() > reserve):
        return False
    if erasure.kind is ErasureKind.WORKSPACE:
        erasures.request(Erasure(erasure.ref, ErasureKind.WORKSPACE_AGAIN, now + LAST_WRITE_AFTER))
    else:
        workspaces.complete_erasure(workspace, now)
    return True


def _erase_file_or_chat(erasure: Erasure, now: datetime, seconds_left: Callable[[], float]) -> bool:
    if erasure.kind is ErasureKind.FILE:
        catalog.erase(erasure, now)
        return True
    return chat_catalog.erase(erasure, now, lambda: seconds_left() > _RESERVE_SECONDS)


def _erase_probe_again(erasure: Erasure, now: datetime) -> bool:
    """Erase what was written after the deletion by a request or worker that had read the content before. The
    conversation of a later retry is not erased. While the run is open again, it is not known yet whether there will be
    one."""
    try:
        run = runs.get(erasure.ref)
    except NotFound:
        return True
    index = erasure.probe_index
    if index is None:
        return True
    if run.retry_round != erasure.retry_round and run.status in ACTIVE:
        erasures.request(erasure.postponed_to(now + LAST_WRITE_AFTER))
        return True
    outcome = next(outcomes.list_digests(erasure.ref, [index]), None)
    if outcome is None or erasure.retry_round is None or outcome.retry_round <= erasure.retry_round:
        erase_probe(run, index, now)
    return True


def _erase_expired(erasure: Erasure, now: datetime, seconds_left: Callable[[], float]) -> bool:
    try:
        run = runs.get(erasure.ref)
    except NotFound:
        return True
    left = _erase_expired_blocks(run, erasure, now, seconds_left)
    if left.next_block is not None:
        return False
    if left.expires_at is not None or run.status not in TERMINAL:
        due = max(left.expires_at + LAST_WRITE_AFTER if left.expires_at else now, now + _CHECK_AGAIN_AFTER)
        erasures.request(Erasure(erasure.ref, ErasureKind.EXPIRED, due))
    return True


def _erase_expired_blocks(run: Run, erasure: Erasure, now: datetime, seconds_left: Callable[[], float]) -> _Remaining:
    rescore_ids = [rescore.id for rescore in rescores.list_all_of_run(erasure.ref)]
    earliest = erasure.remaining
    _erase_expired_reports(erasure.ref, now)
    for block in _blocks(run, erasure):
        if seconds_left() < _RESERVE_SECONDS:
            return _Remaining(block, earliest)
        expiries = (earliest, _erase_expired_outcomes(erasure.ref, block, now))
        earliest = min((expiry for expiry in expiries if expiry is not None), default=None)
        checkpoints.erase_expired(erasure.ref, block, now)
        labels.erase_expired_notes(erasure.ref, block, now)
        _erase_expired_quotations(run, block, rescore_ids, now)
        if run.status in TERMINAL:
            _erase_leaf_errors(erasure.ref, block)
        erasures.set_progress(erasure, block + 1, earliest)
    return _Remaining(None, earliest)


def _erase_expired_reports(ref: RunRef, now: datetime) -> None:
    if not all(report.shows_texts(now) for report in reports.list_all(ref)):
        reports.erase_texts(ref)


def _erase_expired_outcomes(ref: RunRef, block: int, now: datetime) -> datetime | None:
    """Erase expired outcomes and earlier attempts of a block. Return the earliest expiry among the others."""
    remaining: list[datetime] = []
    expired: list[OutcomeItem] = []
    outcome_pages.erase_expired_texts(ref, block, now)
    for page in outcome_pages.list_of_block(ref, block):  # Own items are made of pages.
        if page.expires_at is not None and page.expires_at <= now:
            outcome_pages.erase_digests(page, page.entries, now)
        elif page.expires_at is not None:
            remaining.append(page.expires_at)
    for item in (*outcomes.list_own_items(ref, block), *outcomes.list_own_items(ref, block, of_attempts=True)):
        expires = dict(item.body).get("contentExpiresAt")
        if expires is None or item.erased_at is not None:
            continue
        if from_iso(expires) <= now:
            expired.append(item)
        else:
            remaining.append(from_iso(expires))
    with ThreadPoolExecutor(_WRITERS) as threads:
        unchanged = list(threads.map(lambda item: outcomes.erase_item(item, now), expired))
    return min(remaining, default=None) if all(unchanged) else now


def _erase_expired_quotations(run: Run, block: int, rescore_ids: Iterable[str], now: datetime) -> None:
    ref = RunRef(run.workspace, run.id)
    for scoring_id in (RUN_SCORING, *rescore_ids):
        for stored in list(selections.list_block(ref, scoring_id, block)):
            if stored.expires_at is not None and stored.expires_at <= now:
                erase_quotations(ref, scoring_id, sibling_probes(run.plan, stored.first_probe))
    for rescore_id in rescore_ids:
        for result in rescore_results.list_items(ref, rescore_id, block):
            if result.has_content and result.expires_at is not None and result.expires_at <= now:
                rescore_results.erase_item(result)


def _erase_leaf_errors(ref: RunRef, block: int) -> None:
    if block % _BLOCKS_PER_NODE == 0:
        for number, leaf in barrier.list_leaves(ref, Node(1, block // _BLOCKS_PER_NODE)).items():
            if leaf.last_error is not None:
                barrier.erase_error(ref, Node(0, number))
