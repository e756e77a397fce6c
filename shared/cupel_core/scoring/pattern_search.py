"""Regular expressions of users on what models say. Each search is bounded in time: workspaces share the process."""

from functools import lru_cache

import regex

from cupel_core.domain.text.javascript_patterns import flaw, translated
from cupel_core.scoring.check_result import Uncomputable

SECONDS = 0.5
"""What a search takes is time of every conversation that is held in this process."""


def matches(pattern: str, text: str, seconds: float = SECONDS) -> bool:
    """Whether it is found anywhere. Uncomputable for what is no expression, and for one that takes too long."""
    try:
        return _compiled(pattern).search(text, timeout=seconds) is not None
    except TimeoutError:
        raise Uncomputable(f"the expression took longer than {seconds:g} s on this output") from None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "regex.Pattern[str]":
    if why := flaw(pattern):
        raise Uncomputable(f"the expression {why}")
    try:
        return regex.compile(translated(pattern), regex.ASCII)
    except regex.error as error:
        raise Uncomputable(f"the expression is not a regular expression: {error}") from None
