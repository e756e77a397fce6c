from typing import Any

from cupel_core.domain.text.json_limits import EXACT_INTEGERS


def as_integer(value: Any) -> Any:
    """Return the integer for a whole float, such as 1 for 1.0, or else the value itself."""
    is_integral = isinstance(value, float) and abs(value) <= EXACT_INTEGERS and value.is_integer()
    return int(value) if is_integral else value
