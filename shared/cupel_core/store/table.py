"""What all PynamoDB models of the one table share. Import a model, not this."""

from functools import cache
from typing import Any

from botocore.exceptions import ClientError
from pynamodb.attributes import UnicodeAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import PynamoDBException
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from cupel_core.settings import settings


class _TableOfTheStack(type):
    """Reads the table's name when it is first used, so that importing a model needs no environment."""

    @property
    def table_name(cls) -> str:
        return settings().table_name


class Newest(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """gsi1: what a workspace lists, by the time it was created."""

    class Meta:
        index_name = "gsi1"
        projection = AllProjection()

    gsi1pk = UnicodeAttribute(hash_key=True)
    gsi1sk = UnicodeAttribute(range_key=True)


class Item(Model):
    """The keys every item has."""

    class Meta(metaclass=_TableOfTheStack):
        pass

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)


@cache
def connection() -> Connection:
    """For transactions; kept, because a new one makes a new client."""
    return Connection()


def code_of(error: PynamoDBException) -> str | None:
    """What DynamoDB refused a call with; None when no answer came (PynamoDB's own property raises then)."""
    return error.cause_response_code if isinstance(error.cause, ClientError) else None
