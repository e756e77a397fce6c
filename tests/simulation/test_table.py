"""The simulator's table responds like DynamoDB: the same requests to it and to moto have the same responses."""

from random import Random
from typing import Any

import pytest

from cupel_core.store import clients
from cupel_core.store.settings import Settings
from tests.simulation.services import ServiceError
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
    "a put whose condition fails": [
        OCCUPIED,
        put(KEY, ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        get(),
    ],
    "a put whose condition is met": [
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
    "an addition to a missing item": [update("ADD s :v, n :w", {":v": {"NS": ["2"]}, ":w": {"N": "3"}})],
    "the last member removed from a set": [OCCUPIED, update("DELETE s :v", {":v": {"NS": ["1", "2"]}}), get()],
    "a member removed and another attribute set": [
        OCCUPIED,
        update("DELETE s :s SET a = a + :v REMOVE b", {":s": {"NS": ["1"]}, **TWO}),
    ],
    "an update that returns what it wrote": [
        OCCUPIED,
        update("ADD s :v", {":v": {"NS": ["9"]}}, ReturnValues="UPDATED_NEW"),
    ],
    "an attribute with a placeholder name": [
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
    "a transaction that succeeds": [
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
    "a query in reverse order": [OCCUPIED, put(OTHER), query("pk = :p", {":p": {"S": "p"}}, ScanIndexForward=False)],
    "a read of some attributes": [OCCUPIED, get(ProjectionExpression="sk, a")],
    "a deletion": [OCCUPIED, ("DeleteItem", {"Key": KEY}), get()],
}


class _FixedRandom(Random):
    """Its draws never split a page."""

    def random(self) -> float:
        return 0.5


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_responses_equal_those_of_dynamodb(cloud: Settings, steps: list[Step]) -> None:
    table = Table(lambda: 0.0, _FixedRandom())
    for operation, request in steps:
        assert _simulated(table, operation, request) == _expected(cloud.table_name, operation, request)


def _simulated(table: Table, operation: str, request: dict[str, Any]) -> Any:
    try:
        if operation == "TransactWriteItems":
            return table.commit(request, table.begin(request) or [])
        return _comparable(table.execute(operation, request))
    except ServiceError as error:
        return error.code, _reasons(error.fields)


def _expected(name: str, operation: str, request: dict[str, Any]) -> Any:
    client = clients.dynamodb()
    if operation == "TransactWriteItems":
        writes = [
            {kind: _with_table_name(name, body) for kind, body in write.items()} for write in request["TransactItems"]
        ]
        request = {"TransactItems": writes}
    else:
        request = _with_table_name(name, request)
    try:
        response = client._make_api_call(operation, request)
    except client.exceptions.ClientError as error:
        return error.response["Error"]["Code"], _reasons(error.response)
    return _comparable({name: value for name, value in response.items() if name not in _META})


_META = ("ResponseMetadata", "ConsumedCapacity", "ItemCollectionMetrics")


def _with_table_name(name: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": name, **body}


def _comparable(response: Any) -> Any:
    """With sets sorted, because they have no order."""
    if isinstance(response, dict):
        return {name: sorted(value) if name in ("NS", "SS") else _comparable(value) for name, value in response.items()}
    return [_comparable(each) for each in response] if isinstance(response, list) else response


def _reasons(fields: dict[str, Any]) -> Any:
    reasons = fields.get("CancellationReasons", [])
    return [(reason.get("Code"), _comparable(reason.get("Item"))) for reason in reasons], _comparable(
        fields.get("Item")
    )
