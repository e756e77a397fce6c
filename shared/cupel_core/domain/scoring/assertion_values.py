"""Handles values of assertions: their checks, conversion to strings as in JavaScript, comma-separated lists, and
variables.

Variables are written `{{variable}}`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from json import dumps
from typing import Any

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.finite_numbers import is_finite_number

MAX_RENDERED_LENGTH = 1_000_000
_PLACEHOLDER = re.compile(r"(\\?)\{\{([^{}]*)\}\}")
_NAME = re.compile(r"""\s{0,100}(\w[^{}|\\"'`\r\n]{0,99}?)\s{0,100}""")
"""A variable may have any name that a table column can have, such as `Expected Output`, `2nd` or `Größe (cm)`."""
_MAX_SHOWN = 60
_FIELD = re.compile(r'[\s,]*(?:"(?P<quoted>(?:[^"\\]|\\.|"")*)"\s*(?:,|$)|(?P<plain>[^",\s][^,]*)(?:,|$))', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])|"(")')


_COMPARING = frozenset(
    {
        *("equals", "contains", "icontains", "contains-any", "icontains-any", "contains-all", "icontains-all"),
        *("starts-with", "exact-match", "match", "choice", "number-equals", "fuzzy-match", "json-match"),
        *("factuality", "similar", "levenshtein"),
    }
)
"""The value of these types is an answer, or a part of one; rubrics, code and patterns are not."""
_VARIABLE = re.compile(r"\{\{\s*([^{}|]+?)\s*\}\}")


def to_text(value: object) -> str:
    """Return a value as a string: numbers and booleans as in JSON, integral floats without a decimal point."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return dumps(value, ensure_ascii=False)


def parse_list(value: object) -> tuple[str, ...]:
    """Return the strings of a list or of one comma-separated string, with quotes around items that have commas: `a, "b,
    c"`. Raises ValueError for an unclosed quote and for an empty list."""
    texts = tuple(map(to_text, value)) if isinstance(value, list | tuple) else tuple(_fields(to_text(value)))
    if not texts:
        raise ValueError("must have at least one item")
    return texts


def _fields(text: str) -> Iterator[str]:
    text = text.rstrip(", \t\r\n")
    position = 0
    while position < len(text):
        field = _FIELD.match(text, position)
        if field is None:
            raise ValueError("has an unclosed quote, or a closing quote without a comma after it")
        quoted = field["quoted"]
        yield field["plain"].strip() if quoted is None else _ESCAPED.sub(r"\1\2", quoted)
        position = field.end()


def has_variables(value: object) -> bool:
    return any(True for _ in _names(value))


def escape_variables(value: Any) -> Any:
    """Return a text, or a list of texts, as an assertion's value that is rendered as this text."""
    if isinstance(value, list):
        return [escape_variables(item) for item in value]
    return _PLACEHOLDER.sub(r"\\\g<0>", value) if isinstance(value, str) else value


def variable_names(text: str) -> set[str]:
    return set(_names(text))


def placeholder_error(value: object) -> str | None:
    """Return an error about braces in a string, or in the strings of a list, that have no variable in them, such as a
    filter's."""
    for text in _texts(value):
        for escape, inner in _PLACEHOLDER.findall(text):
            if not escape and not _NAME.fullmatch(inner):
                shown = inner if len(inner) <= _MAX_SHOWN else f"{inner[:_MAX_SHOWN]}…"
                return (
                    f"has {{{{{shown}}}}}, which is no variable: write {{{{name}}}} with the name of a variable or "
                    "column, without filters or quotes, or \\{{…}} for the text itself"
                )
    return None


def missing_variables(value: Any, variables: Mapping[str, Any]) -> list[str]:
    """Return the variables without a value in a string, or in the strings of a list, in the order of their use."""
    return [name for name in dict.fromkeys(_names(value)) if _find(name, variables) is _MISSING]


def _names(value: object) -> Iterator[str]:
    for text in _texts(value):
        for escape, inner in _PLACEHOLDER.findall(text):
            if not escape and (name := _NAME.fullmatch(inner)):
                yield name[1]


def _texts(value: object) -> Iterator[str]:
    return (text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))


