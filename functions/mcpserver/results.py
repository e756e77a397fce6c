"""Results of tools within their size: cut at whole items, then texts, so that a model never gets more than it can read.

A size is the number of bytes of the result as compact JSON.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson

from cupel_core.contract.common import ResponseModel
from cupel_core.errors import TooLarge
from cupel_core.paging import Entry, decode_index, encode_cursor
from mcpserver.models import ListResult, ToolResult, UntrustedListResult
from mcpserver.request import ToolRequest

_ENVELOPE_BYTES = 400
"""Of a list, around its items: the notice, the cursor."""
_MIN_TEXT_LENGTH = 200
"""More than ids, times and the notice about untrusted texts have."""
_CUT = "… [cut]"


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
    """The result as JSON; if it is too large, without the last items of its largest lists, then with shorter texts.

    Raises TooLarge if that does not suffice.
    """
    content = dump(result)
    if _size(content) <= max_bytes:
        return content
    content["truncated"] = True
    # What a page loses could not be read on with.
    page = content["items"] if isinstance(result, (ListResult, UntrustedListResult)) else None
    while (excess := _size(content) - max_bytes) > 0:
        if not (_cut_list(content, page, excess) or _cut_texts(content)):
            raise TooLarge("the result is too large for an answer; ask for less")
    return content


def _size(value: Any) -> int:
    return len(orjson.dumps(value))


def _cut_list(content: dict[str, Any], page: list[Any] | None, excess: int) -> bool:
    """Whether items at the end of the largest list with several items were removed."""
    lists = [each for each in _lists(content) if len(each) > 1 and each is not page]
    if not lists:
        return False
    largest = max(lists, key=_size)
    removed = 0
    while len(largest) > 1 and removed < excess:
        removed += 1 + _size(largest.pop())
    return True


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    for each in _children(value):
        yield from _lists(each)


def _children(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _cut_texts(content: dict[str, Any]) -> bool:
    """Whether the longest texts were cut to the same length."""
    length = max(_text_lengths(content), default=0) // 2
    if length < _MIN_TEXT_LENGTH:
        return False
    content.update({name: _with_texts(value, length) for name, value in content.items()})
    return True


def _text_lengths(value: Any) -> Iterator[int]:
    if isinstance(value, str):
        yield len(value)
    for each in _children(value):
        yield from _text_lengths(each)


def _with_texts(value: Any, length: int) -> Any:
    if isinstance(value, str) and len(value) > length:
        return value[:length] + _CUT
    if isinstance(value, dict):
        return {name: _with_texts(each, length) for name, each in value.items()}
    return [_with_texts(each, length) for each in value] if isinstance(value, list) else value
