"""Runs in the table. A status changes only by `move`: the conditional write and its event are one transaction."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson
from pynamodb.attributes import UnicodeAttribute
from pynamodb.exceptions import TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.runs.run import MOVES, TERMINAL, Action, EventType, Run, RunStatus, allowed
from cupel_core.errors import Conflict, NotFound, RetryableError
from cupel_core.messages import RunRef
from cupel_core.paging import Page, decode_cursor, encode_cursor
from cupel_core.store import keys
from cupel_core.store.active_runs import ActiveItem
from cupel_core.store.events import EventItem
from cupel_core.store.outbox import OutboxItem
from cupel_core.store.run_items import RunItem, from_item, to_item
from cupel_core.store.starts import StartItem
from cupel_core.store.table import Item, Newest, code_of, connection

_ROUNDS = 8


class AccessItem(Item):
    last_accessed_at = UnicodeAttribute(attr_name="lastAccessedAt")


def create(run: Run, data: dict[str, object], start: StartItem | None = None) -> Run:
    """The run, its first event and its dispatch in one transaction; with `start`, the Idempotency-Key's answer too."""
    created = replace(run, event_seq=1)
    ref = RunRef(run.workspace, run.id)
    with TransactWrite(connection=connection()) as transaction:
        transaction.save(to_item(created), condition=RunItem.pk.does_not_exist())
        transaction.save(EventItem.of(ref, 1, EventType.CREATED, run.created_at, data))
        transaction.save(OutboxItem.of(ref, run.epoch, run.created_at))
        transaction.save(ActiveItem.of(ref))
        if start is not None:
            start.answer = orjson.dumps(to_item(created).to_dynamodb_dict()).decode()
            transaction.save(start, condition=StartItem.run_id == run.id)
    return created


def answered(start: StartItem) -> Run:
    """The run as it was when its Idempotency-Key was answered."""
    item = RunItem()
    item.from_dynamodb_dict(orjson.loads(start.answer or "{}"))
    return from_item(item)


def cursor_of(run: Run) -> str:
    """For a list that goes on after this run."""
    return encode_cursor(f"{to_iso(run.created_at)}#{run.id}")


def get(ref: RunRef, *, consistent: bool = True) -> Run:
    """The run; NotFound when there is none in this workspace or it was deleted."""
    try:
        item = RunItem.get(keys.run(ref), "run", consistent_read=consistent)
    except RunItem.DoesNotExist:
        raise _unknown(ref) from None
    run = from_item(item)
    if run.deleted_at is not None:
        raise _unknown(ref)
    return run


def move(
    ref: RunRef,
    action: Action,
    now: datetime,
    *,
    epoch: int | None = None,
    data: dict[str, object] | None = None,
    **changes: Any,
) -> Run:
    """Carries out `action` and writes its event; `changes` are fields of the run that are set with it.

    Raises IllegalMove where the table has no such move, and Conflict when `epoch` is given and is not the run's.
    """
    for _ in range(_ROUNDS):
        run = get(ref)
        if epoch is not None and run.epoch != epoch:
            raise Conflict(f"the run is at epoch {run.epoch}, not {epoch}")
        step = allowed(action, run.status)
        new_epoch = run.epoch + step.new_epoch
        moved = replace(
            run,
            status=step.target,
            epoch=new_epoch,
            generation=new_epoch if action is Action.REOPEN else run.generation,
            event_seq=run.event_seq + 1,
            updated_at=now,
            **changes,
        )
        details = {"from": run.status, "to": step.target, **(data or {})}
        if _write_move(ref, run, moved, MOVES[action].event, details, now):
            return moved
    raise RetryableError("the run is being changed by others; try again")


def tell(ref: RunRef, event: EventType, now: datetime, data: dict[str, object]) -> None:
    """Writes an event that is no move."""
    for _ in range(_ROUNDS):
        run = get(ref)
        if _write_move(ref, run, replace(run, event_seq=run.event_seq + 1, updated_at=now), event, data, now):
            return
    raise RetryableError("the run is being changed by others; try again")


def listed(
    workspace: str,
    *,
    definition_id: str | None = None,
    experiment_id: str | None = None,
    schedule_id: str | None = None,
    eval_id: str | None = None,
    status: RunStatus | None = None,
    limit: int,
    cursor: str | None,
    oldest_first: bool = False,
) -> Page[Run]:
    """Newest first, unless asked otherwise."""
    condition: Condition = RunItem.deleted_at.does_not_exist()
    for attribute, wanted in (
        (RunItem.definition_id, definition_id),
        (RunItem.experiment_id, experiment_id),
        (RunItem.schedule_id, schedule_id),
        (RunItem.eval_id, eval_id),
        (RunItem.status, status),
    ):
        if wanted is not None:
            condition &= attribute == str(wanted)
    partition = f"{workspace}#runs"
    found = RunItem.newest.query(
        partition, _beyond(cursor, oldest_first), filter_condition=condition, scan_index_forward=oldest_first
    )
    items: list[RunItem] = []
    for item in found:
        if len(items) == limit:
            return Page(tuple(map(from_item, items)), encode_cursor(items[-1].gsi1sk))
        items.append(item)
    return Page(tuple(map(from_item, items)))


def _beyond(cursor: str | None, oldest_first: bool) -> Condition | None:
    if not cursor:
        return None
    place = decode_cursor(cursor)
    return Newest.gsi1sk > place if oldest_first else Newest.gsi1sk < place


def delete(ref: RunRef, now: datetime) -> None:
    """Hides the run from every reader; its items stay."""
    get(ref)
    RunItem(keys.run(ref), "run").update(actions=[RunItem.deleted_at.set(to_iso(now))], condition=RunItem.pk.exists())


def touch(ref: RunRef, now: datetime) -> None:
    """Notes that the run was read, in an item of its own so that readers never stand in a writer's way."""
    AccessItem(keys.run(ref), "access", last_accessed_at=to_iso(now)).save()


def last_accessed_at(ref: RunRef) -> datetime | None:
    try:
        return from_iso(AccessItem.get(keys.run(ref), "access").last_accessed_at)
    except AccessItem.DoesNotExist:
        return None


def _write_move(ref: RunRef, run: Run, moved: Run, event: EventType, data: dict[str, object], now: datetime) -> bool:
    """False when somebody else changed the run since it was read."""
    unchanged = (
        (RunItem.status == run.status) & (RunItem.event_seq == run.event_seq) & RunItem.deleted_at.does_not_exist()
    )
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(to_item(moved), condition=unchanged)
            transaction.save(
                EventItem.of(ref, moved.event_seq, event, now, data), condition=EventItem.pk.does_not_exist()
            )
            if moved.epoch != run.epoch and moved.status is RunStatus.RUNNING:
                transaction.save(OutboxItem.of(ref, moved.epoch, now))
            if moved.status in TERMINAL:
                transaction.delete(ActiveItem.of(ref))
            elif run.status in TERMINAL:
                transaction.save(ActiveItem.of(ref))
    except TransactWriteError as error:
        if code_of(error) != "TransactionCanceledException":
            raise
        return _is_ours(ref, moved)
    return True


def _is_ours(ref: RunRef, moved: Run) -> bool:
    """A retry after a lost reply meets its own write; that is success."""
    return get(ref) == moved


def _unknown(ref: RunRef) -> NotFound:
    return NotFound(f"there is no run {ref.run_id}")
