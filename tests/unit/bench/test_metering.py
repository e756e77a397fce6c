"""The request meter, with moto's table and queues."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from bench.metering import RequestMeter
from cupel_core.store.settings import Settings

pytestmark = pytest.mark.usefixtures("cloud")

KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


@pytest.fixture
def metered(cloud: Settings) -> Iterator[tuple[RequestMeter, Any, Any]]:
    meter = RequestMeter(boto3.client("dynamodb").get_item)
    dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")
    with meter.attached(dynamodb, sqs):
        yield meter, dynamodb, sqs


def item(size: int) -> dict[str, Any]:
    return {**KEY, "text": {"S": "x" * (size - 10)}}  # names and keys take 10 bytes


def test_a_put_is_billed_for_the_larger_of_both_items(cloud: Settings, metered: tuple[RequestMeter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    dynamodb.put_item(TableName=cloud.table_name, Item=item(2_000))
    assert meter.counts["dynamodb_write_units"] == 2
    dynamodb.put_item(TableName=cloud.table_name, Item=item(100))
    assert meter.counts["dynamodb_write_units"] == 4


def test_a_transaction_is_billed_twice_the_units(cloud: Settings, metered: tuple[RequestMeter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    dynamodb.transact_write_items(TransactItems=[{"Put": {"TableName": cloud.table_name, "Item": item(1_025)}}])
    assert meter.counts["dynamodb_write_units"] == 4


def test_a_rejected_write_is_billed(cloud: Settings, metered: tuple[RequestMeter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.put_item(TableName=cloud.table_name, Item=item(100), ConditionExpression="attribute_exists(pk)")
    assert meter.counts["dynamodb_write_units"] == 1


def test_an_indexed_item_is_billed_twice(cloud: Settings, metered: tuple[RequestMeter, Any, Any]) -> None:
    meter, dynamodb, _ = metered
    indexed = {**item(100), "gsi1pk": {"S": "c"}, "gsi1sk": {"S": "d"}}
    dynamodb.put_item(TableName=cloud.table_name, Item=indexed)
    assert meter.counts["dynamodb_write_units"] == 2


def test_an_eventually_consistent_read_is_billed_half_a_unit(
    cloud: Settings, metered: tuple[RequestMeter, Any, Any]
) -> None:
    meter, dynamodb, _ = metered
    dynamodb.get_item(TableName=cloud.table_name, Key=KEY)
    assert meter.counts["dynamodb_read_units"] == 0.5
    dynamodb.get_item(TableName=cloud.table_name, Key=KEY, ConsistentRead=True)
    assert meter.counts["dynamodb_read_units"] == 1.5


def test_a_batch_of_messages_is_billed_per_64_kilobytes(
    cloud: Settings, metered: tuple[RequestMeter, Any, Any]
) -> None:
    meter, _, sqs = metered
    for size, requests in ((10, 1), (7_000, 3)):
        entries = [{"Id": str(number), "MessageBody": "x" * size} for number in range(10)]
        sqs.send_message_batch(QueueUrl=cloud.dispatch_queue_url, Entries=entries)
        assert meter.counts["sqs_requests"] == requests
    assert meter.calls["sqs.SendMessageBatch"] == 2
