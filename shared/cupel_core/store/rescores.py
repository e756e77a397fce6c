"""Rescores of a run. One that has not ended also has an item in the sweeper's list, written in the same transaction."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from pynamodb.attributes import BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, from_optional_iso, to_iso, to_optional_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.runs.run import RunFailure
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig, RescoreCounts, RescoreStatus
from cupel_core.store import keys
from cupel_core.store.idempotency_keys import IdempotencyItem
from cupel_core.store.listing import list_newest
from cupel_core.store.table import Item, conditional_transaction, connection, error_code, updated


class RescoreItem(Item):
    status = UnicodeAttribute()
    body = JSONAttribute()
    exhausted = BooleanAttribute(null=True)
    unusable_judge = UnicodeAttribute(attr_name="unusableJudge", null=True)
    limit_usd = NumberAttribute(attr_name="limitUsd", null=True)


class OpenRescoreItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    rescore_id = UnicodeAttribute(attr_name="rescoreId")
    created_at = UnicodeAttribute(attr_name="createdAt")


class RescoreCountsItem(Item):
    scored = NumberAttribute()
    errors = NumberAttribute()


class OpenRescore(NamedTuple):
    ref: RunRef
    rescore_id: str
    created_at: datetime

    @property
    def sort_key(self) -> str:
        return keys.open_rescore(self.ref, self.rescore_id)


def create(rescore: Rescore, start: IdempotencyItem | None = None) -> None:
    """Create a rescore. With `start`, also answer its Idempotency-Key. Raise TransactWriteError if the key is no longer
    reserved for this rescore."""
    ref = RunRef(rescore.workspace, rescore.run_id)
    with TransactWrite(connection=connection()) as transaction:
        transaction.save(_to_item(rescore), condition=RescoreItem.pk.does_not_exist())
        transaction.save(_open_item(ref, rescore.id, rescore.created_at))
        if start is not None:
            start.answer = rescore.id
            transaction.save(start, condition=IdempotencyItem.run_id == rescore.id)


def get(ref: RunRef, rescore_id: str) -> Rescore:
    try:
        item = RescoreItem.get(keys.rescores(ref), rescore_id, consistent_read=True)
    except RescoreItem.DoesNotExist:
        raise NotFound(f"there is no rescore {rescore_id} of the run {ref.run_id}") from None
    return _from_item(ref, item)


def list_rescores(ref: RunRef, limit: int, cursor: str | None) -> Page[Rescore]:
    """Return a page of a run's rescores, newest first. Their ids sort by creation time."""
    entries = list_newest(RescoreItem, keys.rescores(ref), limit, cursor, by_sort_key=True)
    return fill_page((entry.map(partial(_from_item, ref)) for entry in entries), limit)


def list_all_of_run(ref: RunRef) -> Iterator[Rescore]:
    return (_from_item(ref, item) for item in RescoreItem.query(keys.rescores(ref)))


def mark_running(ref: RunRef, rescore_id: str) -> Rescore:
    """Change the status from PENDING to RUNNING and return the rescore. Any other status is left unchanged."""
    item = RescoreItem(keys.rescores(ref), rescore_id)
    try:
        item.update(
            actions=[RescoreItem.status.set(RescoreStatus.RUNNING)],
            condition=RescoreItem.status == RescoreStatus.PENDING,
        )
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
    return get(ref, rescore_id)


def mark_exhausted(rescore: Rescore) -> bool:
    """Record that the rescore's own budget is used up. Return False if it was deleted or its budget raised since."""
    item = RescoreItem(keys.rescores(RunRef(rescore.workspace, rescore.run_id)), rescore.id)
    is_same = RescoreItem.limit_usd == rescore.max_budget_usd
    return updated(item, [RescoreItem.exhausted.set(True)], RescoreItem.status.exists() & is_same)


def mark_judge_unusable(rescore: Rescore, why: str) -> None:
    """Record that the judge of the rescore is not called any more, unless the rescore was deleted."""
    item = RescoreItem(keys.rescores(RunRef(rescore.workspace, rescore.run_id)), rescore.id)
    updated(item, [RescoreItem.unusable_judge.set(why)], RescoreItem.status.exists())


def raise_limit(rescore: Rescore, max_usd: float) -> bool:
    """Raise the budget of an unfinished rescore. Return False if it has ended, is being stopped or has a greater
    budget."""
    item = RescoreItem(keys.rescores(RunRef(rescore.workspace, rescore.run_id)), rescore.id)
    is_open = RescoreItem.status.is_in(RescoreStatus.PENDING, RescoreStatus.RUNNING)
    is_less = RescoreItem.limit_usd <= max_usd
    is_raised = is_open & RescoreItem.exhausted.does_not_exist() & is_less
    return updated(item, [RescoreItem.limit_usd.set(max_usd)], is_raised)


