"""A cancelled transaction leaves every item as it was, though only the items it names are saved."""

import pytest

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
