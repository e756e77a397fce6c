"""Generations of scenarios in the table, and the texts written so far in the bucket.

One consumer at a time holds a generation by its lease; a part is counted by a write on condition of the parts before
it, and the whole is appended in one transaction with the end of the generation. So a message that comes twice neither
pays a model twice nor adds scenarios twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.definitions.generations import UNFINISHED, Generation, GenerationStatus, Mode
from cupel_core.domain.definitions.matrix import Options
from cupel_core.domain.definitions.scenarios import Manifest, ScenarioPage
from cupel_core.errors import Conflict, NotFound
from cupel_core.ids import new_id
from cupel_core.messages import GenerationOrder
from cupel_core.store import blobs, keys, scenarios
from cupel_core.store.table import Item, code_of, connection


class GenerationItem(Item):
    status = UnicodeAttribute()
    written = NumberAttribute()
    """Texts so far; the condition that counts a part once."""
    leased_until = UnicodeAttribute(attr_name="leasedUntil", null=True)
    body = JSONAttribute()


def create(generation: Generation) -> None:
    _to_item(generation).save(condition=GenerationItem.pk.does_not_exist())


def get(workspace: str, definition_id: str, generation_id: str) -> Generation:
    item_key = (keys.definition(workspace, definition_id), _sort_key(generation_id))
    try:
        item = GenerationItem.get(*item_key, consistent_read=True)
    except GenerationItem.DoesNotExist:
        raise NotFound(f"there is no generation {generation_id} of definition {definition_id}") from None
    return _to_generation(workspace, definition_id, item)


def claim(order: GenerationOrder, now: datetime, until: datetime) -> Generation | None:
    """The generation, held until then; None when it has ended or another holds it."""
    generation = get(order.workspace, order.definition_id, order.generation_id)
    running = replace(generation, status=GenerationStatus.RUNNING, updated_at=now)
    free = GenerationItem.leased_until.does_not_exist() | (GenerationItem.leased_until < to_iso(now))
    if generation.status in UNFINISHED and _write(generation, running, free, until):
        return running
    return None


def put_part(generation: Generation, texts: Sequence[str], now: datetime, until: datetime) -> Generation | None:
    """Counts the next texts and keeps holding the generation; None when another has counted them."""
    key = f"generations/{generation.workspace}/{generation.id}/{new_id('part')}.json.gz"
    blobs.put_json(key, list(texts))
    parts = (*generation.parts, ScenarioPage(key, len(texts)))
    grown = replace(generation, parts=parts, setbacks=0, updated_at=now)
    return grown if _write(generation, grown, None, until) else None


def release(generation: Generation, now: datetime) -> None:
    """Lets the next message go on."""
    _write(generation, replace(generation, updated_at=now), None, None)


def fail(generation: Generation, error: str, now: datetime) -> None:
    failed = replace(generation, status=GenerationStatus.ERROR, error=error, updated_at=now)
    _write(generation, failed, None, None)


def texts(generation: Generation) -> Iterator[str]:
    """All that were written, by combination."""
    for part in generation.parts:
        yield from blobs.get_json(part.key)


def finish(generation: Generation, grown: Manifest, now: datetime) -> bool:
    """Ends the generation and makes its scenarios count, both or neither.

    False when it had ended before; Conflict when the definition's scenarios were changed since `grown` was made.
    """
    done = replace(generation, status=GenerationStatus.COMPLETED, updated_at=now)
    pk = keys.definition(generation.workspace, generation.definition_id)
    manifest = scenarios.item(generation.workspace, generation.definition_id, grown)
    unfinished = GenerationItem.pk.does_not_exist() | GenerationItem.status.is_in(*UNFINISHED)
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.save(manifest, condition=scenarios.unchanged_before(grown))
            transaction.save(_to_item(done), condition=unfinished)
    except TransactWriteError as error:
        if code_of(error) != "TransactionCanceledException":
            raise
        if _has_ended(pk, generation.id):
            return False
        raise Conflict("the scenarios of this definition were changed at the same time; try again") from None
    return True


def _has_ended(pk: str, generation_id: str) -> bool:
    try:
        item = GenerationItem.get(pk, _sort_key(generation_id), consistent_read=True)
    except GenerationItem.DoesNotExist:
        return False
    return GenerationStatus(item.status) not in UNFINISHED


def _write(before: Generation, after: Generation, also: Condition | None, until: datetime | None) -> bool:
    """Puts `after` in the place of `before` if that has not gone on meanwhile."""
    condition = (GenerationItem.written == before.completed) & GenerationItem.status.is_in(*UNFINISHED)
    item = _to_item(after, until)
    try:
        item.save(condition=condition & also if also is not None else condition)
    except PutError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        return False
    return True


def _sort_key(generation_id: str) -> str:
    return f"generation#{generation_id}"


def _to_item(generation: Generation, leased_until: datetime | None = None) -> GenerationItem:
    return GenerationItem(
        keys.definition(generation.workspace, generation.definition_id),
        _sort_key(generation.id),
        status=generation.status,
        written=generation.completed,
        leased_until=leased_until and to_iso(leased_until),
        body={
            "mode": generation.mode,
            "definitionVersion": generation.definition_version,
            "total": generation.total,
            "createdAt": to_iso(generation.created_at),
            "updatedAt": to_iso(generation.updated_at),
            "options": generation.options,
            "seed": generation.seed,
            "model": generation.model,
            "replace": generation.replace,
            "parts": [[part.key, part.count] for part in generation.parts],
            "setbacks": generation.setbacks,
            "error": generation.error,
        },
    )


def _to_generation(workspace: str, definition_id: str, item: GenerationItem) -> Generation:
    body: dict[str, Any] = item.body
    return Generation(
        workspace=workspace,
        definition_id=definition_id,
        id=item.sk.partition("#")[2],
        mode=Mode(body["mode"]),
        definition_version=body["definitionVersion"],
        total=body["total"],
        created_at=from_iso(body["createdAt"]),
        updated_at=from_iso(body["updatedAt"]),
        options=Options(body["options"]),
        seed=body["seed"],
        model=body["model"],
        replace=body["replace"],
        status=GenerationStatus(item.status),
        parts=tuple(ScenarioPage(key, count) for key, count in body["parts"]),
        setbacks=body["setbacks"],
        error=body["error"],
    )
