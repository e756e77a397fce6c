from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel.stack.durability.tables import Tables
from tests.unit.cupel.stack.durability.fake_dynamodb import DynamoDB, Persistence

type Json = dict[str, Any]
SCOPE = ("account", "region")
TABLE = "things"


def key(sort: str) -> Json:
    return {"pk": {"S": "p"}, "sk": {"S": sort}}


def item(sort: str, value: str = "v") -> Json:
    return key(sort) | {"value": {"S": value}}


class Recorder:
    """Tables whose records are collected instead of written to a journal."""

    def __init__(self) -> None:
        self.dynamodb = DynamoDB()
        self.tables = Tables(self.dynamodb, Persistence, Persistence)
        self.records: list[bytes] = []

    def write(self, *effects: tuple[str, Json | None]) -> None:
        """Put or delete items of the table in one request."""
        actions = [
            {"Put": {"TableName": TABLE, "Item": stored}}
            if stored
            else {"Delete": {"TableName": TABLE, "Key": key(sort)}}
            for sort, stored in effects
        ]
        writes = self.tables.prepare("TransactWriteItems", {"TransactItems": actions}, *SCOPE)
        for sort, stored in effects:
            self.apply(sort, stored)
        if (record := self.tables.effects(writes)) is not None:
            if not self.tables.are_recorded(writes):
                self.define()
            self.records.append(record)

    def apply(self, sort: str, stored: Json | None) -> None:
        table = self.dynamodb._tables.get_scoped(*SCOPE, TABLE)
        if stored:
            self.dynamodb._set_item(table, "p", sort, stored)
        elif sort in table["items"].get("p", {}):
            self.dynamodb._remove_item(table, "p", sort)

    def define(self) -> None:
        self.records.append(self.tables.definitions())
        self.tables.mark_recorded()


@pytest.fixture
def recorder() -> Recorder:
    recorder = Recorder()
    recorder.dynamodb.create_table(TABLE)
    return recorder


def restored(records: list[bytes]) -> Json:
    """The items of the table by sort key."""
    dynamodb = DynamoDB()
    Tables(dynamodb, Persistence, Persistence).restore(records)
    table = dynamodb._tables.get_scoped(*SCOPE, TABLE)
    items: Json = table["items"].get("p", {})
    return items


def prepared(recorder: Recorder, operation: str, request: Json) -> list[tuple[str, str]]:
    return [(write.place.partition, write.place.sort) for write in recorder.tables.prepare(operation, request, *SCOPE)]


@pytest.mark.parametrize(
    ("operation", "request_body"),
    [
        ("PutItem", {"TableName": TABLE, "Item": item("a")}),
        ("UpdateItem", {"TableName": f"arn:aws:dynamodb:region:account:table/{TABLE}", "Key": key("a")}),
        ("DeleteItem", {"TableName": TABLE, "Key": key("a")}),
        ("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": item("a")}}]}}),
        ("BatchWriteItem", {"RequestItems": {TABLE: [{"DeleteRequest": {"Key": key("a")}}]}}),
        ("TransactWriteItems", {"TransactItems": [{"Update": {"TableName": TABLE, "Key": key("a")}}]}),
    ],
)
def test_the_items_that_a_request_may_write_are_known(recorder: Recorder, operation: str, request_body: Json) -> None:
    assert prepared(recorder, operation, request_body) == [("p", "a")]


def test_a_condition_check_writes_nothing(recorder: Recorder) -> None:
    check = {"ConditionCheck": {"TableName": TABLE, "Key": key("a")}}
    assert prepared(recorder, "TransactWriteItems", {"TransactItems": [check]}) == []


def test_a_request_for_a_table_that_does_not_exist_writes_nothing(recorder: Recorder) -> None:
    assert prepared(recorder, "PutItem", {"TableName": "other", "Item": item("a")}) == []


