"""Parses untrusted JSON within limits; the result is plain JSON."""

import json
from itertools import count
from math import isfinite
from typing import Any, NoReturn

MAX_DEPTH = 60
MAX_NODES = 500_000
"""A repeated YAML alias counts each time: with aliases, a kilobyte can expand to a terabyte."""

_MAX_KEY = 40


class InvalidDocument(ValueError):
    """An import file cannot be read; the message tells its author what to change."""


def from_json(text: str, name: str, *, refuse_duplicates: bool = False) -> Any:
    """Parse JSON; `name` identifies the text in errors. Raises `InvalidDocument`.

    If a key occurs twice, the last value counts, as in JavaScript, unless duplicates are refused.
    """
    pairs_hook = without_duplicates if refuse_duplicates else None
    try:
        parsed = json.loads(
            text.removeprefix("\N{BYTE ORDER MARK}"), parse_constant=_refuse_constant, object_pairs_hook=pairs_hook
        )
        return to_plain_json(parsed, name)
    except json.JSONDecodeError as error:
        raise InvalidDocument(f"{name} is not valid JSON at line {error_line(error):,}: {error.msg}") from None
    except RecursionError:
        raise InvalidDocument(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise InvalidDocument(f"{name}: {error}") from None


def error_line(error: json.JSONDecodeError) -> int:
    """Return the line of an error. In a text that was cut off, this is the last line, not an empty one behind it."""
    return error.doc.count("\n", 0, min(error.pos, len(error.doc.rstrip()))) + 1


def from_jsonl(text: str, name: str) -> list[tuple[int, Any]]:
    """Return the value of each line that is not blank, with its line number (from 1). Raises `InvalidDocument`."""
    lines = enumerate(text.removeprefix("\N{BYTE ORDER MARK}").split("\n"), start=1)
    return [(number, from_json(line, f"{name} line {number}")) for number, line in lines if line.strip()]


def to_json(value: Any, indent: int | None = None) -> str:
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)


def to_plain_json(value: Any, name: str) -> Any:
    """Return a copy as plain JSON: keys are strings, and 1.0 becomes 1 as in JavaScript.

    Raises `InvalidDocument` for other values and beyond the limits of size and depth.
    """
    nodes = count(1)

    def copy(item: Any, depth: int) -> Any:
        if depth > MAX_DEPTH or next(nodes) > MAX_NODES:
            raise InvalidDocument(f"{name} is too large or nested too deeply")
        match item:
            case dict():
                return {_text(_key(key), name): copy(part, depth + 1) for key, part in item.items()}
            case list():
                return [copy(part, depth + 1) for part in item]
            case float() if isfinite(item):
                return int(item) if item.is_integer() and abs(item) < 2**53 else item
            case str():
                return _text(item, name)
            case None | bool() | int():
                return item
        raise InvalidDocument(f"{name} contains a value that JSON does not support: {str(item)[:40]}")

    return copy(value, 0)


def _text(text: str, name: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidDocument(f"{name} contains an unpaired surrogate") from None
    return text


def _key(key: object) -> str:
    match key:
        case str():
            return key
        case None | bool() | int() | float():
            return to_json(key)
    raise InvalidDocument(f"the key {str(key)[:_MAX_KEY]} is not a string")


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object, as a hook of Python's parser. Raises ValueError for a key that occurs twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for number, key in enumerate(keys) if key in keys[:number])
        raise ValueError(f"the key {twice[:_MAX_KEY]} occurs twice, and one of its values would be lost")
    return data


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
