"""Limits results of tools to their size, so that a model never gets more than it can read.

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
"""A list has this many bytes around its items: the notice and the cursor."""


def list_result[T, R: ResponseModel, L: ToolResult](
    request: ToolRequest, model: Callable[..., L], entries: Iterable[Entry[T]], limit: int, render: Callable[[T], R]
) -> L:
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
    for index in range(decode_index(cursor), len(items)):
        yield Entry(encode_cursor(str(index)), items[index])


def dump(model: ResponseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def fit(result: ToolResult, max_bytes: int) -> dict[str, Any]:
    content = with_marked_maps(result, dump(result))
    # Items cut from a page could not be read later.
    page = content["items"] if isinstance(result, (ListResult, UntrustedListResult)) else None
    return fit_content(content, max_bytes, page)


def fit_content(content: dict[str, Any], max_bytes: int, page: list[Any] | None) -> dict[str, Any]:
    """Return the content; if it is too large, with shorter lists, then texts and maps, and with the cuts.

    `page` is a list that loses no items. Raises TooLarge if that does not suffice.
    """
    if len(orjson.dumps(content)) <= max_bytes:
        return content
    if (short := cut_to_size(content, max_bytes, page)) is None:
        raise TooLarge("the result is too large for an answer; ask for less")
    return short
