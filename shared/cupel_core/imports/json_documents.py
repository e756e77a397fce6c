"""JSON of other people, within bounds; what comes out is plain JSON."""

import json
import re
from itertools import count
from math import isfinite
from typing import Any, NoReturn

_VARIABLE = re.compile(r"\{\{\s*[A-Za-z_][\w.-]*\s*\}\}")
MAX_DEPTH = 60
MAX_NODES = 500_000
"""With what aliases repeat, which is how a kilobyte of YAML becomes a terabyte."""


class Unreadable(ValueError):
    """What a person should change about a text."""


def from_json(text: str, name: str) -> Any:
    try:
        return plain(json.loads(text.removeprefix("\N{BYTE ORDER MARK}"), parse_constant=_refuse_constant), name)
    except json.JSONDecodeError as error:
        raise Unreadable(f"{name} is not valid JSON in line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise Unreadable(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"{name}: {error}") from None


def from_jsonl(text: str, name: str) -> list[tuple[int, Any]]:
    """The value of each line that is not blank, with the line's number from 1."""
    lines = enumerate(text.removeprefix("\N{BYTE ORDER MARK}").split("\n"), start=1)
    return [(number, from_json(line, f"{name} line {number}")) for number, line in lines if line.strip()]


def to_json(value: Any, indent: int | None = None) -> str:
    """As JSON.stringify writes it."""
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)


def literal(value: Any) -> Any:
    """A text of an assertion, or a list of them, in which `{{x}}` is no variable of Cupel's."""
    if isinstance(value, list):
        return [literal(each) for each in value]
    return _VARIABLE.sub(r"\\\g<0>", value) if isinstance(value, str) else value


def plain(value: Any, name: str) -> Any:
    """A copy that JSON can hold: keys are texts, and 1.0 is the 1 it is to JavaScript. Unreadable beyond the bounds."""
    nodes = count(1)

    def copy(each: Any, depth: int) -> Any:
        if depth > MAX_DEPTH or next(nodes) > MAX_NODES:
            raise Unreadable(f"{name} is too large or nested too deeply")
        match each:
            case dict():
                return {_text(_key(key), name): copy(part, depth + 1) for key, part in each.items()}
            case list():
                return [copy(part, depth + 1) for part in each]
            case float() if isfinite(each):
                return int(each) if each.is_integer() and abs(each) < 2**53 else each
            case str():
                return _text(each, name)
            case None | bool() | int():
                return each
        raise Unreadable(f"{name} holds a value that JSON does not have: {str(each)[:40]}")

    return copy(value, 0)


def _text(text: str, name: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unreadable(f"{name} has half a surrogate pair") from None
    return text


def _key(key: object) -> str:
    match key:
        case str():
            return key
        case None | bool() | int() | float():
            return to_json(key)
    raise Unreadable(f"the key {str(key)[:40]} is no text")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
