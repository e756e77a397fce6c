from collections.abc import Iterable
from math import isfinite
from typing import Any, NamedTuple

type Json = dict[str, Any]


class TaggedJson(dict[str, Any]):
    """Holds the object of a response. `etag` identifies the state of an editable object; it is None for anything
    else."""

    def __init__(self, body: Json, etag: str | None = None) -> None:
        super().__init__(body)
        self.etag = etag


def without_none(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


class UnsendableField(NamedTuple):
    """Names a field that JSON in UTF-8 cannot have, such as `config.params.0.temperature`, and the requirement."""

    field: str
    message: str


def unsendable_field(value: object) -> UnsendableField | None:
    """Return the first number that JSON does not have (nan, inf), or text with half of a character, or None."""
    match value:
        case float():
            return None if isfinite(value) else UnsendableField("", "must be a finite number")
        case str():
            return UnsendableField("", "must not have half characters (surrogates)") if _has_half(value) else None
        case dict():
            entries: Iterable[tuple[object, object]] = value.items()
        case list() | tuple():
            entries = enumerate(value)
        case _:
            return None
    for key, item in entries:
        if (inner := unsendable_field(item)) is not None:
            return UnsendableField(f"{key}.{inner.field}".rstrip("."), inner.message)
    return None


def _has_half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
