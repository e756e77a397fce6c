"""Transactions that DynamoDB cancels only because others are writing the same items."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

from cupel_core.store.table import connection


@contextmanager
def conflicting_transactions() -> Iterator[None]:
    def conflict(**_: Any) -> tuple[Any, dict[str, Any]]:
        error = {"Code": "TransactionCanceledException", "Message": "Transaction cancelled"}
        return Mock(status_code=400), {"Error": error, "CancellationReasons": [{"Code": "TransactionConflict"}]}

    events, write = connection().client.meta.events, "before-call.dynamodb.TransactWriteItems"
    events.register(write, conflict)
    try:
        yield
    finally:
        events.unregister(write, conflict)
