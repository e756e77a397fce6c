"""Regular expressions as promptfoo and JSON Schema mean them, in JavaScript's dialect, said in Python's."""

import re
import warnings

from cupel_core.domain.text.patterns import MAX_PATTERN_LENGTH, repeats_a_repetition

_TOKEN = re.compile(
    r"\\k<(?P<again>\w+)>|\\.|(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<name>\(\?<(?![=!]))|(?P<end>\$)|(?P<brace>\{(?=,))|.",
    re.DOTALL,
)
_MULTILINE = re.compile(r"\(\?[a-ln-z]*m")
_SETS = {"[]": r"(?!)", "[^]": r"[\s\S]"}
_WIDTH = "look-behind requires fixed-width pattern"
"""A limit of the standard library that shared/cupel_core/scoring/pattern_search.py does not have."""


def translated(pattern: str) -> str:
    """The same expression in Python's words, where `$` would also match before a last line break."""
    end = "$" if _MULTILINE.search(pattern) else r"\Z"
    return "".join(_said(token, end) for token in _TOKEN.finditer(pattern))


def _said(token: re.Match[str], end: str) -> str:
    if token["again"]:
        return f"(?P={token['again']})"
    if token["name"]:
        return "(?P<"
    if token["end"]:
        return end
    if token["brace"]:
        return r"\{"
    if token["set"]:
        text = token["set"]
        # A bracket in a set is a warning in Python: it may begin a set of its own one day.
        return _SETS.get(text) or "[" + re.sub(r"(\\.)|\[", lambda part: part[1] or r"\[", text[1:])
    return token[0]


def flaw(pattern: str) -> str | None:
    """What is wrong with an expression, for the person who wrote it; None when nothing is."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"must have at most {MAX_PATTERN_LENGTH} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an expression that will mean something else in a later Python
            re.compile(translated(pattern))
    except (re.error, Warning, OverflowError, RecursionError) as error:
        if not str(error).startswith(_WIDTH):
            return f"is not a regular expression: {error}"
    if repeats_a_repetition(pattern):
        return "must not repeat a group that itself repeats something, such as (a+)+: it can take for ever"
    return None
