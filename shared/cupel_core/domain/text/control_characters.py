"""Finds characters that have an effect instead of being shown, with which a name could control a terminal that prints
it."""

import re

_DIRECTION = r"\u202a-\u202e\u2066-\u2069"
"""Characters that reorder the text that follows."""
_IN_TEXT = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_DIRECTION}]")
_IN_NAME = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{_DIRECTION}]")
"""Names are shown on one line, so line breaks and tabs are included."""


def has_control_characters(name: str) -> bool:
    """Return whether the name has a control character, a line break, a tab, or a character that reorders text."""
    return _IN_NAME.search(name) is not None


def single_line(text: str) -> str:
    """Return the text as a name: runs of control characters and white space become single spaces."""
    return " ".join(_IN_NAME.sub(" ", text).split())


def escaped_in_json(json_text: str) -> str:
    """Escape the characters of JSON that a terminal does not show; JSON itself requires only some of the escapes."""
    return _IN_TEXT.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def without_control_characters(text: str) -> str:
    """Return the text with its line feeds and tabs, but without other control characters."""
    return _IN_TEXT.sub("", text)
