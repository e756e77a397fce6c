"""Rewords messages of the validation library like our own, which follow the name of their field."""

import re
from collections.abc import Mapping
from typing import Any

REQUIRED = "is required"
_REPLACEMENTS = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^Field required$"), REQUIRED),
    (re.compile(r"^Input should be a valid (dictionary|mapping)( or .*)?$"), "must be an object"),
    (re.compile(r"^Input should be a valid string$"), "must be text"),
    (re.compile(r"^Input should be a valid boolean.*"), "must be true or false"),
    (re.compile(r"^Input should be a valid integer.*"), "must be an integer"),
    (re.compile(r"^Input should be a valid (list|tuple|set)$"), "must be a list"),
    (re.compile(r"^Input should be a valid (\w+)$"), r"must be a \1"),
    (re.compile(r"^Input should be less than or equal to "), "must be at most "),
    (re.compile(r"^Input should be greater than or equal to "), "must be at least "),
    (re.compile(r"^Input should be "), "must be "),
    (re.compile(r"^Unable to extract tag using discriminator '(\w+)'$"), r"must have a \1"),
    (
        re.compile(
            r"^Input tag '(.{1,60}).*?' found using '(\w+)' does not match any of the expected tags: ", re.DOTALL
        ),
        r"has the unknown \2 '\1'; known are ",
    ),
    (re.compile(r"^String should match pattern '(.*)'$"), r"must match \1"),
    (re.compile(r"<\w+\.\w+: ('[^']*')>"), r"\1"),
    (re.compile(r"^\w+ should have (.*?)( after validation, not .*)?$"), r"must have \1"),
)


def of_missing(value: Any, error: str) -> str:
    """Say first that a missing value is required, and then what it must be."""
    return error if value is not None or error.startswith(REQUIRED) else f"{REQUIRED}, and {error}"


def field_message(message: str) -> str:
    """Convert `Input should be less than or equal to 2` to `must be at most 2`."""
    for pattern, replacement in _REPLACEMENTS:
        message = pattern.sub(replacement, message)
    return message


_MEMBER_TYPES = {"bool", "int", "float", "str"}


def without_union_members(path: tuple[str | int, ...], value: Any) -> tuple[str | int, ...]:
    """Return the path of a field in a value, without what pydantic adds for each member of a union, such as `bool`."""
    found: list[str | int] = []
    for part in path:
        if _is_union_member(part, value):
            continue
        found.append(part)
        value = _child(value, part)
    return tuple(found)


def _is_union_member(part: str | int, value: Any) -> bool:
    if not isinstance(part, str) or (isinstance(value, Mapping) and part in value):
        return False
    return part in _MEMBER_TYPES or (part.endswith("]") and not part.startswith("["))


def _child(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None
