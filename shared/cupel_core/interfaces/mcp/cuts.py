"""Cuts the JSON of a result to a size: lists, then long texts, then maps.

Each of the three has one cap for the whole result, found by bisection, so that the time does not grow with the number
of lists.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel

_CUT = "… [cut]"
_MAX_NOTES = 5
_MAX_PATH_LENGTH = 80


class MapObject(dict[str, Any]):
    """Represents a map whose keys are data, such as scores by dimension; it can lose keys, unlike a model."""


class Caps(NamedTuple):
    """Limits the items of a list, the characters of a text and the keys of a map."""

    items: int
    text: int
    keys: int


LEAST = Caps(items=1, text=200, keys=1)
"""Ids, times and the notice about untrusted texts are shorter than this limit of a text."""


def with_marked_maps(model: Any, content: Any) -> Any:
    if isinstance(model, BaseModel):
        fields = type(model).model_fields.items()
        named = {field.serialization_alias or field.alias or name: getattr(model, name) for name, field in fields}
        return {name: with_marked_maps(named.get(name), each) for name, each in content.items()}
    if isinstance(model, Mapping):
        named = {str(name): each for name, each in model.items()}
        return MapObject((name, with_marked_maps(named.get(name), each)) for name, each in content.items())
    if isinstance(model, list | tuple) and isinstance(content, list):
        return [with_marked_maps(*each) for each in zip(model, content, strict=True)]
    return content


def cut_to_size(content: dict[str, Any], max_bytes: int, page: list[Any] | None) -> dict[str, Any] | None:
    """Return the content with as much as fits and with the cuts, or None if nothing of it fits.

    `page` is a list of the content that stays whole.
    """

    def fits(caps: Caps) -> bool:
        return len(orjson.dumps(_shortened(content, caps, page))) <= max_bytes

    most = Caps(*(max(_lengths(content, kind), default=0) for kind in (list, str, MapObject)))
    caps = most
    for number, name in enumerate(Caps._fields):
        caps = caps._replace(**{name: LEAST[number]})
        if fits(caps):
            for each in range(number + 1):
                caps = _raised(caps, each, most[each], fits)
            return _shortened(content, caps, page)
    return None


def _raised(caps: Caps, position: int, most: int, fits: Callable[[Caps], bool]) -> Caps:
    name, low, high = Caps._fields[position], caps[position], most
    while low < high:
        middle = (low + high + 1) // 2
        tried = caps._replace(**{name: middle})
        if fits(tried):
            caps, low = tried, middle
        else:
            high = middle - 1
    return caps


def _lengths(value: Any, kind: type) -> Iterable[int]:
    if isinstance(value, kind):
        yield len(value)  # type: ignore[arg-type]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lengths(each, kind)


def _shortened(content: dict[str, Any], caps: Caps, page: list[Any] | None) -> dict[str, Any]:
    notes: dict[str, tuple[int, int]] = {}

    def shorten(value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value if len(value) <= caps.text else value[: caps.text] + _CUT
        if isinstance(value, list):
            shown = value if value is page else value[: caps.items]
            note(path, len(shown), len(value))
            return [shorten(each, path) for each in shown]
        if isinstance(value, MapObject):
            shown_keys = list(value)[: caps.keys]
            note(path, len(shown_keys), len(value))
            return {key: shorten(value[key], path) for key in shown_keys}
        if isinstance(value, dict):
            return {name: shorten(each, f"{path}.{name}" if path else name) for name, each in value.items()}
        return value

    def note(path: str, shown: int, total: int) -> None:
        if shown < total:
            before = notes.get(path, (0, 0))
            notes[path] = (before[0] + shown, before[1] + total)

    short = {name: shorten(each, name) for name, each in content.items()}
    short["truncated"] = True
    if notes:
        listed = list(notes.items())[:_MAX_NOTES]
        short["cut"] = [f"{path[:_MAX_PATH_LENGTH]}: {shown} of {total}" for path, (shown, total) in listed]
    return short
