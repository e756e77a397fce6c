"""The base of all PynamoDB models of the table. Only the modules of `store` import it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from botocore.exceptions import ClientError
from botocore.session import Session
from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.connection import Connection, TableConnection
from pynamodb.exceptions import PynamoDBException, TransactWriteError, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from cupel_core.store import clients
from cupel_core.store.settings import settings


class _TableNameFromSettings(type):
    """A metaclass that reads the table's name when it is used, so that importing a model needs no environment."""

    @property
    def table_name(cls) -> str:
        return settings().table_name


class CreationIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """The index gsi1: what a workspace lists, sorted by creation time."""

    class Meta:
        index_name = "gsi1"
        projection = AllProjection()

    gsi1pk = UnicodeAttribute(hash_key=True)
    gsi1sk = UnicodeAttribute(range_key=True)


class Item(Model):
    """The keys of every item. Models derive from this class and it is not used itself, as they would inherit its
    connection."""

    class Meta(metaclass=_TableNameFromSettings):
        pass

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)

    @classmethod
    def _get_connection(cls) -> TableConnection:
        """Return a connection with the client that all models share. PynamoDB would create one for each."""
        table = super()._get_connection()
        table.connection._client = connection().client
        return table


class ExtraWrite(NamedTuple):
    """An item to write in the same transaction as a change, on its own condition."""

    item: Item
    condition: Condition


class RevisedItem(Item):
    """An item with named fields that are changed one by one, and a count of the changes."""

    revision = NumberAttribute(null=True)

    def change(self, changes: Mapping[str, Any], read_revision: int | None = None) -> bool:
        """Set the named fields; None removes one. Concurrent changes of other fields do not conflict. With
        `read_revision`, return False and change nothing if that is no longer the revision."""
        if not changes:
            return True
        kind = type(self)
        actions: list[Action] = [kind.revision.add(1)]
        for name, value in changes.items():
            attribute = getattr(kind, name)
            actions.append(attribute.remove() if value is None else attribute.set(value))
        if read_revision is None:
            self.update(actions=actions)
            return True
        is_read = kind.revision == read_revision if read_revision else kind.revision.does_not_exist()
        return updated(self, actions, is_read)


class _SharedConnection(Connection):
    @property
    def session(self) -> Session:
        return clients.session()


@cache
def connection() -> Connection:
    shared = _SharedConnection(max_pool_connections=clients.MAX_POOL_CONNECTIONS)
    with clients.CREATION:
        shared.client  # noqa: B018 - creates it
    return shared


class ConditionalTransaction(TransactWrite):
    """A transaction that is not committed if a condition is not met. `is_committed` says so after the block. It raises
    if it was cancelled only by concurrent writes of the same items, because its conditions are then unknown."""

    is_committed = False

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        try:
            super().__exit__(exc_type, exc_val, exc_tb)  # type: ignore[no-untyped-call]
        except TransactWriteError as error:
            if error_code(error) != "TransactionCanceledException" or clients.is_transient(error):
                raise
        else:
            self.is_committed = exc_type is None


def conditional_transaction() -> ConditionalTransaction:
    return ConditionalTransaction(connection=connection())


def updated(item: Item, actions: Sequence[Action], condition: Condition) -> bool:
    """Update an item. Return False if the condition was not met."""
    try:
        item.update(actions=list(actions), condition=condition)
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return False
    return True


def error_code(error: PynamoDBException) -> str | None:
    """Return DynamoDB's error code for a refused call, or None if there was no response. PynamoDB's own property raises
    in that case."""
    return error.cause_response_code if isinstance(error.cause, ClientError) else None
