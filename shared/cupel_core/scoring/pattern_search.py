"""Searches users' regular expressions in model outputs with a time limit, because workspaces share the process.

Ordinary searches take microseconds and are made in the worker's process; a search that may need more
(`is_quick_pattern`), or has needed more, is made in a sandbox. `concurrent=False` is set because releasing the
interpreter's lock for microseconds and waiting for it again would take milliseconds when other threads are busy.
"""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error, schema_flags, translate
from cupel_core.domain.text.javascript_values import code_units, joined_units
from cupel_core.domain.text.patterns import decision_pattern_error, escape_literal_braces
from cupel_core.scoring.check_result import NotComputable

TIMEOUT_SECONDS = 0.4
"""A search in a sandbox is limited to a little less than the sandbox's CPU limit, so that the process can be used
again."""


class JavaScriptPattern(NamedTuple):
    """Contains a compiled expression in JavaScript's dialect, whose matches are positions and parts of `subject`."""

    compiled: "regex.Pattern[str]"
    is_unicode: bool
    names: Mapping[str, int]

    def subject(self, text: str) -> str:
        return text if self.is_unicode else code_units(text)

    def search(self, text: str, timeout_seconds: float = TIMEOUT_SECONDS) -> "regex.Match[str] | None":
        """Raises TimeoutError."""
        return self.compiled.search(self.subject(text), timeout=timeout_seconds, concurrent=False)


def matches(pattern: str, text: str, timeout_seconds: float = TIMEOUT_SECONDS) -> bool:
    """Return whether the pattern occurs in the text. Raises NotComputable for an invalid pattern, and TimeoutError."""
    return compile_javascript(pattern).search(text, timeout_seconds) is not None


def matches_schema(pattern: str, text: str) -> bool:
    """Return whether a pattern of a JSON schema occurs in the text. Raises as `matches`."""
    return compile_javascript(pattern, schema_flags(pattern)).search(text) is not None


def first_group(pattern: str, text: str, timeout_seconds: float = TIMEOUT_SECONDS) -> str | None:
    """Return the first group of the pattern's first match, or the match if there is no group; None without a match.
    Raises NotComputable for an invalid pattern, and TimeoutError."""
    match = compile_javascript(pattern).search(text, timeout_seconds)
    if match is None:
        return None
    return joined_units((match[1] or "") if match.re.groups else match[0])


def last_group(
    pattern: str, texts: Sequence[str], timeout_seconds: float = TIMEOUT_SECONDS
) -> tuple[int, str | None] | None:
    """Return the first text with a match of a decision pattern, by its number, and the first group of its last match.
    Raises NotComputable for an invalid pattern, and TimeoutError."""
    expression, ends_at = _compiled_decision(pattern), time.process_time() + timeout_seconds
    for number, text in enumerate(texts):
        match = None
        seconds_left = max(0.0, ends_at - time.process_time())
        for match in expression.finditer(text, timeout=seconds_left, concurrent=False):  # noqa: B007
            pass
        if match:
            return number, match.group(1)
    return None


@lru_cache(maxsize=256)
def compile_javascript(pattern: str, flags: str = "") -> JavaScriptPattern:
    """Raises NotComputable for an invalid pattern."""
    if why := javascript_pattern_error(pattern, flags):
        raise NotComputable(f"the expression {why}", UnscoredCode.ASSERTION)
    expression, is_unicode, names = translate(pattern, flags)
    return JavaScriptPattern(_compile(expression, regex.V0), is_unicode, names)


@lru_cache(maxsize=256)
def _compiled_decision(pattern: str) -> "regex.Pattern[str]":
    if why := decision_pattern_error(pattern):
        raise NotComputable(f"the decision pattern {why}", UnscoredCode.ASSERTION)
    return _compile(escape_literal_braces(pattern), 0)


def _compile(pattern: str, flags: int) -> "regex.Pattern[str]":
    try:
        return regex.compile(pattern, flags)
    except (regex.error, RecursionError) as error:
        raise NotComputable(f"the expression is not a regular expression: {error}", UnscoredCode.ASSERTION) from None
