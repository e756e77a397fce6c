"""Translates regular expressions from JavaScript's dialect (promptfoo, JSON Schema) to Python's."""

import re
import warnings

from cupel_core.domain.text.patterns import MAX_PATTERN_LENGTH, has_nested_repetition, wide_set_error

_TOKEN = re.compile(
    r"\\k<(?P<backreference>\w+)>|\\.|(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<named>\(\?<(?![=!]))|(?P<end>\$)|(?P<brace>\{(?=,))|.",
    re.DOTALL,
)
_MULTILINE = re.compile(r"\(\?[a-ln-z]*m")
_SETS = {"[]": r"(?!)", "[^]": r"[\s\S]"}
_FIXED_WIDTH_ERROR = "look-behind requires fixed-width pattern"
"""A limit of the standard library's `re`, which cupel_core/scoring/pattern_search.py does not have."""


def to_python_pattern(pattern: str) -> str:
    """The same expression in Python's dialect, in which `$` would also match before a final line break."""
    end = "$" if _MULTILINE.search(pattern) else r"\Z"
    return "".join(_translate_token(token, end) for token in _TOKEN.finditer(pattern))


def _translate_token(token: re.Match[str], end: str) -> str:
    if token["backreference"]:
        return f"(?P={token['backreference']})"
    if token["named"]:
        return "(?P<"
    if token["end"]:
        return end
    if token["brace"]:
        return r"\{"
    if token["set"]:
        text = token["set"]
        # Python warns about a bracket in a set: it may start a nested set in a later version.
        return _SETS.get(text) or "[" + re.sub(r"(\\.)|\[", lambda part: part[1] or r"\[", text[1:])
    return token[0]


def javascript_pattern_error(pattern: str) -> str | None:
    """What is wrong with an expression, in words for its author; None if it is valid."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"must have at most {MAX_PATTERN_LENGTH} characters"
    if error := wide_set_error(pattern):
        return error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the expression would change its meaning in a later Python
            re.compile(to_python_pattern(pattern))
    except (re.error, Warning, OverflowError, RecursionError) as error:
        if not str(error).startswith(_FIXED_WIDTH_ERROR):
            return f"is not a regular expression: {error}"
    if has_nested_repetition(pattern):
        return (
            "must not repeat a group that itself repeats something, such as (a+)+: matching can take exponential time"
        )
    return None
