"""Rewords messages of the validation library like our own, which follow the name of their field.

A message says what is accepted and, if that is not a secret, what was found: `must be at least 1, not -3`.
"""

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

REQUIRED = "is required"
_NUMBER = "must be a number"
_OBJECT = "must be an object"
_LIST = "must be a list"
_DATE = "must be a date such as 2026-01-31"
_TIME = "must be a date and time such as 2026-01-31T09:30:00Z"
_DURATION = "must be a duration such as PT1H30M"
_URL = "must be a URL such as https://example.com/path"
_UUID = "must be a UUID"
_UNKNOWN = "is not a known field"
_REPLACEMENTS = (
    (r"^(Value error|Assertion failed), ", ""),
    (r"^(Field required|Missing required (keyword only |positional only )?argument)$", REQUIRED),
    (r"^(Extra inputs are not permitted|Unexpected (keyword|positional) argument)$", _UNKNOWN),
    (r"^Got multiple values for argument$", "must be given once"),
    (r"^(Field|Instance) is frozen$", "cannot be changed"),
    (r"^Object has no attribute ", "has no field "),
    (r"^Error extracting attribute: ", "cannot be read: "),
    (r"^Error iterating over object, error: ", "cannot be read as a list: "),
    (r"^Recursion error - cyclic reference detected$", "must not contain itself"),
    (r"^The default factory uses validated data, but .*", "is required, as another field is invalid"),
    (r"^Invalid JSON: ", "must be valid JSON: "),
    (r"^JSON input should be .*", "must be text with JSON"),
    (r"^Cannot check `(.*)` when validating from json, .*", r"cannot be checked by \1 in JSON"),
    (r"^Keys should be strings$", "must have texts as names"),
    (r"^Set items should be hashable$", "must have only texts and numbers as items"),
    (r"^Input should be (an object|a (valid )?(dictionary|mapping)( or .*|, error: .*)?)$", _OBJECT),
    (r"^Arguments must be (a tuple, list or a dictionary|an array or an object)$", "must be a list or an object"),
    (r"^Input should be (iterable|a valid (array|list|tuple|set|frozenset))$", _LIST),
    (r"^Input should be a valid string, unable to parse raw data .*", "must be UTF-8 text"),
    (r"^Input should be a (valid )?string(, not an instance of .*)?$", "must be text"),
    (r"^Input should be a valid boolean.*", "must be true or false"),
    (r"^Input should be a valid integer.*", "must be an integer"),
    (r"^Unable to parse input string as an integer, .*", "must be an integer with fewer digits"),
    (r"^(Input should be a valid|Decimal input should be an integer,) (number|decimal|float).*", _NUMBER),
    (r"^Input should be a valid (python complex|complex) .*", "must be a complex number"),
    (r"^Input should be a valid bytes$", "must be bytes"),
    (r"^Data should be valid ([\w-]+): ", r"must be text in the encoding \1: "),
    (r"^Input should be a valid (datetime|datetime or date)(, .*)?$", _TIME),
    (r"^Invalid datetime object, .*", _TIME),
    (r"^Input should be a valid (date|date or datetime)((,| in the format) .*)?$", _DATE),
    (r"^Datetimes provided to dates should .*", f"{_DATE}, without a time"),
    (r"^Input should be (a valid time|in a valid time format, .*)$", "must be a time such as 09:30"),
    (r"^Input should be a valid (timedelta|duration)(, .*)?$", _DURATION),
    (r"^Input should not have timezone info$", "must have no time zone"),
    (r"^Input should have timezone info$", "must have a time zone, such as Z or +01:00"),
    (r"^Timezone offset of (.*) required, got (.*)$", r"must have the time zone offset \1, not \2"),
    (r"^(Input|Date) should be in the (past|future)$", r"must be in the \2"),
    (r"^(URL input should be|Input should be a valid URL|Input violated strict URL syntax rules).*", _URL),
    (r"^URL scheme should be ", "must be a URL that starts with "),
    (r"^(UUID input should be|Input should be a valid UUID).*", _UUID),
    (r"^UUID version (.*) expected$", rf"{_UUID} of version \1"),
    (r"^Input should be callable$", "must be a function"),
    (r"^Input should be None$", "must be null"),
    (r"^Input should be the 'MISSING' sentinel$", "must be left out"),
    (r"^Input should be less than or equal to ", "must be at most "),
    (r"^Input should be greater than or equal to ", "must be at least "),
    (r"^Input should be ", "must be "),
    (r"^Unable to extract tag using discriminator '?(\w*)'?$", r"must have a \1"),
    (
        r"^Input tag '(.{0,60}).*?' found using '?(\w*)'? does not match any of the expected tags: ",
        r"has the unknown \2 '\1'; known are ",
    ),
    (r"^String should match pattern '(.*)'$", r"must match \1"),
    (r"<\w+\.\w+: ('[^']*')>", r"\1"),
    (r"^\w+( input)? should (have|contain) (.*?)( after validation, not .*)?$", r"must have \3"),
)

