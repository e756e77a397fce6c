"""Converts the emulator's DynamoDB tables to journal records: table definitions, and items as they are after a write.

Effects are recorded, not requests: replaying a conditional request would need everything it depended on, including
items that TTL removed meanwhile, and would cost as much as the request did.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cupel.json_types import Json
from cupel.stack.durability.files import read_consistently

type TableKey = tuple[str, str, str]
"""The account, region and name."""
type Effect = tuple[str, str, Json | None]
"""The partition, the sort key, and the item or None if it was deleted."""

ITEM_OPERATIONS = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_DEFINITIONS, _EFFECTS = b"D", b"E"
_ITEMS_PER_RECORD = 200
"""In a snapshot, these take about a millisecond, in which no request is answered."""
_STORES = (
    *("tags", "ttl_settings", "pitr_settings", "kinesis_destinations", "contributor_insights"),
    *("backups", "resource_policies", "exports", "imports"),
)
"""In the saved state, the emulator's module stores data about tables under these keys."""
_NOT_DEFINED = ("items", "_index_members")


class Place(NamedTuple):
    table_key: TableKey
    table: Json
    partition: str
    sort: str

    @property
    def item(self) -> Json | None:
        """Return the item. The emulator replaces items and never changes one in place, so this shows an earlier
        state."""
        found: Json | None = self.table["items"].get(self.partition, {}).get(self.sort)
        return found


class ItemWrite(NamedTuple):
    place: Place
    before: Json | None


