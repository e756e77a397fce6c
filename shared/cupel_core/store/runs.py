"""Runs in the table. Only `transition` changes a status: the conditional write and its event are one transaction."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from pynamodb.attributes import UnicodeAttribute
from pynamodb.exceptions import TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action as UpdateAction
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import Conflict, NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import ANY_TIME, Creation, Page, encode_cursor, fill_page
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.codec import encode
from cupel_core.domain.runs.labels import RunLabels
from cupel_core.domain.runs.run import (
    STATUS_EVENTS,
    TERMINAL,
    TRANSITIONS,
    Action,
    Run,
    RunEventType,
    RunStatus,
    transition_for,
)
from cupel_core.store import callbacks, definition_runs, experiment_runs, idempotency_keys, keys
from cupel_core.store.active_runs import ActiveRunItem
from cupel_core.store.batches import get_batch
from cupel_core.store.erasures import LAST_WRITE_AFTER, Erasure, ErasureItem, ErasureKind
from cupel_core.store.events import EventItem
from cupel_core.store.idempotency_keys import IdempotencyItem
from cupel_core.store.listing import list_ids, list_newest
from cupel_core.store.outbox import OutboxItem
from cupel_core.store.run_items import RunItem, from_item, to_item
from cupel_core.store.settings import settings
from cupel_core.store.table import Item, connection, error_code

_MAX_ATTEMPTS = 8


class OutdatedToken(Conflict):
    pass


class AccessItem(Item):
    last_accessed_at = UnicodeAttribute(attr_name="lastAccessedAt")


def create(run: Run, event_data: dict[str, object], start: IdempotencyItem | None = None) -> Run:
    """Create a run with its first event and its dispatch in one transaction, and answer its Idempotency-Key. Raise
    TransactWriteError if the key is no longer reserved for this run."""
    with TransactWrite(connection=connection()) as transaction:
        created = add(transaction, run, event_data)
        if start is not None:
            start.answer = orjson.dumps(to_item(created).to_dynamodb_dict()).decode()
            transaction.save(start, condition=IdempotencyItem.run_id == run.id)
    request_callbacks(created)
    return created


def add(transaction: TransactWrite, run: Run, event_data: dict[str, object]) -> Run:
    """Create a run with its first event and its dispatch, as a part of a transaction."""
    created = replace(run, event_seq=1)
    ref = RunRef(run.workspace, run.id)
    transaction.save(to_item(created), condition=RunItem.pk.does_not_exist())
    transaction.save(EventItem.for_run(ref, 1, RunEventType.CREATED, run.created_at, event_data))
    transaction.save(OutboxItem.for_run(ref, run.fencing_token, run.created_at))
    transaction.save(ActiveRunItem.of_status(created))
    definition_runs.add(transaction, run)
    _request_erasure(transaction, ref, run.created_at)
    if run.callbacks is not None:
        callbacks.add_event(transaction, ref, 1, run.created_at)
    if run.experiment_id is not None:
        experiment_runs.add(transaction, run.workspace, run.experiment_id, run.id, run.created_at)
    return created


def request_callbacks(created: Run) -> None:
    """Request the webhook calls of a run's creation. Call it when the transaction is committed."""
    if created.callbacks is not None:
        callbacks.request(RunRef(created.workspace, created.id))


def decode_answer(start: IdempotencyItem) -> Run:
    item = RunItem()
    item.from_dynamodb_dict(orjson.loads(start.answer or "{}"))
    return from_item(item)


def cursor_after(run: Run) -> str:
    return encode_cursor(f"{to_iso(run.created_at)}#{run.id}")


def get(ref: RunRef, *, consistent: bool = True) -> Run:
    """Return the run. Raise NotFound if the workspace has none of this id or it was deleted."""
    try:
        item = RunItem.get(keys.run(ref), "run", consistent_read=consistent)
    except RunItem.DoesNotExist:
        raise _not_found(ref) from None
    return _readable(item, ref)


