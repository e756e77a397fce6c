"""What the value of an assertion says: texts as JavaScript would write them, lists in a cell, `{{variables}}`."""

import re
from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

_VARIABLE = re.compile(r"(\\?)\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}")
_FIELD = re.compile(r'[\s,]*(?:"(?P<quoted>(?:[^"\\]|\\.|"")*)"\s*(?:,|$)|(?P<plain>[^",\s][^,]*)(?:,|$))', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])|"(")')


def written(value: object) -> str:
    """A value as text: numbers and booleans as in JSON, whole numbers without a point."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return dumps(value, ensure_ascii=False)


def listed(value: object) -> tuple[str, ...]:
    """The texts of a list, or of one text with commas, quotes around what holds a comma itself: `a, "b, c"`.

    Raises ValueError when quotes are left open, or when there is nothing in it.
    """
    texts = tuple(map(written, value)) if isinstance(value, list | tuple) else tuple(_fields(written(value)))
    if not texts:
        raise ValueError("must name at least one text")
    return texts


def _fields(text: str) -> Iterator[str]:
    text = text.rstrip(", \t\r\n")
    position = 0
    while position < len(text):
        field = _FIELD.match(text, position)
        if field is None:
            raise ValueError("has a quote that is not closed, or no comma after one")
        quoted = field["quoted"]
        yield field["plain"].strip() if quoted is None else _ESCAPED.sub(r"\1\2", quoted)
        position = field.end()


def has_variables(value: object) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(text, str) and _VARIABLE.search(text) for text in texts)


def render(value: Any, variables: Mapping[str, Any]) -> Any:
    """The value with its `{{variables}}`, in a text or in the texts of a list; `\\{{name}}` stands for `{{name}}`.

    Raises ValueError for a variable that there is not.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _replaced(found, variables), value)
    return [render(each, variables) for each in value] if isinstance(value, list) else value


def _replaced(found: re.Match[str], variables: Mapping[str, Any]) -> str:
    escape, name = found.groups()
    if escape:
        return found[0].removeprefix("\\")
    value: Any = variables
    for step in (name,) if name in variables else name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise ValueError(f"there is no variable {name}")
        value = value[step]
    return written(value)
