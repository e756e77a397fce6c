"""Numbers of JSON."""

from typing import Any

from cupel_core.domain.text.json_limits import EXACT_INTEGERS


def as_integer(value: Any) -> Any:
    """The integer that a float stands for, such as 1 for 1.0; the value itself if there is none."""
    is_integral = isinstance(value, float) and abs(value) <= EXACT_INTEGERS and value.is_integer()
    return int(value) if is_integral else value