def get_many(refs: Iterable[RunRef]) -> dict[RunRef, Run]:
    """Return the runs that exist and are not deleted. The reads are strongly consistent."""
    by_key = {keys.run(ref): ref for ref in refs}
    items = get_batch({"pk": {"S": key}, "sk": {"S": "run"}} for key in by_key)
    found = {by_key[item["pk"]["S"]]: from_item(RunItem.from_raw_data(item)) for item in items}
    return {ref: run for ref, run in found.items() if run.deleted_at is None}


def get_with_access(ref: RunRef) -> tuple[Run, datetime | None]:
    """Return the run as `get` does, and when it was last read (None if never), in one request."""
    wanted = ({"pk": {"S": keys.run(ref)}, "sk": {"S": name}} for name in ("run", "access"))
    items = {item["sk"]["S"]: item for item in get_batch(wanted)}
    if "run" not in items:
        raise _not_found(ref)
    accessed_at = from_iso(items["access"]["lastAccessedAt"]["S"]) if "access" in items else None
    return _readable(RunItem.from_raw_data(items["run"]), ref), accessed_at


class CorrectedRun(NamedTuple):
    run: Run
    corrections: int


def get_with_corrections(ref: RunRef) -> CorrectedRun:
    """Return the run as `get` does, and how often it was corrected, in one request."""
    wanted = ({"pk": {"S": keys.run(ref)}, "sk": {"S": name}} for name in ("run", keys.CORRECTIONS))
    items = {item["sk"]["S"]: item for item in get_batch(wanted)}
    if "run" not in items:
        raise _not_found(ref)
    corrected = items.get(keys.CORRECTIONS)
    run = _readable(RunItem.from_raw_data(items["run"]), ref)
    return CorrectedRun(run, int(corrected["count"]["N"]) if corrected else 0)


def _readable(item: RunItem, ref: RunRef) -> Run:
    run = from_item(item)
    if run.deleted_at is not None:
        raise _not_found(ref)
    return run


def find(ref: RunRef) -> Run | None:
    """Return the run, or None if there is none or it was deleted."""
    try:
        return get(ref)
    except NotFound:
        return None


def transition(
    ref: RunRef,
    action: Action,
    now: datetime,
    *,
    fencing_token: int | None = None,
    event_data: dict[str, object] | None = None,
    guard: Callable[[Run], None] = lambda _: None,
    **changes: Any,
) -> Run:
    """Carry out `action` and write its event. `changes` are further fields of the run to set. Raise IllegalTransition
    if the run's status does not allow it, OutdatedToken if `fencing_token` is given and is not the run's, and whatever
    `guard` raises for the unchanged run."""
    for _ in range(_MAX_ATTEMPTS):
        run = get(ref)
        if fencing_token is not None and run.fencing_token != fencing_token:
            raise OutdatedToken(f"the run's fencing token is {run.fencing_token}, not {fencing_token}")
        guard(run)
        step = transition_for(action, run.status)
        new_token = run.fencing_token + step.advances_fencing_token
        changed = replace(
            run,
            status=step.target,
            fencing_token=new_token,
            retry_round=new_token if action is Action.REOPEN else run.retry_round,
            conversation_round=new_token
            if action is Action.REOPEN and run.status in TERMINAL
            else run.conversation_round,
            event_seq=run.event_seq + 1,
            updated_at=now,
            **changes,
        )
        details = {"from": run.status, "to": step.target, **(event_data or {})}
        if _write_transition(ref, run, changed, TRANSITIONS[action].event, details, now):
            if run.callbacks is not None:
                callbacks.request(ref)
            return changed
    raise RetryableError("the run is being changed by others; try again")


