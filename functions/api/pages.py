"""Responses within Lambda's limit of 6 MB: a page ends before it, and of a single record the longest texts are cut."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from cupel_core.contract.common import ResponseModel
from cupel_core.errors import TooLarge
from cupel_core.paging import Entry, Page, fill_page

MAX_PAGE_BYTES = 5_000_000
"""Of the items of a page, as Lambda sends them: the response's JSON is a string in the function's JSON."""
_MIN_TEXT_LENGTH = 1_000


class _Sized[R](NamedTuple):
    record: R
    payload_bytes: int


def bounded_page[T, R: ResponseModel](entries: Iterable[Entry[T]], limit: int, render: Callable[[T], R]) -> Page[R]:
    """A page of rendered items, at least one of which it has. Reads no more entries than it needs."""
    rendered = (entry.map(lambda item: _bounded(render(item))) for entry in entries)
    page = fill_page(rendered, limit, lambda sized: sized.payload_bytes, MAX_PAGE_BYTES)
    return page.map(lambda sized: sized.record)


def bounded_record[R: ResponseModel](record: R) -> R:
    """The record; if it alone exceeds MAX_PAGE_BYTES, with its longest texts cut to the same length."""
    return _bounded(record).record


def _bounded[R: ResponseModel](record: R) -> _Sized[R]:
    size = _payload_bytes(record)
    if size <= MAX_PAGE_BYTES:
        return _Sized(record, size)
    content, length = record.model_dump(mode="json", by_alias=True), MAX_PAGE_BYTES // 2
    while length >= _MIN_TEXT_LENGTH:
        cut = type(record).model_validate(_cut_texts(content, length))
        if (size := _payload_bytes(cut)) <= MAX_PAGE_BYTES:
            return _Sized(cut, size)
        length //= 2
    raise TooLarge("this record is too large for a response")


def _payload_bytes(record: ResponseModel) -> int:
    """Quotes and backslashes of the response's JSON are escaped once more where it becomes a JSON string."""
    text = record.model_dump_json(by_alias=True)
    return len(text.encode()) + text.count('"') + text.count("\\")


def _cut_texts(value: Any, length: int) -> Any:
    if isinstance(value, str) and len(value) > length:
        return f"{value[:length]}… [cut: {len(value):,} characters]"
    if isinstance(value, dict):
        return {name: _cut_texts(each, length) for name, each in value.items()}
    return [_cut_texts(each, length) for each in value] if isinstance(value, list) else value
