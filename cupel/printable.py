"""Text of users, models and agents, as it may be printed."""

import re

_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and line feed
    r"\u202a-\u202e\u2066-\u2069"  # reorder the text that follows
    r"\ud800-\udfff]"  # half a character, which no stream can encode
)


def printable(text: str) -> str:
    """Without control characters, with which a name or an answer would control the terminal."""
    return _UNPRINTABLE.sub("", text)