def update_labels(ref: RunRef, change: Callable[[RunLabels], RunLabels], now: datetime) -> Run:
    """Change the run's labels and write an event that names those that changed. `change` may raise to refuse."""
    for _ in range(_MAX_ATTEMPTS):
        run = get(ref)
        before, after = encode(run.labels), change(run.labels)
        changed = [name for name, value in encode(after).items() if value != before[name]]
        if not changed:
            return run
        updated = replace(run, labels=after, event_seq=run.event_seq + 1, updated_at=now)
        if _write_transition(ref, run, updated, RunEventType.UPDATED, {"changed": changed}, now):
            return updated
    raise RetryableError("the run is being changed by others; try again")


def change_budget(
    ref: RunRef,
    change: Callable[[RunBudget], RunBudget],
    event: RunEventType,
    data: dict[str, object],
    now: datetime,
) -> Run:
    """Change the run's budget and write an event, unless that changes nothing. `change` may raise to refuse."""
    for _ in range(_MAX_ATTEMPTS):
        run = get(ref)
        after = run.budget and change(run.budget)
        if after == run.budget:
            return run
        changed = replace(run, budget=after, event_seq=run.event_seq + 1, updated_at=now)
        if _write_transition(ref, run, changed, event, data, now):
            return changed
    raise RetryableError("the run is being changed by others; try again")


def set_experiment(ref: RunRef, experiment_id: str | None, now: datetime) -> Run:
    for _ in range(_MAX_ATTEMPTS):
        run = get(ref)
        changed = replace(run, experiment_id=experiment_id, event_seq=run.event_seq + 1, updated_at=now)

        def move(transaction: TransactWrite, before: str | None = run.experiment_id, run: Run = run) -> None:
            if before is not None:
                experiment_runs.remove(transaction, run.workspace, before, run.id, run.created_at)
            if experiment_id is not None:
                experiment_runs.add(transaction, run.workspace, experiment_id, run.id, run.created_at)

        data: dict[str, object] = {"changed": ["experimentId"]}
        if _write_transition(ref, run, changed, RunEventType.UPDATED, data, now, move):
            return changed
    raise RetryableError("the run is being changed by others; try again")


def append_event(ref: RunRef, event: RunEventType, now: datetime, data: dict[str, object]) -> None:
    for _ in range(_MAX_ATTEMPTS):
        run = get(ref)
        if _write_transition(ref, run, replace(run, event_seq=run.event_seq + 1, updated_at=now), event, data, now):
            return
    raise RetryableError("the run is being changed by others; try again")


def list_runs(
    workspace: str,
    *,
    definition_id: str | None = None,
    experiment_id: str | None = None,
    schedule_id: str | None = None,
    eval_id: str | None = None,
    status: RunStatus | None = None,
    name: str | None = None,
    tag: str | None = None,
    metadata: Sequence[str] = (),
    limit: int,
    cursor: str | None,
    created: Creation = ANY_TIME,
) -> Page[Run]:
    """Return a page of a workspace's runs, newest first unless `created` says otherwise. A filter that is None matches
    all. `name` matches a part of the name, ignoring case. All entries of `metadata`, as `metadata_entry` writes them,
    must match. With a filter, a page may have fewer than `limit` runs, even none, and still be followed by another."""
    equal = (
        (RunItem.definition_id, definition_id),
        (RunItem.experiment_id, experiment_id),
        (RunItem.schedule_id, schedule_id),
        (RunItem.eval_id, eval_id),
        (RunItem.status, status),
    )
    filters: list[Condition] = [attribute == str(value) for attribute, value in equal if value is not None]
    if name is not None:
        filters.append(RunItem.folded_name.contains(name.casefold()))
    if tag is not None:
        filters.append(RunItem.tags.contains(tag))
    filters += [RunItem.metadata_entries.contains(entry) for entry in metadata]
    condition: Condition = RunItem.deleted_at.does_not_exist()
    for each in filters:
        condition &= each
    entries = list_newest(
        RunItem,
        f"{workspace}#runs",
        limit,
        cursor,
        condition=condition,
        is_selective=bool(filters),
        created=created,
    )
    return fill_page((entry.map(from_item) for entry in entries), limit)


