"""Outcomes of probes: a transcript or an error. The first writer wins.

Small outcomes are written in transactions of up to 100: unlike a batch write, one call carries a condition per item.
A transaction costs twice the write units, so an item of more than one unit is written alone.
Only an error may be overwritten, and only in a later retry round, which a user requested.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from itertools import batched, chain
from typing import Any, NamedTuple, cast

from botocore.exceptions import ClientError, ParamValidationError
from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.clock import to_iso
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.run_spend import Cost, Recorded, lost_member
from cupel_core.domain.runs.transcripts import (
    Outcome,
    ProbeError,
    Summary,
    Transcript,
    TranscriptFilter,
    TranscriptResult,
    unstorable,
)
from cupel_core.errors import Conflict, RetryableError
from cupel_core.messages import RunRef
from cupel_core.paging import Entry, encode_cursor
from cupel_core.settings import settings
from cupel_core.store import blobs, keys
from cupel_core.store.batches import get_batch
from cupel_core.store.clients import dynamodb
from cupel_core.store.listing import MAX_EXAMINED
from cupel_core.store.outcome_items import OutcomeItem, from_item, spending_of, summary_to_json, to_item
from cupel_core.store.table import updated

_MAX_TRANSACTION_ITEMS = 100
_EXAMINED_PER_READ = 250
_UNIT_BYTES = 1_024
_WRITERS = 8
_MAX_ATTEMPTS = 6
_REFUSAL_CODES = frozenset({"ValidationException", "ValidationError"})
"""Of a request, and of an item of a transaction: the table will never accept it, for example because of its size."""


class _Refusal(NamedTuple):
    """Why an outcome can never be stored as it is."""

    reason: str


def record(run: Run, fencing_token: int, outcomes: Sequence[Outcome]) -> list[Recorded]:
    """Write those outcomes that are not recorded yet; returns what is recorded for each probe.

    One that the table refuses, for example because it is too large, is recorded as an error of its probe.
    """
    recorded, refusals = _write(run, fencing_token, outcomes)
    if refusals:
        refused = [outcome for outcome in outcomes if outcome.probe_index in refusals]
        errors = [unstorable(outcome, refusals[outcome.probe_index]) for outcome in refused]
        recorded_errors, refusals = _write(run, fencing_token, errors)
        recorded += recorded_errors
    if refusals:
        raise RetryableError(f"the table refused the errors of {len(refusals)} probes")
    return recorded


def _write(run: Run, fencing_token: int, outcomes: Sequence[Outcome]) -> tuple[list[Recorded], dict[int, str]]:
    """(recorded, refusals): what `record` returns, and by index why the table refused the others."""
    ref, results = RunRef(run.workspace, run.id), dict[int, Recorded | _Refusal]()
    with ThreadPoolExecutor(_WRITERS) as threads:
        items = list(threads.map(lambda outcome: _item_or_refusal(ref, fencing_token, outcome), outcomes))
        large = [item for item in items if isinstance(item, OutcomeItem) and _size(item) > _UNIT_BYTES]
        results.update(threads.map(lambda item: (item.index, _record_one(item, run.retry_round)), large))
    small = [item for item in items if isinstance(item, OutcomeItem) and item.index not in results]
    for batch in batched(small, _MAX_TRANSACTION_ITEMS):
        results |= _record_batch(list(batch), run.retry_round)
    for outcome, item in zip(outcomes, items, strict=True):
        if isinstance(item, _Refusal):
            results[outcome.probe_index] = item
    recorded = [result for result in results.values() if isinstance(result, Recorded)]
    return recorded, {index: result.reason for index, result in results.items() if isinstance(result, _Refusal)}


def get_recorded(ref: RunRef, indexes: Iterable[int]) -> list[Recorded]:
    """What is stored for those of these probes that have an outcome. Strongly consistent.

    Includes errors of earlier retry rounds (see `Recorded.counts_in`), because what they have cost counts.
    """
    items = _batch_get(ref, indexes, "pk, sk, completed, epoch, body, summary")
    return [_recorded(OutcomeItem.from_raw_data(item)) for item in items]


def _recorded(stored: OutcomeItem) -> Recorded:
    return Recorded(stored.index, stored.completed, int(stored.fencing_token), Cost.of(spending_of(stored)))


def _recorded_instead(stored: dict[str, Any], item: OutcomeItem) -> Recorded:
    """What is stored already, where an item was to be written. It may be the same item, if only the reply was lost."""
    written, cost = item.serialize(), Cost.of(spending_of(item))
    is_same = all(stored[name] == written[name] for name in ("epoch", "body"))
    lost = None if is_same or not cost else lost_member(item.index, cost, str(written["epoch"]) + str(written["body"]))
    return _recorded(OutcomeItem.from_raw_data(stored))._replace(lost_member=lost)


def list_error_items(ref: RunRef, indexes: Iterable[int]) -> Iterator[OutcomeItem]:
    """The outcome items of these probes, only those that are errors."""
    items = (OutcomeItem.from_raw_data(item) for item in _batch_get(ref, indexes))
    return (item for item in items if not item.completed)


def get(ref: RunRef, index: int) -> Outcome | None:
    """The outcome of a probe; None if it has none yet."""
    try:
        return from_item(OutcomeItem.get(keys.probes(ref, index), keys.probe(index)))
    except OutcomeItem.DoesNotExist:
        return None


def get_many(ref: RunRef, indexes: Sequence[int]) -> dict[int, Outcome]:
    """Outcomes by index; probes without one are left out."""
    items = (OutcomeItem.from_raw_data(item) for item in _batch_get(ref, indexes))
    return {item.index: from_item(item) for item in items}


def get_many_without_content(ref: RunRef, indexes: Sequence[int]) -> dict[int, Outcome]:
    """Like `get_many`, without the messages and without reading the bucket. Strongly consistent."""
    items = (OutcomeItem.from_raw_data(item) for item in _batch_get(ref, indexes))
    return {item.index: from_item(item, read_content=False) for item in items}


def list_digests(ref: RunRef, indexes: Iterable[int]) -> Iterator[Outcome]:
    """The outcomes of these probes that have one, without what was said; possibly some seconds old."""
    items = _batch_get(ref, indexes, "pk, sk, completed, body, summary, correction", consistent=False)
    return (from_item(OutcomeItem.from_raw_data(item), read_content=False) for item in items)


def list_range(ref: RunRef, indexes: range) -> Iterator[Outcome]:
    """The outcomes of a range of indexes, ascending; read lazily, 1 MB at a time."""
    for block in keys.blocks(indexes):
        between = OutcomeItem.sk.between(keys.probe(block.start), keys.probe(block.stop - 1))
        for item in OutcomeItem.query(keys.probes(ref, block.start), between):
            yield from_item(item)


def list_matching(
    ref: RunRef, ranges: Sequence[range], wanted: TranscriptFilter, *, page_size: int
) -> Iterator[Entry[Transcript]]:
    """The matching transcripts of these indexes, ascending; an entry without one once MAX_EXAMINED were examined.

    Content in the bucket is read of matching transcripts only.
    """
    examined = 0
    for block in chain.from_iterable(map(keys.blocks, ranges)):
        between = OutcomeItem.sk.between(keys.probe(block.start), keys.probe(block.stop - 1))
        per_read = _EXAMINED_PER_READ if wanted.is_set else page_size
        for item in OutcomeItem.query(keys.probes(ref, block.start), between, page_size=per_read):
            outcome = from_item(item, read_content=False)
            examined += 1
            if isinstance(outcome, Transcript) and wanted.matches(outcome):
                yield Entry(encode_cursor(str(item.index)), cast("Transcript", from_item(item)))
            elif examined >= MAX_EXAMINED:
                yield Entry(encode_cursor(str(item.index + 1)), None)
                return


def set_summary(ref: RunRef, index: int, summary: Summary) -> bool:
    """Set a transcript's final summary, without its text if the content was erased meanwhile; False if it has one."""
    return _set_summary(ref, index, summary, OutcomeItem.erased_at.does_not_exist()) or _set_summary(
        ref, index, summary.without_content(), OutcomeItem.erased_at.exists()
    )


