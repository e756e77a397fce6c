"""Applies an assertion's transform to an answer; what may take long is computed in a sandbox."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

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
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.text.javascript_patterns import to_python_pattern
from cupel_core.scoring.check_result import NotComputable, TransformFailed
from cupel_core.scoring.pattern_search import TIMEOUT_SECONDS

MAX_RESULT_LENGTH = 1_000_000
_TASK = "cupel_core.scoring.transforms:apply"
_PYTHON_FLAGS = frozenset("ims")
_QUICK = frozenset(
    {"trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "toString", "slice", "substring", "at"}
)


async def transformed(transform: str, output: str) -> Any:
    """What the assertion checks: text or JSON. Raises TransformFailed, NotComputable and sandbox.LimitExceeded."""
    try:
        steps = parse_transform(transform)
    except TransformError as error:
        raise NotComputable(f"its transform {error}", UnscoredCode.ASSERTION) from None
    if all(step.kind != CALL or step.name in _QUICK for step in steps):
        return _apply(steps, output)
    returned = await sandbox.run(_TASK, transform, output)
    if "failed" in returned:
        raise TransformFailed(returned["failed"])
    return returned["value"]


def apply(transform: str, output: str) -> dict[str, Any]:
    """Run in the sandbox: `{value}`, or `{failed}`."""
    try:
        return {"value": _apply(parse_transform(transform), output)}
    except TransformFailed as error:
        return {"failed": str(error)}


def as_text(value: Any) -> str:
    """Like JavaScript's `JSON.stringify`, except for a text, which remains as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _apply(steps: tuple[TransformStep, ...], output: str) -> Any:
    value: Any = output
    for step in steps:
        match step:
            case TransformStep(kind) if kind == PARSE:
                value = _parsed(value)
            case TransformStep(kind) if kind == TEXT:
                value = as_text(value)
            case TransformStep(kind, name, arguments) if kind == CALL:
                value = _called(value, str(name), arguments)
            case TransformStep(_, name):
                value = _member(value, name)
    return value


def _parsed(value: Any) -> Any:
    try:
        return json.loads(as_text(value), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise TransformFailed("the output is not JSON") from None


def _refuse(_: str) -> NoReturn:
    raise ValueError


def _member(value: Any, name: str | int) -> Any:
    match value:
        case dict() if str(name) in value:
            return value[str(name)]
        case list() | str() if isinstance(name, int) and name < len(value):
            return value[name]
        case list() | str() if name == "length":
            return len(value)
    raise TransformFailed(f"there is no {f'element {name}' if isinstance(name, int) else f'field {name}'}")


def _called(value: Any, name: str, arguments: tuple[Any, ...]) -> Any:
    if name == "toString" and not isinstance(value, list | dict):
        return as_text(value)
    if name in ("join", "slice", "at") and isinstance(value, list):
        return _LIST_METHODS[name](value, *arguments)
    if not isinstance(value, str) or name == "join":
        raise TransformFailed(f"{name} is called on what is no {'list' if name == 'join' else 'text'}")
    result = _TEXT_METHODS[name](value, *arguments)
    if isinstance(result, str) and len(result) > MAX_RESULT_LENGTH:
        raise TransformFailed(f"{name} returns more than {MAX_RESULT_LENGTH:,} characters")
    return result


def _slice(value: Any, start: int, end: int | None = None) -> Any:
    return value[start:end]


def _substring(value: str, start: int, end: int | None = None) -> str:
    low, high = max(start, 0), len(value) if end is None else max(end, 0)
    return value[min(low, high) : max(low, high)]


def _at(value: Any, index: int) -> Any:
    if not -len(value) <= index < len(value):
        raise TransformFailed(f"there is no element {index}")
    return value[index]


def _split(value: str, separator: str | Pattern) -> list[str]:
    if isinstance(separator, Pattern):
        return [part or "" for part in _compiled(separator).split(value, timeout=TIMEOUT_SECONDS)]
    return value.split(separator) if separator else list(value)


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
    "trim": str.strip,
    "trimStart": str.lstrip,
    "trimEnd": str.rstrip,
    "toLowerCase": str.lower,
    "toUpperCase": str.upper,
    "split": _split,
    "match": _match,
    "replace": _replace,
    "replaceAll": lambda value, old, new: value.replace(old, new),
    "slice": _slice,
    "substring": _substring,
    "at": _at,
}
_LIST_METHODS: Mapping[str, Callable[..., Any]] = {
    "join": lambda value, separator: separator.join(map(as_text, value)),
    "slice": _slice,
    "at": _at,
}