def delete(ref: RunRef, now: datetime, *, erase_from: datetime) -> None:
    """Hide the run from all readers and request the erasure of everything of it. Raise NotFound if there is none."""
    run = get(ref)
    with TransactWrite(connection=connection()) as transaction:
        actions: list[UpdateAction] = [RunItem.deleted_at.set(to_iso(now))]
        transaction.update(RunItem(keys.run(ref), "run"), actions=actions, condition=RunItem.pk.exists())
        transaction.save(ErasureItem.for_erasure(Erasure(ref, ErasureKind.RUN, erase_from)))
        transaction.delete(ActiveRunItem.for_run(ref))
        definition_runs.remove(transaction, run)


def get_deleted(ref: RunRef) -> Run | None:
    """Return a deleted run whose item is not erased yet, or None for any other."""
    try:
        run = from_item(RunItem.get(keys.run(ref), "run", consistent_read=True))
    except RunItem.DoesNotExist:
        return None
    return run if run.deleted_at is not None else None


def has_any(workspace: str) -> bool:
    """Return whether any run of the workspace is stored, even a deleted one that is not erased yet."""
    return next(list_ids(RunItem, f"{workspace}#runs"), None) is not None


def note_access(ref: RunRef, now: datetime) -> None:
    """Record that the run was read, in an item of its own so that readers never conflict with writers."""
    AccessItem(keys.run(ref), "access", last_accessed_at=to_iso(now)).save()


def _write_transition(
    ref: RunRef,
    run: Run,
    changed: Run,
    event: RunEventType,
    data: dict[str, object],
    now: datetime,
    write_more: Callable[[TransactWrite], None] = lambda _: None,
) -> bool:
    """Write the run, its event and what `write_more` adds. Return False if the run was changed since it was read."""
    unchanged = (
        (RunItem.status == run.status) & (RunItem.event_seq == run.event_seq) & RunItem.deleted_at.does_not_exist()
    )
    try:
        with idempotency_keys.transaction() as transaction:
            transaction.save(to_item(changed), condition=unchanged)
            transaction.save(
                EventItem.for_run(ref, changed.event_seq, event, now, data), condition=EventItem.pk.does_not_exist()
            )
            write_more(transaction)
            if run.callbacks is not None and event in STATUS_EVENTS:
                callbacks.add_event(transaction, ref, changed.event_seq, now)
            if changed.fencing_token != run.fencing_token and changed.status is RunStatus.RUNNING:
                transaction.save(OutboxItem.for_run(ref, changed.fencing_token, now))
            if changed.status in TERMINAL:
                transaction.delete(ActiveRunItem.for_run(ref))
            elif run.status in TERMINAL or (
                changed.status != run.status and RunStatus.PAUSED in (changed.status, run.status)
            ):
                transaction.save(ActiveRunItem.of_status(changed))
            if run.status in TERMINAL and changed.status not in TERMINAL:
                _request_erasure(transaction, ref, now)
    except TransactWriteError as error:
        if error_code(error) != "TransactionCanceledException":
            raise
        return _is_own_write(ref, changed)
    return True


def _request_erasure(transaction: TransactWrite, ref: RunRef, now: datetime) -> None:
    """Have the sweeper look for expired content as soon as what is recorded from now on can expire."""
    if retention := settings().retention:
        expired = Erasure(ref, ErasureKind.EXPIRED, now + retention + LAST_WRITE_AFTER)
        transaction.save(ErasureItem.for_erasure(expired))


def _is_own_write(ref: RunRef, changed: Run) -> bool:
    """Return whether this very write was refused only because it is a retry after a lost response. Then it succeeded.
    The runs are compared as stored, because times are stored in milliseconds."""
    return get(ref) == from_item(to_item(changed))


def _not_found(ref: RunRef) -> NotFound:
    return NotFound(f"there is no run {ref.run_id}")