def _set_summary(ref: RunRef, index: int, summary: Summary, condition: Condition) -> bool:
    item = OutcomeItem(keys.probes(ref, index), keys.probe(index))
    is_open = OutcomeItem.summary.does_not_exist() | OutcomeItem.is_summary_provisional.exists()
    actions = [OutcomeItem.summary.set(summary_to_json(summary)), OutcomeItem.is_summary_provisional.remove()]
    return updated(item, actions, OutcomeItem.pk.exists() & is_open & condition)


def set_correction(ref: RunRef, index: int, result: TranscriptResult | None, before: Transcript | None = None) -> None:
    """Set a user's correction of a completed probe's result; None removes it.

    With `before`, raises Conflict if there is another correction now.
    """
    item = OutcomeItem(keys.probes(ref, index), keys.probe(index))
    action = OutcomeItem.correction.remove() if result is None else OutcomeItem.correction.set(asdict(result))
    condition = OutcomeItem.pk.exists()
    if before is not None:
        condition &= _is_same(OutcomeItem.correction, before.correction and asdict(before.correction))
    if not updated(item, [action], condition):
        raise Conflict("the result was corrected, or its run deleted, at the same time; read it and try again")


def erase_content(ref: RunRef, index: int, now: datetime) -> None:
    """Erase the content of an outcome, if there is one; what `without_content` leaves stays."""
    for _ in range(_MAX_ATTEMPTS):
        try:
            item = OutcomeItem.get(keys.probes(ref, index), keys.probe(index), consistent_read=True)
        except OutcomeItem.DoesNotExist:
            return
        if erase_item(item, now):
            return
    raise RetryableError("the outcome is being changed by others; try again")