_SHOWS_VALUE = re.compile(
    r"(int|float|bool|date|time|datetime|time_delta|decimal|uuid)_(type|parsing|from_.*)"
    r"|(greater|less)_than(_equal)?|multiple_of|finite_number|enum|literal_error|datetime_object_invalid"
)
"""Errors of these types show the value, also if it is text. None of such fields is for a secret."""
_SHOWS_KIND = re.compile(
    r"(string|bytes|list|tuple|set|frozen_set|dict|mapping|model|model_attributes|dataclass|iterable|url)_type"
)
_SHOWS_LENGTH = re.compile(r"(string_|bytes_)?too_(short|long)")
_SHOWS_NUMBER = re.compile(r"(greater|less)_than(_equal)?|multiple_of|int_parsing")
"""A number in the text of an option or a query is shown as a number, because these fields accept it as one."""
_MAX_SHOWN_LENGTH = 40


def error_message(detail: Mapping[str, Any]) -> str:
    """Return the message for an item of `ValidationError.errors()`, with the value that was found."""
    message, kind, value = field_message(detail["msg"]), detail["type"], detail.get("input")
    if _is_nan(value) and _SHOWS_VALUE.fullmatch(kind):
        return "must be a finite number, not NaN" if kind == "finite_number" else f"{_NUMBER}, not NaN"
    shown = _shown_input(kind, value)
    return f"{message}, not {shown}" if shown else message


def _shown_input(kind: str, value: Any) -> str:
    if _SHOWS_LENGTH.fullmatch(kind):
        return f"{len(value):,}" if hasattr(value, "__len__") else ""
    if isinstance(value, str) and _SHOWS_NUMBER.fullmatch(kind) and (number := _number(value)) is not None:
        return shown_value(number) if not math.isfinite(number) else _short(value.strip()) or shown_value(value)
    if _SHOWS_VALUE.fullmatch(kind) or (_SHOWS_KIND.fullmatch(kind) and not isinstance(value, str)):
        return shown_value(value)
    return "text" if _SHOWS_KIND.fullmatch(kind) else ""


def shown_value(value: Any) -> str:
    """Return how a message shows a value: short ones themselves, others by their kind."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "an infinite number"
        case int() | float():
            return _short(repr(value)) or "a longer number"
        case str():
            return _short(f"'{value}'") or "another text"
        case Mapping():
            return "an object"
        case list() | tuple() | set() | frozenset():
            return "a list"
    return ""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _short(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_LENGTH and text.isprintable() else ""


def _is_nan(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lstrip("+-").lower() == "nan"
    return isinstance(value, float) and math.isnan(value)


def of_missing(value: Any, error: str) -> str:
    """Say first that a missing value is required, and then what it must be."""
    return error if value is not None or error.startswith(REQUIRED) else f"{REQUIRED}, and {error}"


def field_message(message: str) -> str:
    """Convert `Input should be less than or equal to 2` to `must be at most 2`."""
    for pattern, replacement in _replacements():
        message = pattern.sub(replacement, message)
    return message


@cache
def _replacements() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compile the patterns when the first message is needed, not in each cold start."""
    return tuple((re.compile(pattern, re.DOTALL), replacement) for pattern, replacement in _REPLACEMENTS)


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
