"""What the tests change in moto answers as moto does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from cupel_core.store import clients
from cupel_core.store.settings import Settings


def test_a_cancelled_transaction_changes_nothing(cloud: Settings) -> None:
    database = clients.dynamodb()
    existing = {"pk": {"S": "A"}, "sk": {"S": "1"}, "nested": {"M": {"n": {"N": "1"}}}}
    other = {"pk": {"S": "A"}, "sk": {"S": "2"}}
    for item in (existing, other):
        database.put_item(TableName=cloud.table_name, Item=item)
    key = {"pk": existing["pk"], "sk": existing["sk"]}
    writes = (
        {
            "Update": {
                "Key": key,
                "UpdateExpression": "SET nested.n = :n",
                "ExpressionAttributeValues": {":n": {"N": "2"}},
            }
        },
        {"Put": {"Item": {"pk": {"S": "B"}, "sk": {"S": "1"}}}},
        {"Put": {"Item": {"pk": {"S": "A"}, "sk": {"S": "3"}}}},
        {"Delete": {"Key": other, "ConditionExpression": "attribute_not_exists(pk)"}},
    )
    named = [{kind: {**write, "TableName": cloud.table_name} for kind, write in each.items()} for each in writes]
    with pytest.raises(database.exceptions.TransactionCanceledException):
        database.transact_write_items(TransactItems=named)
    assert database.scan(TableName=cloud.table_name)["Items"] == [existing, other]


def test_a_call_is_answered_directly_as_it_is_over_http(cloud: Settings) -> None:
    database, table = clients.dynamodb(), {"TableName": cloud.table_name}
    texts: dict[str, Any] = {
        "text": {"S": "é"},
        "number": {"N": "1.50"},
        "flag": {"BOOL": False},
        "none": {"NULL": True},
    }
    parts = {**texts, "bytes": {"B": b"\x00\xff"}, "list": {"L": [{"S": ""}, {"M": {"B": {"N": "1"}}}]}}
    item: dict[str, Any] = {"pk": {"S": "A"}, "sk": {"S": "1"}, **parts, "map": {"M": parts}}
    key = {"pk": item["pk"], "sk": item["sk"]}
    is_new = "attribute_not_exists(pk)"
    values = {":n": {"N": "2"}, ":b": {"B": b"\x01"}}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("put_item", {**table, "Item": item, "ConditionExpression": is_new}),
        ("get_item", {**table, "Key": key, "ConsistentRead": True}),
        (
            "update_item",
            {
                **table,
                "Key": key,
                "UpdateExpression": "SET #n = :n, other = :b REMOVE flag",
                "ExpressionAttributeNames": {"#n": "number"},
                "ExpressionAttributeValues": values,
                "ReturnValues": "ALL_NEW",
            },
        ),
        ("put_item", {**table, "Item": item, "ConditionExpression": is_new}),
        (
            "query",
            {
                **table,
                "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": item["pk"]},
                "ReturnConsumedCapacity": "TOTAL",
                "Limit": 1,
            },
        ),
        ("scan", {**table, "Select": "COUNT"}),
        ("batch_get_item", {"RequestItems": {cloud.table_name: {"Keys": [key]}}}),
        ("transact_get_items", {"TransactItems": [{"Get": {**table, "Key": key}}]}),
        ("transact_write_items", {"TransactItems": [{"Put": {**table, "Item": item, "ConditionExpression": is_new}}]}),
        ("update_item", {**table, "Key": key, "UpdateExpression": "SET nothing.at.all = :n"}),
        ("get_item", {"TableName": "none", "Key": key}),
        ("get_item", {**table, "Key": {"pk": item["pk"]}}),
        ("get_item", {**table, "Keys": key}),
        ("delete_item", {**table, "Key": key, "ReturnValues": "ALL_OLD"}),
        ("get_item", {**table, "Key": key}),
    ]
    directly = [_outcome(database, *call) for call in calls]
    with _over_http(database):
        assert directly == [_outcome(database, *call) for call in calls]
    assert any("Items" in each for each in directly)


def _outcome(database: Any, method: str, arguments: dict[str, Any]) -> Any:
    try:
        answer = getattr(database, method)(**arguments)
    except ParamValidationError as error:
        return str(error)
    except ClientError as error:
        answer = {"type": type(error), "text": str(error), **error.response}
    return {**answer, "ResponseMetadata": answer["ResponseMetadata"]["HTTPStatusCode"]}


@contextmanager
def _over_http(client: Any) -> Iterator[None]:
    """What is registered for an event of a client makes its calls take the long way."""
    sent: list[str] = []

    def note(model: Any, **_: Any) -> None:
        sent.append(model.name)

    client.meta.events.register("before-call.dynamodb", note)
    yield
    client.meta.events.unregister("before-call.dynamodb", note)
    assert len(set(sent)) > 5
