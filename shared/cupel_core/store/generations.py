"""Scenario generations in the table, and the texts generated so far in the bucket.

One consumer at a time has the lease of a generation. A part is counted by a write conditional on the parts before it,
and all scenarios are appended in the transaction that ends the generation. So a message that is delivered twice neither
pays for a model call twice nor adds scenarios twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from cupel_core.base.clock import from_iso, to_iso, to_optional_iso
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.ids import new_id
from cupel_core.base.messages import GenerationRequest
from cupel_core.domain.definitions.generations import UNFINISHED, Generation, GenerationMode, GenerationStatus
from cupel_core.domain.definitions.matrix import LevelOptionChoice
from cupel_core.domain.definitions.scenarios import Manifest, ScenarioPage
from cupel_core.store import blobs, definition_scenarios, idempotency_keys, keys, object_names
from cupel_core.store.definition_scenarios import CurrentScenarios
from cupel_core.store.listing import all_of
from cupel_core.store.open_work import OpenWork
from cupel_core.store.table import ExtraWrite, Item, error_code, updated


class GenerationItem(Item):
    status = UnicodeAttribute()
    written = NumberAttribute()
    """The number of texts so far. As a write condition it counts each part once."""
    leased_until = UnicodeAttribute(attr_name="leasedUntil", null=True)
    body = JSONAttribute()


class OpenGenerationItem(Item):
    workspace = UnicodeAttribute()
    definition_id = UnicodeAttribute(attr_name="definitionId")
    generation_id = UnicodeAttribute(attr_name="generationId")
    touched_at = UnicodeAttribute(attr_name="touchedAt")


def create(generation: Generation) -> None:
    """Create a generation and list it for the sweeper in the same transaction, because its message may be lost."""
    open_item = OpenGenerationItem(
        keys.OPEN_GENERATIONS,
        keys.open_generation(generation.workspace, generation.definition_id, generation.id),
        workspace=generation.workspace,
        definition_id=generation.definition_id,
        generation_id=generation.id,
        touched_at=to_iso(generation.created_at),
    )
    with idempotency_keys.transaction() as transaction:
        transaction.save(_to_item(generation), condition=GenerationItem.pk.does_not_exist())
        transaction.save(open_item)


def list_open(after: str | None = None) -> Iterator[OpenWork[GenerationRequest]]:
    """Yield the generations whose end the sweeper has not seen, from the sort key `after` on."""
    condition = OpenGenerationItem.sk > after if after else None
    for item in OpenGenerationItem.query(keys.OPEN_GENERATIONS, condition):
        request = GenerationRequest(
            workspace=item.workspace, definition_id=item.definition_id, generation_id=item.generation_id
        )
        yield OpenWork(item.pk, item.sk, request, from_iso(item.touched_at))


def erase_all(workspace: str, definition_id: str) -> None:
    pk = keys.definition(workspace, definition_id)
    for item in list(GenerationItem.query(pk, GenerationItem.sk.startswith(_sort_key("")), consistent_read=True)):
        generation_id = item.sk.removeprefix(_sort_key(""))
        OpenGenerationItem(
            keys.OPEN_GENERATIONS, keys.open_generation(workspace, definition_id, generation_id)
        ).delete()
        item.delete()
        blobs.delete_prefix(object_names.generation_blobs(workspace, generation_id))


def get(workspace: str, definition_id: str, generation_id: str) -> Generation:
    return _to_generation(workspace, definition_id, _get_item(workspace, definition_id, generation_id))


def _get_item(workspace: str, definition_id: str, generation_id: str) -> GenerationItem:
    item_key = (keys.definition(workspace, definition_id), _sort_key(generation_id))
    try:
        return GenerationItem.get(*item_key, consistent_read=True)
    except GenerationItem.DoesNotExist:
        raise NotFound(f"there is no generation {generation_id} of definition {definition_id}") from None


def claim(request: GenerationRequest, now: datetime, until: datetime) -> Generation | None:
    """Take the lease of a generation until `until`. Return None if it has ended or another consumer has the lease."""
    generation = get(request.workspace, request.definition_id, request.generation_id)
    running = replace(generation, status=GenerationStatus.RUNNING, updated_at=now)
    free = GenerationItem.leased_until.does_not_exist() | (GenerationItem.leased_until < to_iso(now))
    if generation.status in UNFINISHED and _write(generation, running, free, until):
        return running
    return None


def append_part(generation: Generation, texts: Sequence[str], now: datetime, until: datetime) -> Generation | None:
    """Store the next texts and extend the lease to `until`. Return None if another consumer has counted them."""
    key = f"{object_names.generation_blobs(generation.workspace, generation.id)}{new_id('part')}.json.gz"
    blobs.put_json(key, list(texts))
    parts = (*generation.parts, ScenarioPage(key, len(texts)))
    extended = replace(generation, parts=parts, failed_attempts=0, updated_at=now)
    return extended if _write(generation, extended, None, until) else None


def release(generation: Generation, now: datetime) -> None:
    """Release the lease, so that the next message continues."""
    _write(generation, replace(generation, updated_at=now), None, None)


def end_lease(request: GenerationRequest, taken_before: datetime) -> None:
    """End the lease of a consumer that has written nothing since `taken_before`. Raise NotFound."""
    item = _get_item(request.workspace, request.definition_id, request.generation_id)
    generation = _to_generation(request.workspace, request.definition_id, item)
    if item.leased_until is not None and generation.updated_at < taken_before:
        updated(item, [GenerationItem.leased_until.remove()], GenerationItem.leased_until == item.leased_until)


def fail(generation: Generation, error: str, now: datetime) -> None:
    failed = replace(generation, status=GenerationStatus.ERROR, error=error, updated_at=now)
    _write(generation, failed, None, None)


def read_texts(generation: Generation) -> Iterator[str]:
    """Yield all texts generated so far, in the order of their combinations."""
    for part in generation.parts:
        yield from blobs.get_json(part.key)


def finish(generation: Generation, current: CurrentScenarios, new_manifest: Manifest, now: datetime) -> bool:
    """End the generation and make its scenarios part of the definition, both or neither. Return False if it had already
    ended. Raise Conflict if the definition was changed since `current` was read."""
    completed = replace(generation, status=GenerationStatus.COMPLETED, updated_at=now)
    unfinished = GenerationItem.pk.does_not_exist() | GenerationItem.status.is_in(*UNFINISHED)
    extra = ExtraWrite(_to_item(completed), unfinished)
    try:
        definition_scenarios.commit(generation.workspace, current, new_manifest, now, extra)
    except Conflict:
        if _has_ended(keys.definition(generation.workspace, generation.definition_id), generation.id):
            return False
        raise
    return True


def _has_ended(pk: str, generation_id: str) -> bool:
    try:
        item = GenerationItem.get(pk, _sort_key(generation_id), consistent_read=True)
    except GenerationItem.DoesNotExist:
        return False
    return GenerationStatus(item.status) not in UNFINISHED


def _write(before: Generation, after: Generation, extra_condition: Condition | None, until: datetime | None) -> bool:
    """Replace `before` with `after`. Return False if another consumer has advanced or ended it meanwhile."""
    is_as_read = (GenerationItem.written == before.completed) & GenerationItem.status.is_in(*UNFINISHED)
    item = _to_item(after, until)
    try:
        item.save(condition=all_of(is_as_read, extra_condition))
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
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
        leased_until=to_optional_iso(leased_until),
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
            "failedAttempts": generation.failed_attempts,
            "error": generation.error,
            "maxBudgetUsd": generation.max_budget_usd,
        },
    )


def _to_generation(workspace: str, definition_id: str, item: GenerationItem) -> Generation:
    body: dict[str, Any] = item.body
    return Generation(
        workspace=workspace,
        definition_id=definition_id,
        id=item.sk.partition("#")[2],
        mode=GenerationMode(body["mode"]),
        definition_version=body["definitionVersion"],
        total=body["total"],
        created_at=from_iso(body["createdAt"]),
        updated_at=from_iso(body["updatedAt"]),
        options=LevelOptionChoice(body["options"]),
        seed=body["seed"],
        model=body["model"],
        replace=body["replace"],
        status=GenerationStatus(item.status),
        parts=tuple(ScenarioPage(key, count) for key, count in body["parts"]),
        failed_attempts=body["failedAttempts"],
        error=body["error"],
        max_budget_usd=body["maxBudgetUsd"],
    )
