"""Reads values in the replies of models, although texts, numbers, flags and choices are written carelessly."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from cupel_core.domain.text.control_characters import without_control_characters
from cupel_core.domain.text.storable import storable

MAX_REASON_LENGTH = 5_000
NO_REASON = "no reason was given"


def as_text(value: Any) -> str:
    """Convert to a text what a model wrote in place of one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return "; ".join(filter(None, map(as_text, value)))
    return storable(json.dumps(value, ensure_ascii=False))


def _reason(value: Any) -> str:
    return storable(without_control_characters(as_text(value)).strip(), MAX_REASON_LENGTH) or NO_REASON


def explanation(max_length: int) -> BeforeValidator:
    """Cut a text that explains something, and replace a missing one."""
    return BeforeValidator(lambda value: storable(_reason(value), max_length))


def cut_text(max_length: int) -> BeforeValidator:
    return BeforeValidator(lambda value: storable(without_control_characters(as_text(value)).strip(), max_length))


def text_list(most: int) -> BeforeValidator:
    """Read at most `most` texts from a list, the lines of a text, or objects with texts."""

    def read(value: Any) -> Any:
        lines = value.splitlines() if isinstance(value, str) else value
        if not isinstance(lines, list):
            return value
        return [text for text in map(_text_in, lines) if text][:most]

    return BeforeValidator(read)


def _text_in(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(each for each in value.values() if isinstance(each, str))
    return as_text(value)


type Reason = Annotated[str, Field(min_length=1, max_length=MAX_REASON_LENGTH), explanation(MAX_REASON_LENGTH)]

_YES = frozenset({"true", "yes", "y", "pass", "passed", "met", "1"})
_NO = frozenset({"false", "no", "n", "fail", "failed", "not met", "unmet", "0"})
_AROUND = " \t\r\n\"'`*_.,;:!()[]"
"""Characters that may surround a word or a number without changing it."""


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    said = str(value).strip(_AROUND).casefold() if isinstance(value, str | int) else ""
    if said in _YES or said in _NO:
        return said in _YES
    raise ValueError("should be true or false")


OptionalFlag = Annotated[
    bool | None,
    BeforeValidator(lambda value: None if value is None else _flag(value)),
    WithJsonSchema({"type": "boolean"}),
]
"""None if it is missing, although schemas require it."""

_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d{1,10})?|\.\d+)")
_FRACTION = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/|out of|of)\s*(\d+(?:\.\d+)?)", re.IGNORECASE)
_SHARE = re.compile(r"(\d+(?:[.,]\d+)?)\s*%")
_THOUSANDS = re.compile(r"[-+]?\d{1,3},\d{3}")


def number_on(low: float, high: float) -> Callable[[Any], float | None]:
    """Return a function that reads a number on this scale, whether or not it is within; None for a missing one.

    A fraction is read if it is of the scale's end, or the scale is from 0 to 1; a share is read if the scale begins at
    0.
    """

    def read(value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) if math.isfinite(value) else None
        said = value.strip().strip("*`") if isinstance(value, str) else ""
        number = _number_in(said, low, high)
        if number is None:
            raise ValueError(f"should be a number from {low:g} to {high:g}")
        return number

    return read


def _number_in(text: str, low: float, high: float) -> float | None:
    if _NUMBER.fullmatch(text) and not _THOUSANDS.fullmatch(text):
        return float(text.replace(",", "."))
    if (share := _SHARE.fullmatch(text)) and low == 0:
        return float(share[1].replace(",", ".")) / 100 * high
    if fraction := _FRACTION.fullmatch(text):
        part, whole = float(fraction[1]), float(fraction[2])
        if whole == high:
            return part
        if (low, high) == (0, 1) and whole:
            return part / whole
    return None


def score_on(low: float, high: float) -> BeforeValidator:
    """Read a required score on this scale, whether or not it is within."""
    read = number_on(low, high)

    def score(value: Any) -> float:
        number = read(value)
        if number is None:
            raise ValueError("should be a number")
        return number

    return BeforeValidator(score)


def required[T](name: str, value: T | None) -> T:
    """Return the value of a field that the verdict needs. Raises ValueError if it is None."""
    if value is None:
        raise ValueError(f"{name}: Field required")
    return value


def whole_number(value: Any) -> Any:
    """Read an index, which may be written as a text or with a decimal point."""
    if isinstance(value, str) and value.strip(_AROUND).isdecimal():
        return int(value.strip(_AROUND)[:20])
    return int(value) if isinstance(value, float) and value.is_integer() else value


EXPLAINED = re.compile(r"[(*]*(\w)[)*]*\s*[:)]\s*(?=\D)")
"""Matches a category of one character before what it means: `C: same details`, `(C) The submission …`."""


def choice_of(options: Sequence[str], names: Mapping[str, str] | None = None) -> BeforeValidator:
    """Read one of the options, whatever its case and punctuation; `names` has further names of options."""
    by_word = dict[str, str | None]()
    for word, option in [*((each, each) for each in options), *(names or {}).items()]:
        key = word.strip(_AROUND).casefold()
        by_word[key] = option if by_word.get(key, option) == option else None

    def read(value: Any) -> Any:
        said = _said(value)
        if said in options:
            return said
        option = by_word.get(said.strip(_AROUND).casefold())
        explained = EXPLAINED.match(said)
        if option is None and explained:
            option = by_word.get(explained[1].casefold())
        return option or value

    return BeforeValidator(read)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else ""
