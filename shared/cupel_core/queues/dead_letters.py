"""Dead letters of a workspace: slices that a queue gave up on, and how to redrive them.

Once a minute, the sweeper records the missing probes of a dead slice as errored. Until then the slice can be redriven;
afterwards its probes are retried with their run.
"""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, product

from pydantic import ValidationError

from cupel_core.domain.runs.barrier import FANOUT, Leaf, Node
from cupel_core.domain.runs.dead_letters import DeadLetter, RedriveResult
from cupel_core.domain.runs.run import ACTIVE, Priority, Run
from cupel_core.errors import NotFound
from cupel_core.messages import ProbeSlice
from cupel_core.queues.status import select_providers
from cupel_core.settings import Lane, settings
from cupel_core.store import barrier, queues, runs
from cupel_core.store.queues import Delivery

MAX_PER_QUEUE = 200
"""Dead letters processed by one call, so that it ends in time; further ones need another call."""
_THREADS = 16


@dataclass(frozen=True)
class _DeadSlice:
    lane: Lane
    delivery: Delivery
    probe_slice: ProbeSlice


def list_dead_letters(workspace: str, provider: str | None = None) -> tuple[DeadLetter, ...]:
    """The workspace's dead letters of one provider, or of all for None. They stay in their queues."""

    def list_lane(lane: Lane) -> list[DeadLetter]:
        deliveries = queues.peek(settings().probe_dlq_url(*lane), MAX_PER_QUEUE)
        return [_dead_letter(dead_slice) for dead_slice in _parse(workspace, lane, deliveries)]

    return tuple(chain.from_iterable(_for_each_lane(provider, list_lane)))


def redrive(workspace: str, provider: str | None = None, message_ids: Collection[str] | None = None) -> RedriveResult:
    """Resend the workspace's dead letters whose probes are still to run, and delete all others.

    `provider` and `message_ids` restrict which ones; None means all.
    """

    def redrive_lane(lane: Lane) -> RedriveResult:
        taken = queues.take(settings().probe_dlq_url(*lane), MAX_PER_QUEUE)
        parsed = _parse(workspace, lane, taken)
        chosen = [dead for dead in parsed if message_ids is None or dead.delivery.id in message_ids]
        results = [_resend(dead_slice) for dead_slice in chosen]
        queues.delete([dead_slice.delivery for dead_slice in chosen])
        deleted = {dead_slice.delivery.id for dead_slice in chosen}
        queues.release([delivery for delivery in taken if delivery.id not in deleted])
        return sum(results, RedriveResult())

    return sum(_for_each_lane(provider, redrive_lane), RedriveResult())


def _for_each_lane[T](provider: str | None, function: Callable[[Lane], T]) -> list[T]:
    """The results in the registry's order."""
    lanes = [Lane(*each) for each in product(select_providers(provider), Priority)]
    with ThreadPoolExecutor(max_workers=_THREADS) as threads:
        return list(threads.map(function, lanes))


def _parse(workspace: str, lane: Lane, deliveries: Iterable[Delivery]) -> list[_DeadSlice]:
    """The workspace's slices. Unreadable messages belong to no workspace; the operator's alarm counts them."""
    dead_slices = []
    for delivery in deliveries:
        try:
            probe_slice = ProbeSlice.model_validate_json(delivery.body)
        except ValidationError:
            continue
        if probe_slice.workspace == workspace:
            dead_slices.append(_DeadSlice(lane, delivery, probe_slice))
    return dead_slices


def _dead_letter(dead_slice: _DeadSlice) -> DeadLetter:
    probe_slice = dead_slice.probe_slice
    return DeadLetter(
        message_id=dead_slice.delivery.id,
        provider=dead_slice.lane.provider,
        priority=dead_slice.lane.priority,
        receive_count=dead_slice.delivery.receive_count,
        run_id=probe_slice.run_id,
        indexes=tuple(probe_slice.indexes),
        cause=barrier.get_leaf(probe_slice.run, Node(0, probe_slice.leaf)).failure_cause,
    )


def _resend(dead_slice: _DeadSlice) -> RedriveResult:
    """Called before the dead letter is deleted: a crash in between leaves both, and the probes still run only once."""
    probe_slice = dead_slice.probe_slice
    run = _find_run(probe_slice)
    if run is None:
        return RedriveResult(dropped=1)
    leaf = barrier.get_leaf(probe_slice.run, Node(0, probe_slice.leaf)).leaf
    runs_to_retry = frozenset({run.id}) if _has_errored(leaf, probe_slice) else frozenset[str]()
    missing = leaf.missing(probe_slice.indexes)
    if not missing or run.fencing_token != probe_slice.fencing_token or run.status not in ACTIVE:
        return RedriveResult(dropped=1, runs_to_retry=runs_to_retry)
    remainder = probe_slice.model_copy(update={"indexes": missing})
    queues.send(settings().probe_queue_url(*dead_slice.lane), [remainder], group=run.id)
    return RedriveResult(sent=1, runs_to_retry=runs_to_retry)


def _has_errored(leaf: Leaf, probe_slice: ProbeSlice) -> bool:
    return any(index % FANOUT in leaf.failed for index in probe_slice.indexes)


def _find_run(probe_slice: ProbeSlice) -> Run | None:
    try:
        return runs.get(probe_slice.run)
    except NotFound:
        return None
