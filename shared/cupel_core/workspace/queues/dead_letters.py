"""Dead letters of a workspace: slices that a queue has given up, and their redrive.

Once a minute, the sweeper moves dead letters from their queues to the table and records their missing probes as
errored; such probes are retried with their run. A selected dead letter is sent again with the probes that have no
outcome, if its run is open, and is then deleted. A crash in between leaves both, which is a duplicate like any other.
If nothing is left to do, it is deleted. If some of its probes are errored already, the response names the run, whose
retry runs them again.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import islice

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ProbeSlice
from cupel_core.base.paging import Page
from cupel_core.domain.runs.barrier import FANOUT, Leaf, Node
from cupel_core.domain.runs.dead_letters import DeadLetter, RedriveResult
from cupel_core.domain.runs.run import ACTIVE, Run
from cupel_core.providers import queue_of
from cupel_core.store import barrier, dead_letters, queues, runs
from cupel_core.store.dead_letters import StoredDeadLetter
from cupel_core.store.settings import settings
from cupel_core.workspace.queues.status import check_provider

MAX_REDRIVEN = 1_000
"""One call processes at most this many dead letters, so that it ends in time. Further ones need another call."""


def list_dead_letters(workspace: str, provider: str | None, limit: int, cursor: str | None) -> Page[DeadLetter]:
    check_provider(provider)
    page = dead_letters.list_page(workspace, provider, limit, cursor)
    return page.map(_dead_letter)


def redrive(workspace: str, provider: str | None = None, message_ids: Collection[str] | None = None) -> RedriveResult:
    """Resend the workspace's dead letters whose probes are still to run, and delete all others. `provider` and
    `message_ids` restrict which ones; None means all. The result names ids that are no dead letters."""
    check_provider(provider)
    stored = dead_letters.list_all(workspace, provider)
    if message_ids is None:
        return _redrive_all(stored)
    chosen = [letter for letter in stored if letter.message_id in message_ids]
    unknown = frozenset(message_ids).difference(letter.message_id for letter in chosen)
    return replace(_redrive_all(chosen), unknown_message_ids=unknown)


def _redrive_all(letters: Iterable[StoredDeadLetter]) -> RedriveResult:
    return sum(map(_redrive, islice(letters, MAX_REDRIVEN)), RedriveResult())


def _dead_letter(letter: StoredDeadLetter) -> DeadLetter:
    probe_slice = letter.probe_slice
    return DeadLetter(
        message_id=letter.message_id,
        provider=letter.provider,
        priority=letter.priority,
        receive_count=letter.receive_count,
        run_id=probe_slice.run_id,
        indexes=tuple(probe_slice.indexes),
        cause=barrier.get_leaf(probe_slice.run, Node(0, probe_slice.leaf)).failure_cause,
    )


def _redrive(letter: StoredDeadLetter) -> RedriveResult:
    """Redrive a dead letter. After a crash before its removal, its new message exists too, but the probes run only
    once."""
    result = _resend(letter)
    dead_letters.remove(letter)
    return result


def _resend(letter: StoredDeadLetter) -> RedriveResult:
    probe_slice = letter.probe_slice
    run = _find_run(probe_slice)
    if run is None:
        return RedriveResult(dropped=1)
    leaf = barrier.get_leaf(probe_slice.run, Node(0, probe_slice.leaf)).leaf
    runs_to_retry = frozenset({run.id}) if _has_errored(leaf, probe_slice) else frozenset[str]()
    missing = leaf.missing(probe_slice.indexes)
    if not missing or run.fencing_token != probe_slice.fencing_token or run.status not in ACTIVE:
        return RedriveResult(dropped=1, runs_to_retry=runs_to_retry)
    remainder = probe_slice.model_copy(update={"indexes": missing})
    queues.send(
        settings().probe_queue_url(queue_of(letter.provider), letter.priority), [remainder], group=run.workspace
    )
    return RedriveResult(sent=1, runs_to_retry=runs_to_retry)


def _has_errored(leaf: Leaf, probe_slice: ProbeSlice) -> bool:
    return any(index % FANOUT in leaf.failed for index in probe_slice.indexes)


def _find_run(probe_slice: ProbeSlice) -> Run | None:
    try:
        return runs.get(probe_slice.run)
    except NotFound:
        return None