def reopen(rescore: Rescore, now: datetime) -> Rescore:
    """Reopen a rescore that was stopped by its budget and has a greater one now. Return it as stored. Of several raises
    at the same time, one is stored."""
    ref = RunRef(rescore.workspace, rescore.run_id)
    is_stopped = (RescoreItem.status == RescoreStatus.FAILED) & (RescoreItem.exhausted == True)  # noqa: E712
    with conditional_transaction() as transaction:
        transaction.save(_to_item(rescore), condition=is_stopped)
        transaction.save(_open_item(ref, rescore.id, now))
    return rescore if transaction.is_committed else get(ref, rescore.id)


def end(rescore: Rescore) -> Rescore:
    """Store how a rescore ended, unless it has ended already. Return it as stored. Its limit is left as it is: it may
    have been raised since the rescore was read."""
    ref = RunRef(rescore.workspace, rescore.run_id)
    still_open = RescoreItem.status.is_in(RescoreStatus.PENDING, RescoreStatus.RUNNING)
    ended: list[Action] = [RescoreItem.status.set(rescore.status), RescoreItem.body.set(_body(rescore))]
    with conditional_transaction() as transaction:
        transaction.update(RescoreItem(keys.rescores(ref), rescore.id), actions=ended, condition=still_open)
        transaction.delete(_open_item(ref, rescore.id, rescore.created_at))
    return get(ref, rescore.id)


def list_open_rescores(after: str | None = None) -> Iterator[OpenRescore]:
    """Yield the unfinished rescores of all workspaces, from the sort key `after` on."""
    for item in OpenRescoreItem.query(keys.OPEN_RESCORES, OpenRescoreItem.sk > after if after else None):
        yield OpenRescore(RunRef(item.workspace, item.run_id), item.rescore_id, from_iso(item.created_at))


def remove_open_rescore(entry: OpenRescore) -> None:
    _open_item(*entry).delete()


def record_counts(ref: RunRef, rescore_id: str, leaf: int, counts: RescoreCounts) -> None:
    """Store the counts of the range that starts at `leaf`. They are totals, not increments, so writing twice is
    harmless."""
    RescoreCountsItem(
        keys.rescore_counts(ref, rescore_id), keys.barrier_node(leaf), scored=counts.scored, errors=counts.errors
    ).save()


def get_counts(rescore: Rescore) -> RescoreCounts:
    if rescore.counts is not None:
        return rescore.counts
    ref = RunRef(rescore.workspace, rescore.run_id)
    items = RescoreCountsItem.query(keys.rescore_counts(ref, rescore.id), consistent_read=True)
    return sum((RescoreCounts(int(item.scored), int(item.errors)) for item in items), RescoreCounts())


def _open_item(ref: RunRef, rescore_id: str, created_at: datetime) -> OpenRescoreItem:
    return OpenRescoreItem(
        keys.OPEN_RESCORES,
        keys.open_rescore(ref, rescore_id),
        workspace=ref.workspace,
        run_id=ref.run_id,
        rescore_id=rescore_id,
        created_at=to_iso(created_at),
    )


def _to_item(rescore: Rescore) -> RescoreItem:
    ref = RunRef(rescore.workspace, rescore.run_id)
    return RescoreItem(
        keys.rescores(ref),
        rescore.id,
        status=rescore.status,
        body=_body(rescore),
        exhausted=rescore.is_exhausted or None,
        unusable_judge=rescore.unusable_judge,
        limit_usd=rescore.max_budget_usd,
    )


def _body(rescore: Rescore) -> dict[str, Any]:
    return {
        "config": encode(rescore.config),
        "total": rescore.total,
        "probes": rescore.probe_count,
        "retryRound": rescore.retry_round,
        "createdAt": to_iso(rescore.created_at),
        "completedAt": to_optional_iso(rescore.completed_at),
        "failure": rescore.failure and asdict(rescore.failure),
        "counts": rescore.counts and asdict(rescore.counts),
        "execution": rescore.execution,
        "gradingVersion": rescore.grading_version,
        "selected": rescore.selected and list(rescore.selected),
    }


def _from_item(ref: RunRef, item: RescoreItem) -> Rescore:
    body: dict[str, Any] = item.body
    failure, counts = body["failure"], body["counts"]
    known = Rescore(
        workspace=ref.workspace,
        run_id=ref.run_id,
        id=item.sk,
        config=decode(RescoreConfig, body["config"]),
        total=body["total"],
        probe_count=body["probes"],
        retry_round=body["retryRound"],
        created_at=from_iso(body["createdAt"]),
        status=RescoreStatus(item.status),
    )
    return replace(
        known,
        completed_at=from_optional_iso(body["completedAt"]),
        failure=RunFailure(**failure) if failure else None,
        counts=RescoreCounts(**counts) if counts else None,
        max_budget_usd=None if item.limit_usd is None else float(item.limit_usd),
        is_exhausted=bool(item.exhausted),
        unusable_judge=item.unusable_judge,
        execution=body["execution"],
        grading_version=body.get("gradingVersion", 1),
        selected=tuple(body["selected"]) if body.get("selected") else None,
    )