def test_a_table_without_a_sort_key_is_restored() -> None:
    recorder = Recorder()
    table = recorder.dynamodb.create_table(TABLE, sort_key=None)
    writes = recorder.tables.prepare("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "p"}}}, *SCOPE)
    table["items"] = {"p": {"__no_sort__": {"pk": {"S": "p"}}}}
    recorder.define()
    recorder.records.append(recorder.tables.effects(writes) or b"")
    assert restored(recorder.records) == {"__no_sort__": {"pk": {"S": "p"}}}


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.text(max_size=2)), max_size=3)))
def test_replaying_the_effects_gives_the_table(requests: list[list[tuple[str, str | None]]]) -> None:
    recorder = Recorder()
    table = recorder.dynamodb.create_table(TABLE)
    recorder.define()
    for request in requests:
        effects = dict(request)
        recorder.write(*((sort, None if value is None else item(sort, value)) for sort, value in effects.items()))
    assert restored(recorder.records) == table["items"].get("p", {})


def test_replaying_effects_that_a_snapshot_has_changes_nothing(recorder: Recorder) -> None:
    recorder.write(("a", item("a")), ("b", item("b")))
    recorder.write(("a", None), ("b", item("b", "new")))
    snapshot = [recorder.tables.definitions(), *recorder.tables.snapshot()]
    assert restored([*snapshot, *recorder.records]) == {"b": item("b", "new")}


def test_a_request_without_effect_has_no_record(recorder: Recorder) -> None:
    writes = recorder.tables.prepare("PutItem", {"TableName": TABLE, "Item": item("a")}, *SCOPE)
    assert recorder.tables.effects(writes) is None


def test_undone_writes_leave_the_items_and_no_token(recorder: Recorder) -> None:
    recorder.write(("a", item("a")), ("b", item("b")))
    request = {"TransactItems": [{"Put": {"TableName": TABLE, "Item": item(sort)}} for sort in "abc"]}
    writes = recorder.tables.prepare("TransactWriteItems", request, *SCOPE)
    recorder.dynamodb._txn_idempotency.set_scoped(*SCOPE, "token", {})
    for sort, stored in (("a", item("a", "new")), ("b", None), ("c", item("c"))):
        recorder.apply(sort, stored)
    recorder.tables.undo(writes, "token")
    table = recorder.dynamodb._tables.get_scoped(*SCOPE, TABLE)
    assert (table["items"]["p"], recorder.dynamodb._txn_idempotency.data) == ({"a": item("a"), "b": item("b")}, {})


def test_a_new_table_is_defined_before_its_first_item(recorder: Recorder) -> None:
    recorder.write(("a", item("a")))
    assert restored(recorder.records) == {"a": item("a")}


def test_a_table_that_was_created_again_starts_empty(recorder: Recorder) -> None:
    recorder.write(("a", item("a")))
    recorder.dynamodb.create_table(TABLE)
    recorder.write(("b", item("b")))
    assert restored(recorder.records) == {"b": item("b")}


def test_a_restored_table_can_be_created_again(recorder: Recorder) -> None:
    recorder.write(("a", item("a")))
    later = Recorder()
    later.tables.restore(recorder.records)
    later.dynamodb.create_table(TABLE)
    later.write(("b", item("b")))
    assert restored([*recorder.records, *later.records]) == {"b": item("b")}


def test_a_deleted_table_is_not_restored(recorder: Recorder) -> None:
    recorder.write(("a", item("a")))
    recorder.dynamodb._tables.data.clear()
    recorder.define()
    dynamodb = DynamoDB()
    Tables(dynamodb, Persistence, Persistence).restore(recorder.records)
    assert dynamodb._tables.all_items() == []


def test_a_large_snapshot_has_many_records(recorder: Recorder) -> None:
    for partition in range(500):
        recorder.dynamodb._set_item(recorder.dynamodb._tables.get_scoped(*SCOPE, TABLE), f"{partition}", "a", item("a"))
    assert len(list(recorder.tables.snapshot())) == 3
