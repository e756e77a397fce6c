"""Defines what assertions about called functions expect: names by pattern, arguments, sequences."""

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.text.json_equality import is_same_json

STEP_TYPES = ("tool", "message")
MAX_PATTERN_LENGTH = 200


@dataclass(frozen=True)
class Matcher:
    """Matches steps by name, in which `*` stands for any text and `?` for one character, and by type."""

    pattern: str = "*"
    types: tuple[str, ...] = ()
    """All types match if it is empty."""

    @classmethod
    def of(cls, value: str | Mapping[str, Any]) -> "Matcher":
        if isinstance(value, str):
            return cls(value)
        types = value.get("type") or ()
        pattern = value.get("pattern") or value.get("name") or "*"
        return cls(pattern, (types,) if isinstance(types, str) else tuple(types))

    def matches_name(self, name: str) -> bool:
        return _expression(self.pattern).match(name) is not None

    def matches(self, step_type: str, name: str) -> bool:
        return (not self.types or step_type in self.types) and self.matches_name(name)


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. Expressions of fnmatch need no backtracking over several stars."""
    return re.compile(translate(pattern.replace("[", "[[]")), re.IGNORECASE)


@dataclass(frozen=True)
class ArgumentRules:
    expected: Any
    is_exact: bool = False
    defaults: Mapping[str, Any] | None = None
    """A call may also have these arguments, with these values."""
    ignored: tuple[str, ...] = ()
    """Names, or patterns of names, of arguments that are not compared."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "ArgumentRules":
        expected = value["args"] if "args" in value else value.get("arguments")
        ignored = value.get("ignore") or ()
        names = (ignored,) if isinstance(ignored, str) else tuple(ignored)
        return cls(expected, value.get("mode") == "exact", value.get("defaults"), names)

    def match(self, arguments: Any) -> bool:
        actual, expected = self._without_defaults(self._compared(arguments)), self._compared(self.expected)
        return is_same_json(actual, expected) if self.is_exact else contains_json(actual, expected)

    def _compared(self, value: Any) -> Any:
        if not isinstance(value, dict) or not self.ignored:
            return value
        return {name: each for name, each in value.items() if not any(_is_ignored(rule, name) for rule in self.ignored)}

    def _without_defaults(self, value: Any) -> Any:
        if not isinstance(value, dict) or not self.defaults:
            return value
        defaults = self.defaults
        return {
            name: each for name, each in value.items() if name not in defaults or not is_same_json(each, defaults[name])
        }


def _is_ignored(rule: str, name: str) -> bool:
    """Return whether a rule, whose name is case-sensitive and whose pattern is not, ignores the name."""
    return rule == name or (("*" in rule or "?" in rule) and Matcher(rule).matches_name(name))


def contains_json(actual: Any, expected: Any) -> bool:
    """Return whether objects have what is expected of them, at every level; lists must have the same length."""
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(contains_json, actual, expected))
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and contains_json(actual[name], value) for name, value in expected.items()
        )
    return is_same_json(actual, expected)


def matchers_of(value: str | list[str]) -> list[Matcher]:
    return [Matcher.of(name) for name in ([value] if isinstance(value, str) else value)]


def sequence_of(value: list[Any] | Mapping[str, Any]) -> tuple[list[Matcher], bool]:
    """Return the expected calls, and whether there may be no others."""
    steps = value if isinstance(value, list) else value.get("steps") or []
    return [Matcher.of(step) for step in steps], isinstance(value, Mapping) and value.get("mode") == "exact"


def tool_names(value: str | list[Any]) -> list[str]:
    names = value.split(",") if isinstance(value, str) else map(str, value)
    return [name for each in names if (name := each.strip())]


def used_error(value: Any) -> str | None:
    if isinstance(value, dict):
        return _matcher_error(value, {"min", "max"}, types=("tool",)) or _named_error(value) or _bounds_error(value)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(map(_is_pattern, names)):
        return "must be the name of a function, a list of names, or an object with name or pattern, min and max"
    return None


def args_error(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be an object with name or pattern, and args"
    if "args" not in value and "arguments" not in value:
        return "must have args: the expected arguments"
    if value.get("mode", "partial") not in ("partial", "exact"):
        return "must have a mode that is partial or exact"
    if not isinstance(value.get("defaults", {}), dict):
        return "must have defaults that are an object"
    ignored = value.get("ignore", [])
    names = [ignored] if isinstance(ignored, str) else ignored
    if not isinstance(names, list) or not all(map(_is_pattern, names)):
        return "must have an ignore that is a name or a list of names"
    own = {"args", "arguments", "mode", "defaults", "ignore"}
    return _matcher_error(value, own, types=("tool",)) or _named_error(value)


def sequence_error(value: Any) -> str | None:
    if isinstance(value, dict):
        if set(value) - {"mode", "steps"} or value.get("mode", "in_order") not in ("in_order", "exact"):
            return "must have only steps, and a mode that is in_order or exact"
        value = value.get("steps")
    if not isinstance(value, list) or not value:
        return "must be a list of names, or an object with steps and mode"
    for step in value:
        if isinstance(step, dict):
            if error := _matcher_error(step, set(), types=("tool",)) or _named_error(step):
                return error
        elif not _is_pattern(step):
            return "must have steps that are names, or objects with name or pattern"
    return None


def count_error(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be an object with min, max or both"
    if value.get("min") is None and value.get("max") is None:
        return "must have min, max or both"
    return _matcher_error(value, {"min", "max"}, types=STEP_TYPES) or _bounds_error(value)


def names_error(value: Any) -> str | None:
    is_names = isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))
    return None if is_names and tool_names(value) else "must be a list of names of functions, or one text with commas"


def _matcher_error(value: Mapping[str, Any], others: set[str], types: tuple[str, ...]) -> str | None:
    if unknown := sorted(set(value) - {"name", "pattern", "type", *others}):
        return f"has an unknown field {unknown[0]}"
    if not all(_is_pattern(value[name]) for name in ("name", "pattern") if name in value):
        return f"must have a name and a pattern of at most {MAX_PATTERN_LENGTH} characters"
    given = value.get("type", [])
    if not all(each in types for each in ([given] if isinstance(given, str) else given or [])):
        return f"must have a type among {', '.join(types)}: no other steps are recorded"
    return None


def _named_error(value: Mapping[str, Any]) -> str | None:
    return None if "name" in value or "pattern" in value else "must have a name or a pattern"


def _bounds_error(value: Mapping[str, Any]) -> str | None:
    bounds = [value[name] for name in ("min", "max") if value.get(name) is not None]
    if not all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in bounds):
        return "must have a min and a max that are whole numbers of at least 0"
    return None if bounds == sorted(bounds) else "must have a min that is at most its max"


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= MAX_PATTERN_LENGTH
