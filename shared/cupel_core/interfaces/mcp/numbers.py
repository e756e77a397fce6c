"""Reads integers from JSON numbers."""

from typing import Any

_MAX_EXACT = 2**53
"""Floats do not represent all integers above this number."""


def as_integer(value: Any) -> Any:
    """Return the integer for a whole float, such as 1 for 1.0, or else the value itself."""
    is_integral = isinstance(value, float) and abs(value) <= _MAX_EXACT and value.is_integer()
    return int(value) if is_integral else value
