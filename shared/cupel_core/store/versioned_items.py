"""Items that many workers rewrite with optimistic locking: each write requires the version that was read.

DynamoDB allows 1,000 write units per second and partition, and charges one for each KB of the whole item, even when the
condition fails. A token identifies a write, so that a retry after a lost response recognizes its own.
"""

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import orjson

from cupel_core.base.errors import RetryableError
from cupel_core.store.clients import dynamodb
from cupel_core.store.settings import settings

_MAX_ATTEMPTS = 20
"""If n workers write at the same time, the last one is rejected n - 1 times."""


class Versioned[T](NamedTuple):
    """A value as last read or written. `version` is 0 if it is not stored yet."""

    value: T
    version: int = 0
    token: str = ""


class Codec[T](Protocol):
    """The way in which a value is stored. A value that is not stored yet has the default."""

    name: str

    def default(self) -> T: ...

    def encode(self, value: T) -> dict[str, Any]: ...

    def decode(self, body: dict[str, Any]) -> T: ...


def change[T](
    key: dict[str, Any], codec: Codec[T], change_value: Callable[[T], T], last: Versioned[T] | None = None
) -> Versioned[T]:
    """Apply `change_value` to the current value. If another worker wrote first, apply it again to that worker's value.
    `last` is what this worker wrote last. It saves a read if no other worker has written since."""
    token = uuid.uuid4().hex
    current = last or read(key, codec)
    for _ in range(_MAX_ATTEMPTS):
        changed = Versioned(change_value(current.value), current.version + 1, token)
        if changed.value == current.value:
            return current
        newer = _write(key, codec, changed)
        if newer is None or newer.token == token:
            return changed
        current = newer
    raise RetryableError(f"{codec.name} is being changed by other workers; try again")


def read[T](key: dict[str, Any], codec: Codec[T]) -> Versioned[T]:
    response = dynamodb().get_item(TableName=settings().table_name, Key=key, ConsistentRead=True)
    return from_item(response.get("Item"), codec)


def _write[T](key: dict[str, Any], codec: Codec[T], changed: Versioned[T]) -> Versioned[T] | None:
    """Write a value. Return None if it was written, else the stored value. A retry after a lost response finds its own
    token there."""
    client = dynamodb()
    try:
        client.put_item(
            TableName=settings().table_name,
            Item={
                **key,
                "version": {"N": str(changed.version)},
                "token": {"S": changed.token},
                "body": {"S": orjson.dumps(codec.encode(changed.value)).decode()},
            },
            ConditionExpression="attribute_not_exists(pk) OR version = :before",
            ExpressionAttributeValues={":before": {"N": str(changed.version - 1)}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        item = error.response.get("Item")
        return from_item(item, codec) if item else read(key, codec)
    return None


def from_item[T](item: Any, codec: Codec[T]) -> Versioned[T]:
    if not item:
        return Versioned(codec.default())
    return Versioned(codec.decode(orjson.loads(item["body"]["S"])), int(item["version"]["N"]), item["token"]["S"])
