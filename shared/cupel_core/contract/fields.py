"""Types of fields that several models have. Strict: numbers are not accepted as text, nor text as numbers."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AwareDatetime,
    Field,
    FiniteFloat,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from cupel_core.domain.resources.names import MAX_NAME_LENGTH, is_valid_name
from cupel_core.domain.text.control_characters import has_control_characters
from cupel_core.domain.text.json_limits import EXACT_INTEGERS, json_limit_error

_VISIBLE_ASCII = re.compile(r"[!-~]{1,4096}")
_MAX_SCORE = 1_000_000_000


def not_null[T](value: T | None) -> T:
    """Refuse null for a field that an update may omit, but not clear."""
    if value is None:
        raise ValueError("must not be null")
    return value


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be within the years 1 to 9999, in UTC") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with an offset, converted to UTC."""


def not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _single_line(text: str) -> str:
    if why := json_limit_error(text):
        raise ValueError(why)
    if has_control_characters(text):
        raise ValueError("must not contain control characters, line breaks, tabs or characters that reorder text")
    return text


Interval95 = Annotated[
    list[float] | None,
    Field(
        validation_alias="interval",
        serialization_alias="interval95",
        description="95% interval; see docs/statistics.md",
    ),
]


SINGLE_LINE = AfterValidator(_single_line)
"""For names and everything else that is shown on one line, in requests."""


def is_visible_ascii(text: str) -> bool:
    """Return whether the text has 1 to 4,096 characters that can be sent in a URL or a header."""
    return _VISIBLE_ASCII.fullmatch(text) is not None


_URL = "must be an absolute http(s) URL without credentials or fragment"
_BASE_URL = "must be an absolute http(s) URL without credentials, query or fragment"


def _complete_url(text: str, message: str = _URL) -> str:
    if not is_visible_ascii(text) or any(character in text for character in "#\\"):
        raise ValueError(message)
    parts = urlsplit(text)  # its own ValueError says what is wrong with a host or port
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or "@" in parts.netloc:
        raise ValueError(message)
    return text


def _base_url(text: str) -> str:
    """An address to which paths are appended: an empty query or fragment, too, would make them its part."""
    if "?" in text:
        raise ValueError(_BASE_URL)
    return _complete_url(text, _BASE_URL).rstrip("/")


_API_VERSION = re.compile(r"api-version=[0-9a-z-]{1,40}")


def _provider_url(text: str) -> str:
    """A base URL, which Azure and some gateways give a version in its query. Others would show what may be secret."""
    base, mark, query = text.partition("?")
    if not mark:
        return _base_url(text)
    if not _API_VERSION.fullmatch(query):
        raise ValueError("the query of the URL may only be api-version=<date>")
    return f"{_base_url(base)}?{query}"


def _score(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """One message instead of one for each type of number."""
    try:
        return validate(value)
    except ValidationError:
        raise ValueError(f"must be a number from {-_MAX_SCORE:,} to {_MAX_SCORE:,}") from None


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    if why := json_limit_error(value):
        raise ValueError(why)
    return value


def _resource_name(name: str) -> str:
    if not is_valid_name(name):
        raise ValueError("must not be blank, nor take more than 1,024 bytes when case is ignored")
    return name


Id = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100), SINGLE_LINE]
Label = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=100), AfterValidator(not_blank), SINGLE_LINE
]
"""A name that need not be unique."""
Url = Annotated[
    str,
    Field(max_length=2_048, description="http(s) URL without credentials, query or fragment"),
    AfterValidator(_base_url),
]
ProviderUrl = Annotated[
    str,
    Field(
        max_length=2_048,
        description="An absolute http(s) URL without credentials or fragment; its query may be `api-version=<date>`",
    ),
    AfterValidator(_provider_url),
]
CompleteUrl = Annotated[
    str,
    Field(max_length=2_048, description="An absolute http(s) URL without credentials or fragment"),
    AfterValidator(_complete_url),
]
"""Called as it is: nothing is appended to it."""
ModelId = Annotated[
    str,
    StringConstraints(strict=True, min_length=3, max_length=256),
    SINGLE_LINE,
    Field(description="Model id as `provider/name`"),
]
ResourceName = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MAX_NAME_LENGTH),
    SINGLE_LINE,
    AfterValidator(_resource_name),
    Field(description="Unique within the workspace, ignoring case"),
]
FunctionName = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
"""The name of a function, as every provider accepts it."""
Flag = Annotated[bool, Field(strict=True)]
Count100 = Annotated[int, Field(strict=True, ge=1, le=100)]
Seed = Annotated[int, Field(strict=True, ge=0, lt=EXACT_INTEGERS)]
TimeZone = Annotated[str, Field(min_length=1, max_length=50)]
Score = Annotated[
    Annotated[int, Field(strict=True, ge=-_MAX_SCORE, le=_MAX_SCORE)]
    | Annotated[FiniteFloat, Field(strict=True, ge=-_MAX_SCORE, le=_MAX_SCORE)],
    WrapValidator(_score),
]
"""Integers are not converted to floats."""
LongText = Annotated[str, StringConstraints(strict=True, max_length=200_000)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_storable)]
"""A JSON object that is stored as it was sent."""
Assertions = Annotated[
    list[JsonObject],
    Field(
        max_length=100,
        description="Checks, each `{type, value?, threshold?, weight?, metric?, …}`; see docs/assertions.md",
    ),
]
"""definitions/assertions.py checks each one's shape when it is stored."""
