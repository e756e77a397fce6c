"""Deletion of content by users: of one probe's conversation, of a whole run, or of a definition with its runs.

Deleted content is unreadable at once. A worker or grader that had read it before may still write a text that quotes it,
so the sweeper erases once more when no such invocation can be left.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from cupel_core.base.errors import Conflict, NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import MAX_LIMIT
from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_of
from cupel_core.domain.runs.run import ACTIVE, ProbeStatus, Run
from cupel_core.domain.scoring.selections import sibling_probes, without_quotations
from cupel_core.runs.probes import locate_probe, probe_statuses
from cupel_core.store import (
    amendments,
    answer_copies,
    attempts,
    barrier,
    blobs,
    checkpoints,
    definition_runs,
    definitions,
    deletion_log,
    erasures,
    labels,
    object_names,
    outcomes,
    reports,
    rescore_results,
    rescores,
    runs,
    selections,
)
from cupel_core.store.deletion_log import DeletedWhole, Deletion
from cupel_core.store.erasures import LAST_WRITE_AFTER, Erasure, ErasureKind
from cupel_core.store.selections import RUN_SCORING

_MAX_NAMED_FORKS = 5
_MAX_ATTEMPTS = 5
_UNFINISHED = (ProbeStatus.QUEUED, ProbeStatus.RUNNING)


def delete_probe_content(workspace: str, probe_id: str, now: datetime) -> None:
    """Delete the conversation of a probe that is completed, errored or cancelled, and every text that may quote it. Its
    status, decision code, usage, cost and result stay. Repeating it changes nothing. Raise Conflict for a probe that
    may still be run."""
    run, index = locate_probe(workspace, probe_id)
    _check_has_ended(run, index, probe_id, now)
    ref = RunRef(run.workspace, run.id)
    deletion_log.record(Deletion(ref, index), now)
    erasures.request(Erasure(ref, ErasureKind.PROBE, now + LAST_WRITE_AFTER, index, run.retry_round))
    erase_probe(run, index, now)


def delete_run(workspace: str, run_id: str, now: datetime) -> None:
    """Hide the run from readers at once and have the sweeper erase it. Raise NotFound if it was deleted before."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    deletion_log.record(Deletion(ref, DeletedWhole.RUN), now)
    runs.delete(ref, now, erase_from=now + LAST_WRITE_AFTER)
    erase_copies(ref, now)


def erase_definition(workspace: str, definition_id: str, now: datetime, has_time: Callable[[], bool]) -> None:
    """Hide a definition and all of its runs, and have the sweeper erase them. It may have been deleted before. The
    sweeper hides the runs for which `has_time` leaves no time. Raise Conflict while there are forks, which need its
    versions."""
    head = definitions.find(workspace, definition_id)
    if head is None:
        raise NotFound(f"there is no definition {definition_id}")
    _check_has_no_forks(workspace, definition_id)
    if head.deleted_at is None:
        definitions.delete(workspace, head, now)
        _check_has_no_forks(workspace, definition_id)  # No fork can be made from now on.
    erase_with_runs(RunRef(workspace, definition_id), now, has_time)


def erase_with_runs(ref: RunRef, now: datetime, has_time: Callable[[], bool]) -> None:
    deletion_log.record(Deletion(ref, DeletedWhole.DEFINITION), now)
    erasures.request(Erasure(ref, ErasureKind.DEFINITION, now + LAST_WRITE_AFTER))
    for made_id in definition_runs.list_made_definition_ids(*ref):
        erase_made_definition(RunRef(ref.workspace, made_id), now)
    if not delete_runs(*ref, now, has_time):
        erasures.request(Erasure(ref, ErasureKind.RUNS, now))


def erase_copies(ref: RunRef, now: datetime) -> None:
    for definition_id in list(answer_copies.list_definition_ids(ref)):
        erase_made_definition(RunRef(ref.workspace, definition_id), now)


def erase_made_definition(ref: RunRef, now: datetime) -> None:
    """Erase a definition that was made for one run, with its forks, which have the same scenarios. Repeating it is
    harmless."""
    for _ in range(_MAX_ATTEMPTS):
        head = definitions.find(*ref)
        if head is None:
            return
        try:
            if head.deleted_at is None:
                definitions.delete(ref.workspace, head, now)
            break
        except Conflict:
            continue
    else:
        raise RetryableError("the definition is being changed by others; try again")
    for fork_id in list(definitions.list_fork_ids(*ref)):
        erase_made_definition(RunRef(ref.workspace, fork_id), now)
    erase_with_runs(ref, now, lambda: True)