def erase_item(item: OutcomeItem, now: datetime) -> bool:
    """Erase the content of an outcome, or of an earlier attempt, as it was read; False if it has changed since."""
    if item.erased_at is not None:
        return True
    before = from_item(item, read_content=False)
    after, key = before.without_content(), item.content_key
    content = (OutcomeItem.content, OutcomeItem.packed, OutcomeItem.content_key)
    actions: list[Action] = [OutcomeItem.erased_at.set(to_iso(now)), *(each.remove() for each in content)]
    unchanged = (OutcomeItem.completed == item.completed) & (OutcomeItem.fencing_token == item.fencing_token)
    if isinstance(after, ProbeError):
        actions.append(OutcomeItem.body.set({**item.body, "message": after.message}))
    else:
        unchanged &= _is_same(OutcomeItem.summary, item.summary) & _is_same(OutcomeItem.correction, item.correction)
        unchanged &= _is_same(OutcomeItem.content_key, key)
        if after.summary is not None:
            actions.append(OutcomeItem.summary.set(summary_to_json(after.summary)))
        if after.correction is not None:
            actions.append(OutcomeItem.correction.set(asdict(after.correction)))
    if not updated(item, actions, unchanged):
        return False
    if key is not None:
        blobs.delete(key)
    return True


def list_items(ref: RunRef, block: int, *, of_attempts: bool = False) -> Iterator[OutcomeItem]:
    """The outcome items of a block of probes, or those of their earlier attempts."""
    partition = (keys.attempts if of_attempts else keys.probes)(ref, block * keys.PROBES_PER_BLOCK)
    return iter(OutcomeItem.query(partition, consistent_read=True))


def list_recorded(ref: RunRef, indexes: Iterable[int]) -> frozenset[int]:
    """Those of the probes that have an outcome. Strongly consistent."""
    return frozenset(int(item["sk"]["S"]) for item in _batch_get(ref, indexes, "sk"))


def list_erased(ref: RunRef, indexes: Iterable[int]) -> frozenset[int]:
    """Those of the probes whose content was erased. Strongly consistent."""
    items = _batch_get(ref, indexes, "sk, erasedAt")
    return frozenset(int(item["sk"]["S"]) for item in items if "erasedAt" in item)


def _is_same(attribute: Attribute[Any], value: object) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition


def note_access(ref: RunRef, index: int, now: datetime) -> None:
    """Note that the transcript was read."""
    OutcomeItem(keys.probes(ref, index), keys.probe(index)).update(
        actions=[OutcomeItem.last_accessed_at.set(to_iso(now))], condition=OutcomeItem.pk.exists()
    )


def _size(item: OutcomeItem) -> int:
    """Bytes as DynamoDB counts them, or slightly fewer: numbers and booleans are not counted here."""
    values = {name: next(iter(value.values())) for name, value in item.serialize().items()}
    return sum(len(name) + len(value) for name, value in values.items() if isinstance(value, (str, bytes)))


def _item_or_refusal(ref: RunRef, fencing_token: int, outcome: Outcome) -> OutcomeItem | _Refusal:
    """A text that cannot be encoded, for example half of a surrogate pair, cannot be stored either."""
    try:
        return to_item(ref, fencing_token, outcome)
    except (TypeError, ValueError) as error:
        return _Refusal(f"{type(error).__name__}: {error}")


def _record_one(item: OutcomeItem, retry_round: int) -> Recorded | _Refusal:
    """Write one item unless an outcome is recorded already."""
    client = dynamodb()
    try:
        client.put_item(**_put(item, retry_round))
    except client.exceptions.ConditionalCheckFailedException as error:
        response: dict[str, Any] = dict(error.response)
        return _recorded_instead(response["Item"], item)
    except (ClientError, ParamValidationError) as error:
        if not _is_refusal(error):
            raise
        return _Refusal(str(error))
    return _recorded(item)


def _record_batch(items: list[OutcomeItem], retry_round: int) -> dict[int, Recorded | _Refusal]:
    """Write one transaction; items that lose to an earlier writer are taken out and the others are written again."""
    recorded: dict[int, Recorded | _Refusal] = {}
    for _ in range(_MAX_ATTEMPTS):
        if not items:
            return recorded
        reasons = _transact(items, retry_round)
        if reasons is None:
            return recorded | {item.index: _recorded(item) for item in items}
        lost = [n for n, reason in enumerate(reasons) if reason.get("Code") == "ConditionalCheckFailed"]
        for n in lost:
            recorded[items[n].index] = _recorded_instead(reasons[n]["Item"], items[n])
        items = [item for n, item in enumerate(items) if n not in set(lost)]
        if any(reason.get("Code") in _REFUSAL_CODES for reason in reasons):
            return recorded | {item.index: _record_one(item, retry_round) for item in items}
    raise RetryableError(f"the table refused outcomes {_MAX_ATTEMPTS} times; try again")


def _transact(items: Sequence[OutcomeItem], retry_round: int) -> list[dict[str, Any]] | None:
    """None if all items were written, else each item's cancellation reason."""
    client = dynamodb()
    try:
        client.transact_write_items(TransactItems=[{"Put": _put(item, retry_round)} for item in items])
    except client.exceptions.TransactionCanceledException as error:
        reasons: list[Any] = error.response["CancellationReasons"]
        return reasons
    except (ClientError, ParamValidationError) as error:
        if not _is_refusal(error):
            raise
        return [{"Code": "ValidationException"} for _ in items]  # Of one of them; each is then written alone.
    return None


def _is_refusal(error: ClientError | ParamValidationError) -> bool:
    """Whether writing the same item again would fail again."""
    return isinstance(error, ParamValidationError) or error.response["Error"]["Code"] in _REFUSAL_CODES


def _put(item: OutcomeItem, retry_round: int) -> Any:
    """The arguments of PutItem, which are also those of a transaction's Put."""
    return {
        "TableName": settings().table_name,
        "Item": item.serialize(),
        "ConditionExpression": "attribute_not_exists(pk) OR (completed = :no AND epoch < :retry_round)",
        "ExpressionAttributeValues": {":no": {"BOOL": False}, ":retry_round": {"N": str(retry_round)}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _batch_get(
    ref: RunRef, indexes: Iterable[int], projection: str | None = None, *, consistent: bool = True
) -> Iterator[dict[str, Any]]:
    wanted = ({"pk": {"S": keys.probes(ref, index)}, "sk": {"S": keys.probe(index)}} for index in indexes)
    return get_batch(wanted, projection, consistent=consistent)
