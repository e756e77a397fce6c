"""Limits JSON values from outside to what every reader and store on the way can represent."""

from collections.abc import Iterable
from math import isfinite
from typing import NamedTuple

MAX_DEPTH = 20
EXACT_INTEGERS = 2**53
"""All JSON parsers represent whole numbers up to here exactly; they read larger ones as floats."""
_INTEGER_BOUND = 2**63
_MAX_PATH = 100


def json_limit_error(value: object, depth: int = MAX_DEPTH) -> str | None:
    """Return why a parsed JSON value is not accepted, and where its first problem is; None if it is accepted."""
    found = _problem(value, depth)
    if found is None:
        return None
    path = ".".join(found.path)[:_MAX_PATH]
    return f"{found.message}, as in {path}" if path else found.message


class _RefusedPart(NamedTuple):
    message: str
    path: tuple[str, ...] = ()


def _problem(value: object, depth: int) -> _RefusedPart | None:
    match value:
        case str():
            return None if _is_unicode(value) else _RefusedPart("must not contain unpaired surrogates")
        case int():
            is_short = -_INTEGER_BOUND <= value < _INTEGER_BOUND
            return None if is_short else _RefusedPart("must not contain integers of more than 64 bits")
        case float():
            return None if isfinite(value) else _RefusedPart("must not contain numbers that are not finite")
        case dict() | list() if depth == 0:
            return _RefusedPart(f"must not be nested deeper than {MAX_DEPTH}")
        case dict():
            return _problem_of_parts(value.items(), depth)
        case list():
            return _problem_of_parts(enumerate(value), depth)
    return None


def _problem_of_parts(parts: Iterable[tuple[object, object]], depth: int) -> _RefusedPart | None:
    """Return the first problem. A key is checked before it becomes a part of a path."""
    for key, part in parts:
        if found := _problem(key, depth - 1):
            return found
        if found := _problem(part, depth - 1):
            return found._replace(path=(str(key), *found.path))
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
