"""The table of the simulator answers as DynamoDB does: the same requests to it and to moto have the same answers."""

from random import Random
from typing import Any

import pytest

from cupel_core.settings import Settings
from cupel_core.store import clients
from tests.simulation.services import Refused
from tests.simulation.table import Table

type Step = tuple[str, dict[str, Any]]

KEY = {"pk": {"S": "p"}, "sk": {"S": "1"}}
OTHER = {"pk": {"S": "p"}, "sk": {"S": "2"}}
ONE, TWO = {":v": {"N": "1"}}, {":v": {"N": "2"}}
NAMES = {"#a": "a"}


def put(item: dict[str, Any], **more: Any) -> Step:
    return "PutItem", {"Item": item, **more}


def update(expression: str, values: dict[str, Any] | None = None, **more: Any) -> Step:
    request = {"Key": KEY, "UpdateExpression": expression, "ReturnValues": "ALL_NEW", **more}
    return "UpdateItem", request | ({"ExpressionAttributeValues": values} if values else {})


def transact(*writes: dict[str, Any]) -> Step:
    return "TransactWriteItems", {"TransactItems": list(writes)}


def get(**more: Any) -> Step:
    return "GetItem", {"Key": KEY, "ConsistentRead": True, **more}


def query(condition: str, values: dict[str, Any], **more: Any) -> Step:
    request = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values, "ConsistentRead": True}
    return "Query", request | more


OCCUPIED = put({**KEY, "a": {"N": "1"}, "s": {"NS": ["1", "2"]}})
CASES: dict[str, list[Step]] = {
    "a put under a condition that fails": [
        OCCUPIED,
        put(KEY, ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        get(),
    ],
    "a put under a condition that holds": [
        OCCUPIED,
        put(
            {**KEY, "a": {"N": "2"}},
            ConditionExpression="attribute_not_exists(pk) OR (#a = :v AND NOT a > :v)",
            ExpressionAttributeNames=NAMES,
            ExpressionAttributeValues=ONE,
        ),
        get(),
    ],
    "an addition to a set": [OCCUPIED, update("ADD s :v", {":v": {"NS": ["2", "3"]}}), get()],
    "an addition to an item that is not there": [update("ADD s :v, n :w", {":v": {"NS": ["2"]}, ":w": {"N": "3"}})],
    "the last member taken out of a set": [OCCUPIED, update("DELETE s :v", {":v": {"NS": ["1", "2"]}}), get()],
    "a member taken out with another attribute set": [
        OCCUPIED,
        update("DELETE s :s SET a = a + :v REMOVE b", {":s": {"NS": ["1"]}, **TWO}),
    ],
    "an update that answers what it touched": [
        OCCUPIED,
        update("ADD s :v", {":v": {"NS": ["9"]}}, ReturnValues="UPDATED_NEW"),
    ],
    "an attribute with a name of its own": [
        update("SET #c = :v", {":v": {"M": {"until": {"N": "1.5"}}}}, ExpressionAttributeNames={"#c": "claim:x:0"}),
        update("REMOVE #c", ExpressionAttributeNames={"#c": "claim:x:0"}),
    ],
    "a transaction that fails as a whole": [
        OCCUPIED,
        transact(
            {"Put": {"Item": OTHER}},
            {
                "Put": {
                    "Item": KEY,
                    "ConditionExpression": "attribute_not_exists(pk)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
        ),
        query("pk = :p", {":p": {"S": "p"}}),
    ],
    "a transaction that is carried out": [
        OCCUPIED,
        transact(
            {"Put": {"Item": OTHER}},
            {"Update": {"Key": KEY, "UpdateExpression": "SET a = :v", "ExpressionAttributeValues": TWO}},
        ),
        query("pk = :p", {":p": {"S": "p"}}),
    ],
    "a query of a range with a filter": [
        OCCUPIED,
        put(OTHER),
        query(
            "pk = :p AND sk BETWEEN :a AND :b",
            {":p": {"S": "p"}, ":a": {"S": "1"}, ":b": {"S": "2"}, ":n": {"N": "0"}},
            FilterExpression="a > :n",
        ),
    ],
    "a query backwards": [OCCUPIED, put(OTHER), query("pk = :p", {":p": {"S": "p"}}, ScanIndexForward=False)],
    "a read of some attributes": [OCCUPIED, get(ProjectionExpression="sk, a")],
    "a deletion": [OCCUPIED, ("DeleteItem", {"Key": KEY}), get()],
}


class _Never(Random):
    """Draws what leaves pages whole."""

    def random(self) -> float:
        return 0.5


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_requests_are_answered_as_by_dynamodb(cloud: Settings, steps: list[Step]) -> None:
    table = Table(lambda: 0.0, _Never())
    for operation, request in steps:
        assert _ours(table, operation, request) == _theirs(cloud.table_name, operation, request)


def _ours(table: Table, operation: str, request: dict[str, Any]) -> Any:
    try:
        if operation == "TransactWriteItems":
            return table.commit(request, table.begin(request) or [])
        return _comparable(table.execute(operation, request))
    except Refused as refusal:
        return refusal.code, _reasons(refusal.more)


def _theirs(name: str, operation: str, request: dict[str, Any]) -> Any:
    client = clients.dynamodb()
    if operation == "TransactWriteItems":
        writes = [{kind: _named(name, body) for kind, body in write.items()} for write in request["TransactItems"]]
        request = {"TransactItems": writes}
    else:
        request = _named(name, request)
    try:
        answer = client._make_api_call(operation, request)
    except client.exceptions.ClientError as error:
        return error.response["Error"]["Code"], _reasons(error.response)
    return _comparable({name: value for name, value in answer.items() if name not in _META})


_META = ("ResponseMetadata", "ConsumedCapacity", "ItemCollectionMetrics")


def _named(name: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": name, **body}


def _comparable(answer: Any) -> Any:
    """Sets have no order."""
    if isinstance(answer, dict):
        return {name: sorted(value) if name in ("NS", "SS") else _comparable(value) for name, value in answer.items()}
    return [_comparable(each) for each in answer] if isinstance(answer, list) else answer


def _reasons(more: dict[str, Any]) -> Any:
    reasons = more.get("CancellationReasons", [])
    return [(reason.get("Code"), _comparable(reason.get("Item"))) for reason in reasons], _comparable(more.get("Item"))
