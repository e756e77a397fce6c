"""A meter in front of moto's table and queues."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from bench.metering import Meter
from cupel_core.settings import Settings

pytestmark = pytest.mark.usefixtures("cloud")

KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


@pytest.fixture
def metered(cloud: Settings) -> Iterator[tuple[Meter, Any, Any]]:
    meter = Meter(boto3.client("dynamodb").get_item)
    dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")
    with meter.before(dynamodb, sqs):
        yield meter, dynamodb, sqs


def item(size: int) -> dict[str, Any]:
    return {**KEY, "text": {"S": "x" * (size - 10)}}  # the names and keys are 10 bytes


def test_a_put_takes_the_units_of_the_larger_item(cloud: Settings, metered: tuple[Meter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    dynamodb.put_item(TableName=cloud.table_name, Item=item(2_000))
    assert meter.counts["dynamodb_write_units"] == 2
    dynamodb.put_item(TableName=cloud.table_name, Item=item(100))
    assert meter.counts["dynamodb_write_units"] == 4


def test_a_transaction_takes_twice_the_units(cloud: Settings, metered: tuple[Meter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    dynamodb.transact_write_items(TransactItems=[{"Put": {"TableName": cloud.table_name, "Item": item(1_025)}}])
    assert meter.counts["dynamodb_write_units"] == 4


def test_a_refused_write_takes_units_too(cloud: Settings, metered: tuple[Meter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.put_item(TableName=cloud.table_name, Item=item(100), ConditionExpression="attribute_exists(pk)")
    assert meter.counts["dynamodb_write_units"] == 1


def test_an_item_in_the_index_is_written_twice(cloud: Settings, metered: tuple[Meter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    indexed = {**item(100), "gsi1pk": {"S": "c"}, "gsi1sk": {"S": "d"}}
    dynamodb.put_item(TableName=cloud.table_name, Item=indexed)
    assert meter.counts["dynamodb_write_units"] == 2


def test_a_weak_read_takes_half_a_unit(cloud: Settings, metered: tuple[Meter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    dynamodb.get_item(TableName=cloud.table_name, Key=KEY)
    assert meter.counts["dynamodb_read_units"] == 0.5
    dynamodb.get_item(TableName=cloud.table_name, Key=KEY, ConsistentRead=True)
    assert meter.counts["dynamodb_read_units"] == 1.5


def test_a_batch_of_messages_is_one_request_for_each_64_kilobytes(
    cloud: Settings, metered: tuple[Meter, Any, Any]
) -> None:
    meter, _, sqs = metered
    for size, requests in ((10, 1), (7_000, 3)):
        entries = [{"Id": str(number), "MessageBody": "x" * size} for number in range(10)]
        sqs.send_message_batch(QueueUrl=cloud.dispatch_queue_url, Entries=entries)
        assert meter.counts["sqs_requests"] == requests
    assert meter.calls["sqs.SendMessageBatch"] == 2
