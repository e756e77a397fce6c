"""Converts arguments for the capabilities. The contract's models validate inputs, as they validate bodies of REST."""

from collections.abc import Iterable, Iterator
from typing import Any, Never

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.paging import MAX_LIMIT, Entry, Page
from cupel_core.domain.text.json_limits import EXACT_INTEGERS
from cupel_core.interfaces.gateway.validation import parse as parse

MAX_OFFSET = 1_000
"""People and models read first pages with an offset; connections read further pages."""
_MAX_TEXT_LENGTH = 1_024
_MAX_POSITION = 200
_CURSOR = "must be the endCursor of an earlier page of the same list"


def whole_numbers(value: Any) -> Any:
    """Return the input with integers for whole numbers, because GraphQL reads large ones as `Float`.

    Numbers that a float does not represent exactly stay floats, which JSON can store.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT_INTEGERS:
        return int(value)
    if isinstance(value, dict):
        return {name: whole_numbers(each) for name, each in value.items()}
    return [whole_numbers(each) for each in value] if isinstance(value, list) else value


def check_position(position: int | None, name: str) -> int:
    if position is None or not 0 <= position <= _MAX_POSITION:
        _refuse(name, f"must be from 0 to {_MAX_POSITION}")
    return position


def check_limit(limit: int | None, name: str = "limit") -> int:
    if limit is None or not 1 <= limit <= MAX_LIMIT:
        _refuse(name, f"must be from 1 to {MAX_LIMIT}")
    return limit


def check_offset(offset: int | None) -> int:
    if offset is None or not 0 <= offset <= MAX_OFFSET:
        _refuse("offset", f"must be from 0 to {MAX_OFFSET}; connections read on with `after`")
    return offset


def check_version(version: int | None) -> int | None:
    if version is not None and version < 1:
        _refuse("version", "must be at least 1")
    return version


def check_cursor(cursor: str | None) -> str | None:
    if cursor is not None and len(cursor) > _MAX_TEXT_LENGTH:
        _refuse("after", _CURSOR)
    return cursor


def as_argument(refusal: Invalid) -> Invalid:
    """Rename errors of `cursor`, as REST calls it, to the argument `after`."""
    if all(each.field != "cursor" for each in refusal.errors):
        return refusal
    return Invalid.fields(FieldError("after", _CURSOR) if each.field == "cursor" else each for each in refusal.errors)


def _refuse(field: str, message: str) -> Never:
    raise Invalid.field(field, message)


def connection(page: Page[Any]) -> dict[str, Any]:
    return {
        "nodes": list(page.items),
        "pageInfo": {"endCursor": page.next_cursor, "hasNextPage": page.next_cursor is not None},
    }


def items[T](entries: Iterable[Entry[T]]) -> Iterator[T]:
    for entry in entries:
        if entry.item is None:
            return
        yield entry.item
