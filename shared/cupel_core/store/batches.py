import time
from collections.abc import Iterable, Iterator
from itertools import batched
from typing import Any

from cupel_core.base.errors import RetryableError
from cupel_core.store.clients import dynamodb
from cupel_core.store.settings import settings

_MAX_BATCH_SIZE = 100
_MAX_WRITES = 25
_MAX_ATTEMPTS = 6
_BACKOFF_SECONDS = 0.05
"""The wait before repeating writes that DynamoDB left unprocessed because it was throttling."""


def get_batch(keys: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the existing items in any order, a hundred per request, lazily. The reads are strongly consistent."""
    table = settings().table_name
    for batch in batched(keys, _MAX_BATCH_SIZE):
        missing: list[Any] = list(batch)
        while missing:
            request: Any = {table: {"Keys": missing, "ConsistentRead": True}}
            response: Any = dynamodb().batch_get_item(RequestItems=request)
            yield from response["Responses"].get(table, [])
            missing = response.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])


def query(condition: str, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the items whose keys meet the condition, by sort key, lazily. The reads are strongly consistent."""
    pages = (
        dynamodb()
        .get_paginator("query")
        .paginate(
            TableName=settings().table_name,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ConsistentRead=True,
        )
    )
    for page in pages:
        yield from page["Items"]


def put_batch(items: Iterable[dict[str, Any]]) -> None:
    """Write items, replacing those with the same keys. After an error, some of them may be written."""
    table = settings().table_name
    for batch in batched(items, _MAX_WRITES):
        writes: list[Any] = [{"PutRequest": {"Item": item}} for item in batch]
        for attempt in range(_MAX_ATTEMPTS):
            response: Any = dynamodb().batch_write_item(RequestItems={table: writes})
            writes = response.get("UnprocessedItems", {}).get(table, [])
            if not writes:
                break
            time.sleep(_BACKOFF_SECONDS * 2**attempt)
        else:
            raise RetryableError(f"the table did not accept {len(writes)} writes; try again")