def render_variables(value: Any, variables: Mapping[str, Any]) -> Any:
    """Replaces `{{variables}}` in a string or in the strings of a list; `\\{{name}}` is rendered as `{{name}}`.

    Other braces stay as they are, such as those of code. Raises ValueError for an unknown variable, and for a result
    of more than `MAX_RENDERED_LENGTH` characters.
    """
    if isinstance(value, str):
        return _rendered(value, variables)
    return [render_variables(item, variables) for item in value] if isinstance(value, list) else value


def _rendered(text: str, variables: Mapping[str, Any]) -> str:
    left = MAX_RENDERED_LENGTH - len(text)

    def replacement(match: re.Match[str]) -> str:
        nonlocal left
        found = _replacement(match, variables)
        left -= len(found)
        if left < 0:
            raise ValueError(f"its variables make it longer than {MAX_RENDERED_LENGTH:,} characters")
        return found

    return _PLACEHOLDER.sub(replacement, text)


def _replacement(match: re.Match[str], variables: Mapping[str, Any]) -> str:
    escape, inner = match.groups()
    if escape:
        return match[0].removeprefix("\\")
    name = _NAME.fullmatch(inner)
    if name is None:
        return match[0]
    value = _find(name[1], variables)
    if value is _MISSING:
        raise ValueError(f"unknown variable {name[1]}")
    return to_text(value)


_MISSING = object()


def _find(name: str, variables: Mapping[str, Any]) -> Any:
    """Return the value of a variable; a name with dots may be a path into one."""
    value: Any = variables
    for step in (name,) if name in variables else name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return _MISSING
        value = value[step]
    return value


def expected_answer(assertions: Iterable[Assertion], variables: Mapping[str, Any]) -> str | None:
    """Return what the answer is compared with, with the scenario's variables; None if it is compared with nothing."""
    found = (_text(each.value, variables) for each in assertions if each.kind in _COMPARING and not each.negated)
    return "; ".join(dict.fromkeys(text for text in found if text)) or None


def _text(value: Any, variables: Mapping[str, Any]) -> str:
    if isinstance(value, list):
        return ", ".join(_text(each, variables) for each in value)
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: str(variables.get(match[1], match[0])), value)
    return str(value) if isinstance(value, int | float) else ""


def is_amount(value: Any) -> bool:
    return is_finite_number(value) and value >= 0


def text_error(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "must be a non-empty string"


def any_text_error(value: Any) -> str | None:
    return None if isinstance(value, str) else "must be a string"


def text_or_number_error(value: Any) -> str | None:
    return (
        None
        if (isinstance(value, str) and value) or is_finite_number(value)
        else "must be a non-empty string or a number"
    )


def texts_error(value: Any) -> str | None:
    if isinstance(value, list) and not all(isinstance(item, str | int | float) for item in value):
        return "must be a list of strings"
    if not isinstance(value, str | list):
        return "must be a list of strings, or one string separated by commas"
    try:
        parse_list(value)
    except ValueError as error:
        return str(error)
    return None


def references_error(value: Any) -> str | None:
    if isinstance(value, list):
        return None if value and all(isinstance(item, str) for item in value) else "must be a list of strings"
    return None if isinstance(value, str) and value else "must be a string or a list of strings"


def elements_error(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("requiredElements")
    if value is None or isinstance(value, str) or (isinstance(value, list) and all(isinstance(e, str) for e in value)):
        return None
    return "must name elements such as root.item: a list, or one string separated by commas"


def words_error(value: Any) -> str | None:
    if isinstance(value, dict):
        bounds = [value[name] for name in ("min", "max") if value.get(name) is not None]
        if not bounds or not all(map(is_amount, bounds)) or set(value) - {"min", "max"}:
            return "must have min, max or both, as numbers"
        return None if bounds == sorted(bounds) else "must have a min that is at most its max"
    is_count = is_amount(value) or (isinstance(value, str) and value.strip().isdecimal())
    return None if is_count else "must be a number, or an object with min and max"


def required_error(value: Any) -> str | None:
    return "is required" if value is None else None


def rubric_error(value: Any) -> str | None:
    return None if value and isinstance(value, str | dict | list) else "must be a rubric: a string, an object or a list"


def url_error(value: Any) -> str | None:
    is_url = isinstance(value, str) and value.startswith(("http://", "https://"))
    return None if is_url else "must be a URL that starts with https:// or http://"
