"""Reads and writes JSON values and texts as JavaScript does: `JSON.parse`, `JSON.stringify`, `String` and `trim`."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn

_SPACES = "".join(map(chr, range(0x2000, 0x200B)))
WHITE_SPACE = f"\t\n\v\f\r \u00a0\u1680{_SPACES}\u2028\u2029\u202f\u205f\u3000\ufeff"
"""`trim` removes these characters, and `\\s` matches them."""
_WHITE_SPACE_RUN = re.compile(f"[{WHITE_SPACE}]+")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_ARRAY_INDEX = 2**32 - 2


def parse_json(text: str) -> Any:
    """Parse as `JSON.parse` does. Raises ValueError and RecursionError."""
    return json.loads(
        text, parse_constant=_refuse, parse_int=_number, parse_float=_number, object_pairs_hook=_ordered_object
    )


def stringify(value: Any) -> str:
    """Write as `JSON.stringify` does, without spaces. Raises RecursionError."""
    match value:
        case str():
            written = json.dumps(value, ensure_ascii=False)
            return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
        case bool() | None:
            return json.dumps(value)
        case int() | float():
            return number_text(value)
        case dict():
            return f"{{{','.join(f'{stringify(str(name))}:{stringify(item)}' for name, item in value.items())}}}"
        case _:
            return f"[{','.join(map(stringify, value))}]"


def as_text(value: Any) -> str:
    """Return the text that promptfoo's assertions check: a text itself, and JSON of any other value."""
    return value if isinstance(value, str) else stringify(value)


def to_string(value: Any) -> str:
    """Convert as `String(value)` does: an object is `[object Object]`, and the items of a list are joined by commas."""
    match value:
        case str():
            return value
        case dict():
            return "[object Object]"
        case list():
            return ",".join("" if item is None else to_string(item) for item in value)
        case _:
            return stringify(value)


def number_text(number: float) -> str:
    """Convert as `String(number)` does, with decimal notation from 1e-6 to 1e21; what is not finite is `null`."""
    double = float(number)
    if not isfinite(double):
        return "null"
    if double == 0:
        return "0"
    if not 1e-6 <= abs(double) < 1e21:
        digits, _, exponent = repr(double).partition("e")
        return f"{digits.removesuffix('.0')}e{int(exponent):+d}"
    written = format(Decimal(repr(double)), "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def trim(text: str) -> str:
    return text.strip(WHITE_SPACE)


def trim_start(text: str) -> str:
    return text.lstrip(WHITE_SPACE)


def trim_end(text: str) -> str:
    return text.rstrip(WHITE_SPACE)


def words(text: str) -> list[str]:
    return [word for word in _WHITE_SPACE_RUN.split(text) if word]


def well_formed(text: str) -> str:
    """Replace each unpaired surrogate by U+FFFD, as `toWellFormed` does."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def in_code_units(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the text's UTF-16 code units, one per character, because JavaScript counts these."""
    return joined_units(change(code_units(text)))


def joined_units(units: str) -> str:
    """Return the text of these code units: a pair of surrogates is one character."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def code_units(text: str) -> str:
    """Return the text with a pair of surrogates in place of each character beyond U+FFFF."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    encoded = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(low | high << 8) for low, high in zip(encoded[::2], encoded[1::2], strict=True))


def _number(text: str) -> int | float | None:
    written = number_text(float(text))
    if written == "null":
        return None
    return int(written) if written.lstrip("-").isdecimal() else float(written)


def _ordered_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Put names that are array indexes first, in ascending order."""
    read = dict(pairs)
    indexes = sorted((name for name in read if _is_array_index(name)), key=int)
    return {name: read[name] for name in indexes} | read if indexes else read


def _is_array_index(name: str) -> bool:
    return name.isascii() and name.isdecimal() and str(int(name[:11])) == name and int(name) <= _MAX_ARRAY_INDEX


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
