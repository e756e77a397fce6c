"""Users' regular expressions on model outputs. Each search has a time limit: workspaces share the process."""

from functools import lru_cache

import regex

from cupel_core.domain.text.javascript_patterns import javascript_pattern_error, to_python_pattern
from cupel_core.scoring.check_result import NotComputable

TIMEOUT_SECONDS = 0.5
"""A search delays every other conversation in this process."""


def matches(pattern: str, text: str, timeout_seconds: float = TIMEOUT_SECONDS) -> bool:
    """Whether the pattern occurs in the text. Raises NotComputable for an invalid pattern and when time is up."""
    try:
        return _compiled(pattern).search(text, timeout=timeout_seconds) is not None
    except TimeoutError:
        raise NotComputable(f"the expression took longer than {timeout_seconds:g} s on this output") from None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "regex.Pattern[str]":
    if why := javascript_pattern_error(pattern):
        raise NotComputable(f"the expression {why}")
    try:
        return regex.compile(to_python_pattern(pattern), regex.ASCII)
    except regex.error as error:
        raise NotComputable(f"the expression is not a regular expression: {error}") from None
