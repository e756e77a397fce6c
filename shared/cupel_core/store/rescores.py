"""Scorings of a run beside its own. One that is not over is also listed for the sweeper, in the same transaction."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import TransactWriteError, UpdateError
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.runs.run import Failure
from cupel_core.domain.scoring.rescores import Rescoring, RescoringConfig, RescoringStatus, Tally
from cupel_core.errors import NotFound
from cupel_core.messages import RunRef
from cupel_core.paging import Page, decode_cursor, encode_cursor
from cupel_core.store import keys
from cupel_core.store.starts import StartItem
from cupel_core.store.table import Item, code_of, connection


class RescoringItem(Item):
    status = UnicodeAttribute()
    body = JSONAttribute()


class OpenItem(Item):
    workspace = UnicodeAttribute()
    run_id = UnicodeAttribute(attr_name="runId")
    scoring_id = UnicodeAttribute(attr_name="scoringId")
    created_at = UnicodeAttribute(attr_name="createdAt")


class TallyItem(Item):
    scored = NumberAttribute()
    errors = NumberAttribute()


class Open(NamedTuple):
    ref: RunRef
    scoring_id: str
    created_at: datetime


def create(rescoring: Rescoring, start: StartItem | None = None) -> None:
    """With `start`, an Idempotency-Key's answer too; a key that is not ours any more raises."""
    ref = RunRef(rescoring.workspace, rescoring.run_id)
    with TransactWrite(connection=connection()) as transaction:
        transaction.save(_to_item(rescoring), condition=RescoringItem.pk.does_not_exist())
        transaction.save(_open(ref, rescoring.id, rescoring.created_at))
        if start is not None:
            start.answer = rescoring.id
            transaction.save(start, condition=StartItem.run_id == rescoring.id)


def get(ref: RunRef, scoring_id: str) -> Rescoring:
    try:
        item = RescoringItem.get(keys.scorings(ref), scoring_id, consistent_read=True)
    except RescoringItem.DoesNotExist:
        raise NotFound(f"there is no scoring {scoring_id} of the run {ref.run_id}") from None
    return _from_item(ref, item)


def listed(ref: RunRef, limit: int, cursor: str | None) -> Page[Rescoring]:
    """Newest first: their ids sort by time."""
    before = RescoringItem.sk < decode_cursor(cursor) if cursor else None
    found = RescoringItem.query(keys.scorings(ref), before, scan_index_forward=False, limit=limit + 1)
    items = [_from_item(ref, item) for item in found]
    return Page(tuple(items[:limit]), encode_cursor(items[limit - 1].id) if len(items) > limit else None)


def every(ref: RunRef) -> Iterator[Rescoring]:
    """Of a run."""
    return (_from_item(ref, item) for item in RescoringItem.query(keys.scorings(ref)))


def begin(ref: RunRef, scoring_id: str) -> Rescoring:
    """PENDING becomes RUNNING; whatever else it is, it stays."""
    item = RescoringItem(keys.scorings(ref), scoring_id)
    try:
        item.update(
            actions=[RescoringItem.status.set(RescoringStatus.RUNNING)],
            condition=RescoringItem.status == RescoringStatus.PENDING,
        )
    except UpdateError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
    return get(ref, scoring_id)


def end(rescoring: Rescoring) -> Rescoring:
    """The first end stands; the answer is how it stands."""
    ref = RunRef(rescoring.workspace, rescoring.run_id)
    still_open = RescoringItem.status.is_in(RescoringStatus.PENDING, RescoringStatus.RUNNING)
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(_to_item(rescoring), condition=still_open)
            transaction.delete(_open(ref, rescoring.id, rescoring.created_at))
    except TransactWriteError as error:
        if code_of(error) != "TransactionCanceledException":
            raise
        return get(ref, rescoring.id)
    return rescoring


def every_open() -> Iterator[Open]:
    for item in OpenItem.query(keys.RESCORING):
        yield Open(RunRef(item.workspace, item.run_id), item.scoring_id, from_iso(item.created_at))


def forget(standing: Open) -> None:
    """Takes it from the list of those that are not over."""
    _open(*standing).delete()


def count(ref: RunRef, scoring_id: str, leaf: int, tally: Tally) -> None:
    """What the slice from this leaf has by now: its own count and no increment, so telling it twice is harmless."""
    TallyItem(keys.tallies(ref, scoring_id), keys.node(leaf), scored=tally.scored, errors=tally.errors).save()


def tally(rescoring: Rescoring) -> Tally:
    """Over all slices."""
    if rescoring.tally is not None:
        return rescoring.tally
    ref = RunRef(rescoring.workspace, rescoring.run_id)
    found = TallyItem.query(keys.tallies(ref, rescoring.id), consistent_read=True)
    return sum((Tally(int(item.scored), int(item.errors)) for item in found), Tally())


def _open(ref: RunRef, scoring_id: str, created_at: datetime) -> OpenItem:
    return OpenItem(
        keys.RESCORING,
        keys.rescoring(ref, scoring_id),
        workspace=ref.workspace,
        run_id=ref.run_id,
        scoring_id=scoring_id,
        created_at=to_iso(created_at),
    )


def _to_item(rescoring: Rescoring) -> RescoringItem:
    ref = RunRef(rescoring.workspace, rescoring.run_id)
    body = {
        "config": rescoring.config.to_json(),
        "total": rescoring.total,
        "probes": rescoring.probes,
        "generation": rescoring.generation,
        "createdAt": to_iso(rescoring.created_at),
        "completedAt": rescoring.completed_at and to_iso(rescoring.completed_at),
        "failure": rescoring.failure and asdict(rescoring.failure),
        "tally": rescoring.tally and asdict(rescoring.tally),
    }
    return RescoringItem(keys.scorings(ref), rescoring.id, status=rescoring.status, body=body)


def _from_item(ref: RunRef, item: RescoringItem) -> Rescoring:
    body: dict[str, Any] = item.body
    ended, failure, counted = body["completedAt"], body["failure"], body["tally"]
    known = Rescoring(
        workspace=ref.workspace,
        run_id=ref.run_id,
        id=item.sk,
        config=RescoringConfig.from_json(body["config"]),
        total=body["total"],
        probes=body["probes"],
        generation=body["generation"],
        created_at=from_iso(body["createdAt"]),
        status=RescoringStatus(item.status),
    )
    return replace(
        known,
        completed_at=from_iso(ended) if ended else None,
        failure=Failure(**failure) if failure else None,
        tally=Tally(**counted) if counted else None,
    )
