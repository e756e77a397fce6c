"""Outcomes of probes: transcripts, and errors where there is no transcript. The first writer wins.

Small outcomes are written in transactions of up to 100: one call carries the condition of every item, which a batch
write cannot. A transaction costs twice the write units, so an item that is more than one is written by itself.
Only an error may be overwritten, and only by a later generation (a person asked for the retry).
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from itertools import batched
from typing import Any

from pynamodb.exceptions import UpdateError
from pynamodb.expressions.update import Action

from cupel_core.clock import to_iso
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome, Result, Summary
from cupel_core.errors import RetryableError
from cupel_core.messages import RunRef
from cupel_core.settings import settings
from cupel_core.store import blobs, keys
from cupel_core.store.clients import dynamodb
from cupel_core.store.outcome_items import OutcomeItem, from_item, summary_to_json, to_item
from cupel_core.store.table import code_of

_TRANSACTION = 100
_UNIT_BYTES = 1_024
_WRITERS = 8
_READ_BATCH = 100
_ROUNDS = 6


def record(run: Run, epoch: int, outcomes: Sequence[Outcome]) -> dict[int, bool]:
    """Writes outcomes that are not there yet; answers for each index whether the probe stands as completed."""
    ref, stands = RunRef(run.workspace, run.id), dict[int, bool]()
    with ThreadPoolExecutor(_WRITERS) as threads:
        items = list(threads.map(lambda outcome: to_item(ref, epoch, outcome), outcomes))
        large = [item for item in items if _size(item) > _UNIT_BYTES]
        stands.update(threads.map(lambda item: (item.index, _record_one(item, run.generation)), large))
    small = [item for item in items if item.index not in stands]
    for batch in batched(small, _TRANSACTION, strict=False):
        stands |= _record_batch(list(batch), run.generation)
    return stands


def recorded(run: Run, indexes: Iterable[int]) -> dict[int, bool]:
    """Which of these probes have an outcome that counts, and whether they completed. Strongly consistent.

    For probes that the barrier misses: an error of an earlier generation is one that is being retried.
    """
    found = _batch_get(RunRef(run.workspace, run.id), indexes, "sk, completed, epoch")
    return {
        int(item["sk"]["S"]): item["completed"]["BOOL"]
        for item in found
        if item["completed"]["BOOL"] or int(item["epoch"]["N"]) >= run.generation
    }


def errors(ref: RunRef, indexes: Iterable[int]) -> Iterator[OutcomeItem]:
    """The items of those of these probes that stand as errored."""
    found = (OutcomeItem.from_raw_data(item) for item in _batch_get(ref, indexes))
    return (item for item in found if not item.completed)


def get(ref: RunRef, index: int) -> Outcome | None:
    try:
        return from_item(OutcomeItem.get(keys.probes(ref, index), keys.probe(index)))
    except OutcomeItem.DoesNotExist:
        return None


def get_many(ref: RunRef, indexes: Sequence[int]) -> dict[int, Outcome]:
    """By index; those without an outcome are left out."""
    found = (OutcomeItem.from_raw_data(item) for item in _batch_get(ref, indexes))
    return {item.index: from_item(item) for item in found}


def in_range(ref: RunRef, indexes: range) -> Iterator[Outcome]:
    """The outcomes of a range of indexes, ascending, read as they are asked for."""
    block = keys.PROBES_PER_BLOCK
    for first in range(indexes.start - indexes.start % block, indexes.stop, block):
        start, stop = max(first, indexes.start), min(first + block, indexes.stop)
        for item in OutcomeItem.query(
            keys.probes(ref, first), OutcomeItem.sk.between(keys.probe(start), keys.probe(stop - 1))
        ):
            yield from_item(item)


def summarize(ref: RunRef, index: int, summary: Summary) -> None:
    """Sets the summary of a transcript that has none."""
    item = OutcomeItem(keys.probes(ref, index), keys.probe(index))
    try:
        item.update(
            actions=[OutcomeItem.summary.set(summary_to_json(summary))],
            condition=OutcomeItem.pk.exists() & OutcomeItem.summary.does_not_exist(),
        )
    except UpdateError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise


def correct(ref: RunRef, index: int, result: Result | None) -> None:
    """What a person says came of a completed probe; None takes it back."""
    item = OutcomeItem(keys.probes(ref, index), keys.probe(index))
    told = OutcomeItem.correction.remove() if result is None else OutcomeItem.correction.set(asdict(result))
    item.update(actions=[told], condition=OutcomeItem.pk.exists())


def forget_content(ref: RunRef, index: int, result: Result | None) -> None:
    """Removes what was said, and what judges said of it; its result, which was among it, is kept."""
    item = OutcomeItem.get(keys.probes(ref, index), keys.probe(index), consistent_read=True)
    said = (OutcomeItem.content, OutcomeItem.packed, OutcomeItem.content_key)
    actions: list[Action] = [attribute.remove() for attribute in said]
    if result is not None:
        actions.append(OutcomeItem.correction.set(asdict(result)))
    key = item.content_key
    item.update(actions=actions, condition=OutcomeItem.pk.exists())
    if key is not None:
        blobs.delete(key)


def touch(ref: RunRef, index: int, now: datetime) -> None:
    OutcomeItem(keys.probes(ref, index), keys.probe(index)).update(
        actions=[OutcomeItem.last_accessed_at.set(to_iso(now))], condition=OutcomeItem.pk.exists()
    )


def _size(item: OutcomeItem) -> int:
    """In bytes, as the table reckons it or a little less: numbers and booleans count nothing here."""
    values = {name: next(iter(value.values())) for name, value in item.serialize().items()}
    return sum(len(name) + len(value) for name, value in values.items() if isinstance(value, (str, bytes)))


def _record_one(item: OutcomeItem, generation: int) -> bool:
    """Whether the probe stands as completed."""
    client = dynamodb()
    try:
        client.put_item(**_put(item, generation))
    except client.exceptions.ConditionalCheckFailedException as error:
        refused: dict[str, Any] = dict(error.response)
        return bool(refused["Item"]["completed"]["BOOL"])
    return item.completed


def _record_batch(items: list[OutcomeItem], generation: int) -> dict[int, bool]:
    """One transaction; items that lose to an earlier writer are taken out and the rest is written again."""
    stands: dict[int, bool] = {}
    for _ in range(_ROUNDS):
        if not items:
            return stands
        reasons = _transact(items, generation)
        if reasons is None:
            return stands | {item.index: item.completed for item in items}
        lost = [n for n, reason in enumerate(reasons) if reason.get("Code") == "ConditionalCheckFailed"]
        for n in lost:
            stands[items[n].index] = reasons[n]["Item"]["completed"]["BOOL"]
        items = [item for n, item in enumerate(items) if n not in set(lost)]
    raise RetryableError("the table refused outcomes again and again")


def _transact(items: Sequence[OutcomeItem], generation: int) -> list[dict[str, Any]] | None:
    """None when all were written, else the reason of each item."""
    client = dynamodb()
    try:
        client.transact_write_items(TransactItems=[{"Put": _put(item, generation)} for item in items])
    except client.exceptions.TransactionCanceledException as error:
        reasons: list[Any] = error.response["CancellationReasons"]
        return reasons
    return None


def _put(item: OutcomeItem, generation: int) -> Any:
    """What a put and a transaction's Put have in common."""
    return {
        "TableName": settings().table_name,
        "Item": item.serialize(),
        "ConditionExpression": "attribute_not_exists(pk) OR (completed = :no AND epoch < :generation)",
        "ExpressionAttributeValues": {":no": {"BOOL": False}, ":generation": {"N": str(generation)}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _batch_get(ref: RunRef, indexes: Iterable[int], projection: str | None = None) -> Iterator[dict[str, Any]]:
    options: dict[str, Any] = {"ConsistentRead": True}
    if projection is not None:
        options["ProjectionExpression"] = projection
    table = settings().table_name
    for batch in batched(indexes, _READ_BATCH, strict=False):
        wanted: list[Any] = [{"pk": {"S": keys.probes(ref, index)}, "sk": {"S": keys.probe(index)}} for index in batch]
        while wanted:
            request: Any = {table: {"Keys": wanted, **options}}
            answer: Any = dynamodb().batch_get_item(RequestItems=request)
            yield from answer["Responses"].get(table, [])
            wanted = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
