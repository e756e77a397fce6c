"""Applies an assertion's transform to an answer; what may take long is computed in a sandbox."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
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
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.text.javascript_values import (
    code_units,
    in_code_units,
    joined_units,
    parse_json,
    to_string,
    trim,
    trim_end,
    trim_start,
    well_formed,
)
from cupel_core.scoring.check_result import NotComputable, TransformFailed
from cupel_core.scoring.pattern_search import TIMEOUT_SECONDS, JavaScriptPattern, compile_javascript

MAX_RESULT_LENGTH = 1_000_000
_TASK = "cupel_core.scoring.transforms:apply"
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
"""Matches a name that is an index of a list or a text, as in `output['0']`."""
_HOST_FLAGS = frozenset("imsu")
"""Flags that change what an expression matches."""
_QUICK = frozenset(
    {"trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "toString", "slice", "substring", "at"}
)


async def transformed(transform: str, output: Any) -> Any:
    """Return what the assertion checks, which is text or JSON, but not null. Raises TransformFailed, NotComputable and
    sandbox.LimitExceeded."""
    value = await _computed(transform, output)
    if value is None:
        raise TransformFailed("it returned null")
    return well_formed(value) if isinstance(value, str) else value


async def _computed(transform: str, output: Any) -> Any:
    try:
        steps = parse_transform(transform)
    except TransformError as error:
        raise NotComputable(f"its transform {error}", UnscoredCode.ASSERTION) from None
    if all(step.kind != CALL or step.name in _QUICK for step in steps):
        return _apply(steps, output)
    returned = await sandbox.run(_TASK, transform, json.dumps(output))
    if "failed" in returned:
        raise TransformFailed(returned["failed"])
    return json.loads(returned["value"])


def apply(transform: str, output: str) -> dict[str, str]:
    """Run in the sandbox, with JSON of the output, and return `{value}` with JSON, or `{failed}`."""
    try:
        return {"value": json.dumps(_apply(parse_transform(transform), json.loads(output)))}
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
    if isinstance(name, str) and isinstance(value, str | list) and _INDEX.fullmatch(name):
        name = int(name)
    match value:
        case Match(groups=groups) if name == "groups" and groups:
            return groups
        case Mapping() if str(name) in value:
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


class Match(list[str | None]):
    """`match` returns this without the flag `g`: the match and its groups, some of which have names."""

    groups: Mapping[str, str | None]


def _split(value: str, separator: str | Pattern) -> list[str]:
    if isinstance(separator, str):
        return value.split(separator) if separator else list(code_units(value))
    pattern = _compiled(separator)
    subject = pattern.subject(value)
    parts: list[str] = []
    start = position = 0
    while match := _next_match(pattern, subject, position):
        if match.start() >= len(subject):
            break
        if match.end() == start:
            position = match.start() + 1
            continue
        parts.extend((subject[start : match.start()], *(group or "" for group in match.groups())))
        start = position = match.end()
    if not subject and _next_match(pattern, subject, 0):
        return []
    return [joined_units(part) for part in (*parts, subject[start:])]


def _next_match(pattern: JavaScriptPattern, subject: str, position: int) -> "regex.Match[str] | None":
    return pattern.compiled.search(subject, position, timeout=TIMEOUT_SECONDS)


def _match(value: str, written: Pattern) -> list[str | None]:
    pattern = _compiled(written)
    subject = pattern.subject(value)
    if "g" in written.flags:
        found: list[str | None] = [
            joined_units(match[0]) for match in pattern.compiled.finditer(subject, timeout=TIMEOUT_SECONDS)
        ]
    else:
        first = _next_match(pattern, subject, 0)
        found = Match(group and joined_units(group) for group in (first[0], *first.groups())) if first else Match()
        if isinstance(found, Match) and first:
            found.groups = {name: found[number] for name, number in pattern.names.items()}
    if not found:
        raise TransformFailed(f"nothing in the output matches /{written.source}/")
    return found


def _replace(value: str, old: str | Pattern, new: str) -> str:
    return _replaced(value, old, new, is_global=isinstance(old, Pattern) and "g" in old.flags)


def _replaced(value: str, old: str | Pattern, new: str, *, is_global: bool) -> str:
    pattern = _literal(old) if isinstance(old, str) else _compiled(old)

    def replacement(match: "regex.Match[str]") -> str:
        return _expanded(match, code_units(new), pattern.names)

    subject, count = pattern.subject(value), 0 if is_global else 1
    return joined_units(str(pattern.compiled.sub(replacement, subject, count=count, timeout=TIMEOUT_SECONDS)))


def _expanded(match: "regex.Match[str]", new: str, names: Mapping[str, int]) -> str:
    """Expand `$1` as the first group, `$&` as the whole match, `$<name>` as a group with a name, and `$$` as a dollar
    sign."""
    text, count = match.string, len(match.groups())
    signs = {"$": "$", "&": match[0], "`": text[: match.start()], "'": text[match.end() :]}

    def part(sign: "regex.Match[str]") -> str:
        written = sign[1]
        if written in signs:
            return signs[written]
        if written.startswith("<"):
            return (match[names[written[1:-1]]] or "" if written[1:-1] in names else "") if names else sign[0]
        two, one = int(written), int(written[0])
        if len(written) == 2 and 1 <= two <= count:
            return match[two] or ""
        return f"{match[one] or ''}{written[1:]}" if 1 <= one <= count else sign[0]

    return str(regex.sub(r"\$([$&`']|\d\d?|<[^>]*>)", part, new))


def _literal(text: str) -> JavaScriptPattern:
    return JavaScriptPattern(regex.compile(regex.escape(code_units(text))), is_unicode=False, names={})


def _compiled(pattern: Pattern) -> JavaScriptPattern:
    return compile_javascript(pattern.source, "".join(sorted(_HOST_FLAGS & set(pattern.flags))))


_TEXT_METHODS: Mapping[str, Callable[..., Any]] = {
    "trim": trim,
    "trimStart": trim_start,
    "trimEnd": trim_end,
    "toLowerCase": str.lower,
    "toUpperCase": str.upper,
    "split": _split,
    "match": _match,
    "replace": _replace,
    "replaceAll": partial(_replaced, is_global=True),
    "slice": _text_slice,
    "substring": _substring,
    "at": lambda value, index: _at(code_units(value), index),
}
_LIST_METHODS: Mapping[str, Callable[..., Any]] = {
    "join": lambda value, separator: separator.join("" if item is None else to_string(item) for item in value),
    "slice": _slice,
    "at": _at,
}
