"""Results of tools within their size, so that a model never gets more than it can read.

A size is the number of bytes of the result as compact JSON.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson

from cupel_core.base.errors import TooLarge
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.contract.common import ResponseModel
from cupel_core.interfaces.mcp.cuts import cut_to_size, with_marked_maps
from cupel_core.interfaces.mcp.models import ListResult, ToolResult, UntrustedListResult
from cupel_core.interfaces.mcp.request import ToolRequest

_ENVELOPE_BYTES = 400
"""Of a list, around its items: the notice, the cursor."""


def list_result[T, R: ResponseModel, L: ToolResult](
    request: ToolRequest, model: Callable[..., L], entries: Iterable[Entry[T]], limit: int, render: Callable[[T], R]
) -> L:
    """The first items, as many as fit; reads no more entries than it needs."""
    items: list[R] = []
    room = request.max_result_bytes - _ENVELOPE_BYTES
    for entry in entries:
        if entry.item is None or len(items) == limit:
            return model(items=items, next_cursor=entry.cursor)
        item = render(entry.item)
        room -= 1 + len(orjson.dumps(dump(item)))
        if items and room < 0:
            return model(items=items, next_cursor=entry.cursor, truncated=True)
        items.append(item)
    return model(items=items)


def indexed_entries[T](items: Sequence[T], cursor: str | None) -> Iterator[Entry[T]]:
    """Of a list that is in memory as a whole."""
    for index in range(decode_index(cursor), len(items)):
        yield Entry(encode_cursor(str(index)), items[index])


def dump(model: ResponseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def fit(result: ToolResult, max_bytes: int) -> dict[str, Any]:
    """The result as JSON; if it is too large, with shorter lists, then texts and objects, and with what was cut.

    Raises TooLarge if that does not suffice.
    """
    content = dump(result)
    if len(orjson.dumps(content)) <= max_bytes:
        return content
    marked = with_marked_maps(result, content)
    # What a page loses could not be read on with.
    page = marked["items"] if isinstance(result, (ListResult, UntrustedListResult)) else None
    if (short := cut_to_size(marked, max_bytes, page)) is None:
        raise TooLarge("the result is too large for an answer; ask for less")
    return short
