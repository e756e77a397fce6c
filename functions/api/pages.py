"""Responses within Lambda's limit of 6 MB: a page ends before it, and of a single record the longest texts are cut.

A page may have fewer items than its limit, even none, and still a `nextCursor`.
"""

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from api.rendering import Rendered, render_model
from cupel_core.base.errors import TooLarge
from cupel_core.base.paging import Entry, Page, fill_page
from cupel_core.contract.common import ResponseModel

MAX_PAGE_BYTES = 5_000_000
"""Of the items of a page, as Lambda sends them: the response's JSON is a string in the function's JSON."""
_MIN_TEXT_LENGTH = 1_000


def bounded_page[P: ResponseModel, T, R: ResponseModel](
    _page: type[P], entries: Iterable[Entry[T]], limit: int, render: Callable[[T], R]
) -> Rendered[P]:
    """A page of rendered items, at least one of which it has. Reads no more entries than it needs."""
    page = _fill(entries, limit, render)
    return Rendered(b'{"items":[%b],"nextCursor":%b}' % (b",".join(page.items), orjson.dumps(page.next_cursor)))


def bounded_range[P: ResponseModel, T, R: ResponseModel](
    _page: type[P], entries: Iterable[Entry[T]], limit: int, render: Callable[[T], R]
) -> Rendered[P]:
    """The same of a list that is read by index, from any index on: the cursors of its entries are indexes."""
    page = _fill(entries, limit, render)
    following = None if page.next_cursor is None else int(page.next_cursor)
    return Rendered(b'{"items":[%b],"nextIndex":%b}' % (b",".join(page.items), orjson.dumps(following)))


def _fill[T, R: ResponseModel](entries: Iterable[Entry[T]], limit: int, render: Callable[[T], R]) -> Page[bytes]:
    rendered = (entry.map(lambda item: _bounded(render(item))) for entry in entries)
    return fill_page(rendered, limit, payload_bytes, MAX_PAGE_BYTES)


def bounded_record[R: ResponseModel](record: R) -> Rendered[R]:
    """The record; if it alone exceeds MAX_PAGE_BYTES, with its longest texts cut to the same length."""
    return Rendered(_bounded(record))


def _bounded(record: ResponseModel) -> bytes:
    json = render_model(record)
    return json if payload_bytes(json) <= MAX_PAGE_BYTES else bounded_json(orjson.loads(json))


def bounded_json(content: Any) -> bytes:
    """The JSON; if it alone exceeds MAX_PAGE_BYTES, with its longest texts cut to the same length."""
    json, length = orjson.dumps(content), MAX_PAGE_BYTES // 2
    while payload_bytes(json) > MAX_PAGE_BYTES:
        if length < _MIN_TEXT_LENGTH:
            raise TooLarge("this record is too large for a response")
        json = orjson.dumps(_cut_texts(content, length))
        length //= 2
    return json


def payload_bytes(json: bytes) -> int:
    """Quotes and backslashes of the response's JSON are escaped once more where it becomes a JSON string."""
    return len(json) + json.count(b'"') + json.count(b"\\")


def _cut_texts(value: Any, length: int) -> Any:
    if isinstance(value, str) and len(value) > length:
        return f"{value[:length]}… [cut: {len(value):,} characters]"
    if isinstance(value, dict):
        return {name: _cut_texts(each, length) for name, each in value.items()}
    return [_cut_texts(each, length) for each in value] if isinstance(value, list) else value
