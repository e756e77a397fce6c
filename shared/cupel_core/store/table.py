"""The base of all PynamoDB models of the table. Only the modules of `store` import it."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from botocore.exceptions import ClientError
from pynamodb.attributes import UnicodeAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import PynamoDBException, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from cupel_core.settings import settings


class _TableNameFromSettings(type):
    """Reads the table's name when it is used, so that importing a model needs no environment."""

    @property
    def table_name(cls) -> str:
        return settings().table_name


class CreationIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """gsi1: what a workspace lists, sorted by creation time."""

    class Meta:
        index_name = "gsi1"
        projection = AllProjection()

    gsi1pk = UnicodeAttribute(hash_key=True)
    gsi1sk = UnicodeAttribute(range_key=True)


class Item(Model):
    """The keys every item has. Never used itself: its subclasses would inherit its connection, which has no index."""

    class Meta(metaclass=_TableNameFromSettings):
        pass

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)


@cache
def connection() -> Connection:
    """The connection for transactions; cached, because each new one creates a client."""
    return Connection()


def updated(item: Item, actions: Sequence[Action], condition: Condition) -> bool:
    """Update an item; False if the condition was not met."""
    try:
        item.update(actions=list(actions), condition=condition)
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return False
    return True


def error_code(error: PynamoDBException) -> str | None:
    """DynamoDB's error code for a refused call; None if there was no response (PynamoDB's own property raises then)."""
    return error.cause_response_code if isinstance(error.cause, ClientError) else None
