from math import isfinite
from typing import Any, TypeGuard


def is_finite_number(value: Any) -> TypeGuard[int | float]:
    """Return whether this is a number, not a boolean, and within the range of floating-point numbers."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # An integer of hundreds of digits overflows.
        return False
