"""Reports the keys of a promptfoo configuration that are left out, unknown, or have a value of another kind."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.interop.imports.json_documents import InvalidDocument


class Fate(StrEnum):
    TAKEN = "taken"
    CHANGED = "changed"
    LEFT = "left"
    IGNORED = "ignored"
    """The key has no effect on the evaluation, so it is not reported."""


class Shape(StrEnum):
    """Names the kind of value that a key must have, in words that follow "must be"."""

    ANY = "any value"
    TEXT = "text"
    FLAG = "true or false"
    NUMBER = "a number"
    COUNT = "a whole number from 1"
    LIST = "a list"
    LIST_OR_FILE = "a list or the name of a file"
    MAPPING = "a mapping"
    MAPPING_OR_TEXT = "a mapping or text"
    MAPPING_OR_FILE = "a mapping or the name of a file"


class Key(NamedTuple):
    fate: Fate
    how: str = ""
    shape: Shape = Shape.ANY
    """A value of another shape, which promptfoo may accept, is reported, because it has no effect here."""
    is_required: bool = False


_TYPES: Mapping[Shape, tuple[type, ...]] = {
    Shape.ANY: (object,),
    Shape.TEXT: (str,),
    Shape.FLAG: (bool,),
    Shape.NUMBER: (int, float),
    Shape.COUNT: (int,),
    Shape.LIST: (list,),
    Shape.LIST_OR_FILE: (list, str),
    Shape.MAPPING: (Mapping,),
    Shape.MAPPING_OR_TEXT: (Mapping, str),
    Shape.MAPPING_OR_FILE: (Mapping, str),
}


def report_keys(keys: Mapping[str, Key], data: Mapping[str, Any], where: str, report: ImportReport) -> None:
    """Report keys of `data` that are left out or unknown, or whose value has the wrong shape.

    Raises `InvalidDocument` for a value that promptfoo refuses too.
    """
    for name in sorted(data):
        key, place = keys.get(name, Key(Fate.LEFT, "this field is not supported")), f"{where}.{name}".lstrip(".")
        if key.fate is Fate.LEFT:
            report.skip(place, name, key.how)
        elif problem := shape_problem(key.shape, data[name]):
            if key.is_required:
                raise InvalidDocument(f"{place} {problem}")
            report.skip(place, name, f"{problem}; it has no effect")


def shape_problem(shape: Shape, value: Any) -> str | None:
    """Return why a value cannot be used, or None if it can. Null counts as no value."""
    if value is None or shape is Shape.ANY:
        return None
    is_flag = isinstance(value, bool)
    is_usable = isinstance(value, _TYPES[shape]) and (shape is Shape.FLAG or not is_flag)
    if is_usable and (shape is not Shape.COUNT or value > 0):
        return None
    return f"must be {shape}, not {_described(value)}"


def _described(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'the text "{value[:40]}"'
        case Mapping():
            return "a mapping"
        case list():
            return "a list"
    return str(value)[:40]