def delete_runs(workspace: str, definition_id: str | None, now: datetime, has_time: Callable[[], bool]) -> bool:
    """Delete the runs of a definition, or of the whole workspace, while `has_time` allows. Return whether none is
    left."""
    cursor = None
    while True:
        page = runs.list_runs(workspace, definition_id=definition_id, limit=MAX_LIMIT, cursor=cursor)
        for run in page.items:
            if not has_time():
                return False
            with suppress(NotFound):  # The run was deleted since it was listed.
                delete_run(workspace, run.id, now)
        if page.next_cursor is None:
            return True
        cursor = page.next_cursor


def _check_has_no_forks(workspace: str, definition_id: str) -> None:
    """Raise Conflict if there are forks that are not erased, even deleted ones: they use its scenarios."""
    fork_ids = [
        each for each in definitions.list_fork_ids(workspace, definition_id) if definitions.find(workspace, each)
    ]
    if fork_ids:
        shown = ", ".join(fork_ids[:_MAX_NAMED_FORKS])
        raise Conflict(f"there are forks, which use its versions; erase them first: {shown}")


def erase_probe(run: Run, index: int, now: datetime) -> None:
    """Erase the content of a probe everywhere. Repeating it is harmless."""
    ref = RunRef(run.workspace, run.id)
    outcomes.erase_content(ref, index, now)  # This is first, because later writers check it.
    checkpoints.erase(ref, index, run.retry_round, now)
    attempts.erase_content(ref, index, now)
    labels.erase_probe(ref, index)
    barrier.erase_error(ref, leaf_of(index))
    siblings = sibling_probes(run.plan, index)
    erase_quotations(ref, RUN_SCORING, siblings)
    for rescore in rescores.list_all_of_run(ref):
        rescore_results.erase_content(ref, rescore.id, index)
        erase_quotations(ref, rescore.id, siblings)
    blobs.delete_prefix(object_names.conversation_blobs(ref, index))
    reports.erase_texts(ref)  # Any of them may quote it.
    erase_copies(ref, now)  # This is last: copies are made of stored content.


def erase_quotations(ref: RunRef, scoring_id: str, siblings: tuple[int, ...]) -> None:
    """Erase the reasons of selections among these probes, and from the scorings they were copied to."""
    for assertion_index in list(selections.list_of_probe(ref, scoring_id, siblings[0])):
        selections.erase_content(ref, scoring_id, siblings[0], assertion_index)
    for sibling in siblings:
        if scoring_id == RUN_SCORING:
            amendments.amend_scoring(ref, sibling, without_quotations)
        else:
            rescore_results.amend(ref, scoring_id, sibling, without_quotations)


def _check_has_ended(run: Run, index: int, probe_id: str, now: datetime) -> None:
    status = next(probe_statuses(run, [index], now)).status
    if status is ProbeStatus.ERROR and run.status in ACTIVE and _is_retried(run, index):
        status = ProbeStatus.QUEUED
    if status in _UNFINISHED:
        raise Conflict(f"the probe {probe_id} is {status}; cancel its run, or wait until the probe has ended")
    if status is ProbeStatus.CANCELLED and _is_claimed(run, index, now):
        raise Conflict(f"a worker may still record the probe {probe_id}; try again in a few minutes")


def _is_retried(run: Run, index: int) -> bool:
    """Return whether the run's open retry round covers the errored probe, but was not dispatched yet."""
    outcome = outcomes.get(RunRef(run.workspace, run.id), index)
    in_scope = run.retry is not None and any(index in indexes for indexes in run.retry.ranges(run.plan))
    return in_scope and outcome is not None and outcome.retry_round < run.retry_round


def _is_claimed(run: Run, index: int, now: datetime) -> bool:
    """Return whether a worker that had started the probe before the run was cancelled may still be working."""
    claims = barrier.get_leaf(RunRef(run.workspace, run.id), Node(0, index // FANOUT)).claims.values()
    return any(index % FANOUT in claim.offsets and claim.until > now.timestamp() for claim in claims)
