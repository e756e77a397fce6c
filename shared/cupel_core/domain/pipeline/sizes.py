"""How large the values of operations are."""

from collections.abc import Mapping
from typing import Any

_SCALAR_LENGTH = 5
"""Of a number, a boolean or null."""


def value_length(value: Any) -> int:
    """About how many characters a JSON value has; exact for a text."""
    match value:
        case str():
            return len(value)
        case Mapping():
            return 2 + sum(len(name) + value_length(each) for name, each in value.items())
        case list() | tuple():
            return 2 + sum(map(value_length, value))
    return _SCALAR_LENGTH
