"""Regular expressions that users write and that run on what models say, which is text nobody vouches for.

What is protected: an expression that repeats a repetition, the classic way to exponential time, is refused, and
the text it sees is bounded where it is read (`decisions.py`). What is not: alternatives that overlap
inside a repetition, such as `(a|a)*`, and several repetitions in a row, whose time is a power of the text's length.
Such an expression slows or times out the probes of the workspace that wrote it, and nobody else's.
"""

import re
import warnings

MAX_PATTERN_LENGTH = 1_000
_MANY = 10
"""Repeating at least this often counts as repeating without end."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<repeat>[*+]|\{(?:\d+|\d*,\d*)\})[+?]?|.", re.DOTALL)


def complaint(pattern: str) -> str | None:
    """What is wrong with a decision pattern, for the person who wrote it; None when nothing is."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"must have at most {MAX_PATTERN_LENGTH} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a pattern that will mean something else in a later Python
            groups = re.compile(pattern).groups
    except (re.error, Warning, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    if groups == 0:
        return "must have a group: the first one is the decision code"
    if repeats_a_repetition(pattern):
        return "must not repeat a group that itself repeats something, such as (a+)+: it can take for ever"
    return None


def repeats_a_repetition(pattern: str) -> bool:
    open_groups = [False]  # of each group around here: does it repeat something?
    closed = False  # did a group that repeats something end just before this token?
    for token in _TOKEN.finditer(pattern):
        if token["repeat"] and _is_many(token["repeat"]):
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


def _is_many(repeat: str) -> bool:
    if repeat in "*+":
        return True
    most = repeat.strip("{}").split(",")[-1]
    return not most or int(most) >= _MANY
