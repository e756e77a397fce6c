"""Calculates the size of a DynamoDB item, and the units billed for it.

The rules are those of the developer guide ("DynamoDB item sizes and formats", "read and write operations"): names and
texts in UTF-8; numbers take a byte for every two digits and one more; maps and lists 3 bytes and 1 for each member.
"""

from math import ceil
from typing import Any

_WRITE_UNIT_BYTES = 1_024
_READ_UNIT_BYTES = 4_096


def item_bytes(item: dict[str, Any] | None) -> int:
    return sum(len(name.encode()) + _value_bytes(value) for name, value in (item or {}).items())


def write_units(size: int) -> int:
    return max(1, ceil(size / _WRITE_UNIT_BYTES))


def read_units(size: int, *, consistent: bool) -> float:
    return max(1, ceil(size / _READ_UNIT_BYTES)) * (1.0 if consistent else 0.5)


def _value_bytes(value: dict[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_bytes(content)
        case "B":
            return len(content)
        case "SS" | "BS":
            return sum(len(member.encode() if kind == "SS" else member) for member in content)
        case "NS":
            return sum(map(_number_bytes, content))
        case "M":
            return 3 + len(content) + item_bytes(content)
        case "L":
            return 3 + len(content) + sum(map(_value_bytes, content))
    return 1  # It is BOOL or NULL.


def _number_bytes(number: str) -> int:
    digits = number.lstrip("-").replace(".", "").strip("0")
    return ceil(len(digits) / 2) + 1 + number.startswith("-")
