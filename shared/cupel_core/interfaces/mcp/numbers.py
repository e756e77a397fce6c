"""Numbers of JSON."""

from typing import Any

_MAX_EXACT = 2**53
"""Floats beyond it do not have all integers."""


def as_integer(value: Any) -> Any:
    """The integer that a float stands for, such as 1 for 1.0; the value itself if there is none."""
    is_integral = isinstance(value, float) and abs(value) <= _MAX_EXACT and value.is_integer()
    return int(value) if is_integral else value