class Tables:
    """Reads and writes tables; `dynamodb`, `persistence` and `responses` are the emulator's modules."""

    def __init__(self, dynamodb: Any, persistence: Any, responses: Any) -> None:
        self._dynamodb, self._persistence, self._responses = dynamodb, persistence, responses
        self._generations: dict[TableKey, tuple[int, Json]] = {}
        """The table of each name, and how many tables of this name there have been."""
        self._recorded: dict[TableKey, int] = {}

    def prepare(self, operation: str, request: Json, account: str, region: str) -> list[ItemWrite]:
        """Return the items that the request may write, as they are before it.

        Raises KeyError, TypeError or AttributeError if it is malformed.
        """
        places = (
            self._place((account, region, self._dynamodb._normalize_table_name(name)), attributes)
            for name, attributes in _written_keys(operation, request)
        )
        return [ItemWrite(place, place.item) for place in places if place]

    def effects(self, writes: Iterable[ItemWrite]) -> bytes | None:
        by_table: dict[TableKey, list[Effect]] = defaultdict(list)
        for place, before in writes:
            if (item := place.item) is not before:
                by_table[place.table_key].append((place.partition, place.sort, item))
        return _EFFECTS + _to_json(list(by_table.items())) if by_table else None

    def undo(self, writes: list[ItemWrite], token: str | None) -> None:
        """Restore the items, and forget the transaction's idempotency token, which must not promise that it
        happened."""
        for place, before in reversed(writes):
            if place.item is before:
                continue
            if before is None:
                self._dynamodb._remove_item(place.table, place.partition, place.sort)
            else:
                self._dynamodb._set_item(place.table, place.partition, place.sort, before)
        if token:
            for scope in {place.table_key[:2] for place, _ in writes}:
                self._dynamodb._txn_idempotency.pop_scoped(*scope, token, None)

    def are_recorded(self, writes: Iterable[ItemWrite]) -> bool:
        return all(
            self._recorded.get(place.table_key) == self._generation(place.table_key, place.table) for place, _ in writes
        )

    def definitions(self) -> bytes:
        return read_consistently(self._definitions)

    def _definitions(self) -> bytes:
        tables = self._responses.AccountRegionScopedDict()
        for table_key, table in self._dynamodb._tables.all_items():
            tables.set_scoped(*table_key, {name: value for name, value in table.items() if name not in _NOT_DEFINED})
        state = {"tables": tables} | {store: getattr(self._dynamodb, f"_{store}") for store in _STORES}
        content = {"generations": [[*each] for each in self._current_generations().items()], "state": state}
        return _DEFINITIONS + json.dumps(content, default=self._persistence._json_default).encode()

    def mark_recorded(self) -> None:
        self._recorded = self._current_generations()

    def snapshot(self) -> Iterator[bytes]:
        """Yield all items. Writes may happen meanwhile: each item is recorded as it is at some moment until the end."""
        for table_key, table in self._dynamodb._tables.all_items():
            effects: list[Effect] = []
            for partition in list(table["items"]):
                found = list(table["items"].get(partition, {}).items())
                effects += [(partition, sort, item) for sort, item in found]
                if len(effects) >= _ITEMS_PER_RECORD:
                    yield _EFFECTS + _to_json([(table_key, effects)])
                    effects = []
            yield _EFFECTS + _to_json([(table_key, effects)])

    def restore(self, payloads: Iterable[bytes]) -> None:
        definitions: Json = {"generations": [], "state": {}}
        items: dict[TableKey, dict[str, dict[str, Json]]] = defaultdict(lambda: defaultdict(dict))
        for payload in payloads:
            if payload[:1] == _DEFINITIONS:
                latest = json.loads(payload[1:], object_hook=self._persistence._json_object_hook)
                _drop_deleted(items, definitions, latest)
                definitions = latest
            else:
                _apply(items, json.loads(payload[1:]))
        self._load(definitions["state"], items)
        generations = _generations(definitions)
        self._generations = {key: (generations[key], table) for key, table in self._dynamodb._tables.all_items()}
        self.mark_recorded()

    def _load(self, state: Json, items: dict[TableKey, dict[str, dict[str, Json]]]) -> None:
        if not state:
            return
        for table_key, table in state["tables"].all_items():
            table["items"] = {partition: found for partition, found in items[table_key].items() if found}
            table["ItemCount"] = sum(map(len, table["items"].values()))
        self._dynamodb.load_persisted_state(state)

    def _place(self, table_key: TableKey, attributes: Json) -> Place | None:
        table = self._dynamodb._tables.get_scoped(*table_key)
        if table is None:
            return None
        value = self._dynamodb._extract_key_val
        sort = value(attributes[table["sk_name"]]) if table["sk_name"] else "__no_sort__"
        return Place(table_key, table, value(attributes[table["pk_name"]]), sort)

    def _current_generations(self) -> dict[TableKey, int]:
        return {key: self._generation(key, table) for key, table in self._dynamodb._tables.all_items()}

    def _generation(self, table_key: TableKey, table: Json) -> int:
        generation, known = self._generations.get(table_key, (0, None))
        if known is not table:
            generation += 1
            self._generations[table_key] = (generation, table)
        return generation


def _written_keys(operation: str, request: Json) -> Iterator[tuple[str, Json]]:
    if operation == "TransactWriteItems":
        for action in request["TransactItems"]:
            for kind, parameters in action.items():
                if kind != "ConditionCheck":
                    yield parameters["TableName"], parameters["Item" if kind == "Put" else "Key"]
    elif operation == "BatchWriteItem":
        for table_name, requests in request["RequestItems"].items():
            for each in requests:
                yield table_name, each["PutRequest"]["Item"] if "PutRequest" in each else each["DeleteRequest"]["Key"]
    else:
        yield request["TableName"], request["Item" if operation == "PutItem" else "Key"]


def _apply(items: dict[TableKey, dict[str, dict[str, Json]]], groups: list[tuple[list[str], list[Effect]]]) -> None:
    for (account, region, name), effects in groups:
        partitions = items[account, region, name]
        for partition, sort, item in effects:
            if item is None:
                partitions[partition].pop(sort, None)
            else:
                partitions[partition][sort] = item


def _drop_deleted(items: dict[TableKey, dict[str, dict[str, Json]]], before: Json, after: Json) -> None:
    remaining = _generations(after)
    for table_key, generation in _generations(before).items():
        if remaining.get(table_key) != generation:
            items.pop(table_key, None)


def _generations(definitions: Json) -> dict[TableKey, int]:
    return {(account, region, name): number for (account, region, name), number in definitions["generations"]}


def _to_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
