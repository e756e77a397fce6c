"""Checks regular expressions that users write and that are applied to model output, which is untrusted text.

An expression that repeats a repetition, the classic case of exponential time, is rejected, because its author would
want to know. Overlapping alternatives inside a repetition, such as `(a|a)*`, and consecutive repetitions, whose time is
polynomial in the length of the text, are not detected. A time limit on searches covers these as well
(`cupel_core/scoring/pattern_search.py`).
"""

import re
import warnings
from math import prod

MAX_PATTERN_LENGTH = 1_000
_UNBOUNDED_REPEAT = 10
"""An upper bound of at least this many repetitions counts as unbounded."""

QUICK_SECONDS = 0.01
"""A search delays every other conversation in the process by up to this time."""
MAX_QUICK_LENGTH = 20_000
_MAX_QUICK_REPEATS = 1_000
_COUNTS = re.compile(r"\{(\d*),?(\d*)\}")
MAX_WIDE_SETS = 20
"""Compiling a set that ignores case may visit all of its characters, which takes 10 ms."""

_IGNORES_CASE = re.compile(r"\(\?[a-hj-zA-Z]*i")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]|\\[uUNx]")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<repeat>[*+]|\{(?:\d+|\d*,\d*)\})[+?]?|.", re.DOTALL)


def decision_pattern_error(pattern: str) -> str | None:
    """Return the error in a decision pattern, in words for its author; None if it is valid."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"must have at most {MAX_PATTERN_LENGTH} characters"
    if error := wide_set_error(pattern):
        return error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the pattern would change its meaning in a later Python
            groups = re.compile(pattern).groups
    except (re.error, Warning, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    if groups == 0:
        return "must have a group: the first one is the decision code"
    if has_nested_repetition(pattern):
        return (
            "must not repeat a group that itself repeats something, such as (a+)+: matching can take exponential time"
        )
    return None


def is_quick_pattern(pattern: str, text_length: int) -> bool:
    """Return whether a search may be tried in a process that workspaces share, with `QUICK_SECONDS` as its limit. A
    search checks its time only now and then, and compiling a counted repetition takes memory for each count."""
    counts = (max(int(minimum or 1), int(maximum or 1)) for minimum, maximum in _COUNTS.findall(pattern))
    return text_length <= MAX_QUICK_LENGTH and prod(max(1, count) for count in counts) <= _MAX_QUICK_REPEATS


def wide_set_error(pattern: str) -> str | None:
    """Return why an expression takes too long to compile; None if it does not."""
    if pattern.count("[") > MAX_WIDE_SETS and _IGNORES_CASE.search(pattern) and _BEYOND_ASCII.search(pattern):
        return f"must not have more than {MAX_WIDE_SETS} sets of characters beyond ASCII if it ignores case"
    return None


def escape_literal_braces(pattern: str) -> str:
    """Return the same expression for a dialect in which a brace may start more than a repetition, such as `{e<=2}`."""
    return "".join("\\{" if token[0] == "{" else token[0] for token in _TOKEN.finditer(pattern))


def has_nested_repetition(pattern: str) -> bool:
    open_groups = [False]  # one entry per enclosing group says whether it contains a repetition
    closed = False  # is true if a group with a repetition ends just before this token
    for token in _TOKEN.finditer(pattern):
        if token["repeat"] and _is_unbounded(token["repeat"]):
            if closed:
                return True
            open_groups[-1] = True
        elif token[0] == "(":
            open_groups.append(False)
        elif token[0] == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1] |= closed
            continue
        closed = False
    return False


def _is_unbounded(repeat: str) -> bool:
    if repeat in "*+":
        return True
    maximum = repeat.strip("{}").split(",")[-1]
    return not maximum or int(maximum) >= _UNBOUNDED_REPEAT
