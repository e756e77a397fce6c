"""Applies an assertion's transform to an answer; what may take long is computed in a sandbox."""

from collections.abc import Callable, Mapping
from typing import Any

import regex

from cupel_core import sandbox
from cupel_core.domain.scoring.output_transforms import (
    CALL,
    PARSE,
    TEXT,
    Pattern,
    TransformError,
    TransformStep,
    parse_transform,
)
from cupel_core.domain.text.javascript_patterns import to_python_pattern
from cupel_core.domain.text.javascript_values import (
    code_units,
    in_code_units,
    parse_json,
    to_string,
    trim,
    trim_end,
    trim_start,
)
from cupel_core.scoring.check_result import NotComputable, TransformFailed
from cupel_core.scoring.pattern_search import TIMEOUT_SECONDS

MAX_RESULT_LENGTH = 1_000_000
_TASK = "cupel_core.scoring.transforms:apply"
_PYTHON_FLAGS = frozenset("ims")
_QUICK = frozenset(
    {"trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "toString", "slice", "substring", "at"}
)


async def transformed(transform: str, output: Any) -> Any:
    """What the assertion checks: text or JSON, but not null.

    Raises TransformFailed, NotComputable and sandbox.LimitExceeded.
    """
    value = await _computed(transform, output)
    if value is None:
        raise TransformFailed("it returned null")
    return value


async def _computed(transform: str, output: Any) -> Any:
    try:
        steps = parse_transform(transform)
    except TransformError as error:
        raise NotComputable(f"its transform {error}") from None
    if all(step.kind != CALL or step.name in _QUICK for step in steps):
        return _apply(steps, output)
    returned = await sandbox.run(_TASK, transform, output)
    if "failed" in returned:
        raise TransformFailed(returned["failed"])
    return returned["value"]


def apply(transform: str, output: Any) -> dict[str, Any]:
    """Run in the sandbox: `{value}`, or `{failed}`."""
    try:
        return {"value": _apply(parse_transform(transform), output)}
    except TransformFailed as error:
        return {"failed": str(error)}


def _apply(steps: tuple[TransformStep, ...], output: Any) -> Any:
    value = output
    for step in steps:
        match step:
            case TransformStep(kind) if kind == PARSE:
                value = _parsed(value)
            case TransformStep(kind) if kind == TEXT:
                value = to_string(value)
            case TransformStep(kind, name, arguments) if kind == CALL:
                value = _called(value, str(name), arguments)
            case TransformStep(_, name):
                value = _member(value, name)
    return value


def _parsed(value: Any) -> Any:
    try:
        return parse_json(to_string(value))
    except (ValueError, RecursionError):
        raise TransformFailed("the output is not JSON") from None


def _member(value: Any, name: str | int) -> Any:
    match value:
        case dict() if str(name) in value:
            return value[str(name)]
        case str() if name == "length" or isinstance(name, int):
            return _member(list(code_units(value)), name)
        case list() if isinstance(name, int) and name < len(value):
            return value[name]
        case list() if name == "length":
            return len(value)
    raise TransformFailed(f"there is no {f'element {name}' if isinstance(name, int) else f'field {name}'}")


def _called(value: Any, name: str, arguments: tuple[Any, ...]) -> Any:
    if name == "toString" and value is not None:
        return to_string(value)
    if name in ("join", "slice", "at") and isinstance(value, list):
        return _LIST_METHODS[name](value, *arguments)
    if not isinstance(value, str) or name == "join":
        raise TransformFailed(f"{name} is called on what is no {'list' if name == 'join' else 'text'}")
    result = _TEXT_METHODS[name](value, *arguments)
    if isinstance(result, str) and len(result) > MAX_RESULT_LENGTH:
        raise TransformFailed(f"{name} returns more than {MAX_RESULT_LENGTH:,} characters")
    return result


def _slice(value: list[Any], start: int, end: int | None = None) -> list[Any]:
    return value[start:end]


def _text_slice(value: str, start: int, end: int | None = None) -> str:
    return in_code_units(value, lambda units: units[start:end])


def _substring(value: str, start: int, end: int | None = None) -> str:
    def part(units: str) -> str:
        low, high = max(start, 0), len(units) if end is None else max(end, 0)
        return units[min(low, high) : max(low, high)]

    return in_code_units(value, part)


def _at(value: Any, index: int) -> Any:
    if not -len(value) <= index < len(value):
        raise TransformFailed(f"there is no element {index}")
    return value[index]


def _split(value: str, separator: str | Pattern) -> list[str]:
    if isinstance(separator, Pattern):
        return [part or "" for part in _compiled(separator).split(value, timeout=TIMEOUT_SECONDS)]
    return value.split(separator) if separator else list(code_units(value))


def _match(value: str, pattern: Pattern) -> list[str | None]:
    compiled = _compiled(pattern)
    if "g" in pattern.flags:
        found: list[str | None] = [match[0] for match in compiled.finditer(value, timeout=TIMEOUT_SECONDS)]
    else:
        match = compiled.search(value, timeout=TIMEOUT_SECONDS)
        found = [match[0], *match.groups()] if match else []
    if not found:
        raise TransformFailed(f"nothing in the output matches /{pattern.source}/")
    return found


def _replace(value: str, old: str | Pattern, new: str) -> str:
    if isinstance(old, str):
        return value.replace(old, new, 1)
    count = 0 if "g" in old.flags else 1
    return str(_compiled(old).sub(lambda match: _expanded(match, new), value, count=count, timeout=TIMEOUT_SECONDS))


def _expanded(match: "regex.Match[str]", new: str) -> str:
    """`$1` is the first group, `$&` the whole match."""
    groups = {"&": match[0], **{str(number): group or "" for number, group in enumerate(match.groups(), start=1)}}
    return str(regex.sub(r"\$(&|\d)", lambda name: groups.get(name[1], name[0]), new))


def _compiled(pattern: Pattern) -> "regex.Pattern[str]":
    flags = "".join(sorted(_PYTHON_FLAGS & set(pattern.flags)))
    return regex.compile(to_python_pattern(f"(?{flags}){pattern.source}" if flags else pattern.source), regex.ASCII)


_TEXT_METHODS: Mapping[str, Callable[..., Any]] = {
    "trim": trim,
    "trimStart": trim_start,
    "trimEnd": trim_end,
    "toLowerCase": str.lower,
    "toUpperCase": str.upper,
    "split": _split,
    "match": _match,
    "replace": _replace,
    "replaceAll": lambda value, old, new: value.replace(old, new),
    "slice": _text_slice,
    "substring": _substring,
    "at": lambda value, index: _at(code_units(value), index),
}
_LIST_METHODS: Mapping[str, Callable[..., Any]] = {
    "join": lambda value, separator: separator.join("" if item is None else to_string(item) for item in value),
    "slice": _slice,
    "at": _at,
}
