"""Regular expressions that are written by users and applied to model output, which is untrusted text.

Rejected: an expression that repeats a repetition, the classic case of exponential time. The text it is applied to is
bounded where it is used (`decisions.py`). Not detected: overlapping alternatives inside a repetition, such as
`(a|a)*`, and consecutive repetitions, whose time is polynomial in the length of the text. Such an expression slows
down or times out the probes of the workspace that wrote it, but no others.
"""

import re
import warnings

MAX_PATTERN_LENGTH = 1_000
_UNBOUNDED_REPEAT = 10
"""An upper bound of at least this many repetitions counts as unbounded."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<repeat>[*+]|\{(?:\d+|\d*,\d*)\})[+?]?|.", re.DOTALL)


def decision_pattern_error(pattern: str) -> str | None:
    """What is wrong with a decision pattern, in words for its author; None if it is valid."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"must have at most {MAX_PATTERN_LENGTH} characters"
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


def has_nested_repetition(pattern: str) -> bool:
    open_groups = [False]  # for each enclosing group: does it contain a repetition?
    closed = False  # did a group that contains a repetition end just before this token?
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
