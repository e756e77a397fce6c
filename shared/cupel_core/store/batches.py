"""Reads of many items by their keys."""

from collections.abc import Iterable, Iterator
from itertools import batched
from typing import Any

from cupel_core.settings import settings
from cupel_core.store.clients import dynamodb

_MAX_BATCH_SIZE = 100


def get_batch(
    keys: Iterable[dict[str, Any]], projection: str | None = None, *, consistent: bool = True
) -> Iterator[dict[str, Any]]:
    """The items with these keys that exist, in any order; read lazily, a hundred at a time."""
    options: dict[str, Any] = {"ConsistentRead": consistent}
    if projection is not None:
        options["ProjectionExpression"] = projection
    table = settings().table_name
    for batch in batched(keys, _MAX_BATCH_SIZE):
        missing: list[Any] = list(batch)
        while missing:
            request: Any = {table: {"Keys": missing, **options}}
            response: Any = dynamodb().batch_get_item(RequestItems=request)
            yield from response["Responses"].get(table, [])
            missing = response.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
