"""Detects that a text repeats parts of a conversation, however they are escaped, spaced or cut."""

import re
from collections.abc import Iterable

MIN_QUOTED = 16
"""Shorter sequences of letters and digits occur in any two texts."""
_STEP = 4
_MAX_COMPARED = 1_000_000
"""Longer texts count as quoted, so that a comparison takes a few milliseconds."""
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\[nrtbf]")
_OTHERS = re.compile(r"[\W_]+")


def quotes(text: str, said: Iterable[str]) -> bool:
    """Return whether the text has about `MIN_QUOTED` consecutive letters and digits of one of the others."""
    letters = _letters(text)
    pieces = [letters[start : start + MIN_QUOTED] for start in range(0, len(letters) - MIN_QUOTED + 1, _STEP)]
    compared = 0
    for each in said:
        compared += len(each)
        if compared > _MAX_COMPARED or _has_any(_letters(each), pieces):
            return True
    return False


def _has_any(letters: str, pieces: list[str]) -> bool:
    return any(piece in letters for piece in pieces)


def _letters(text: str) -> str:
    decoded = _CODE.sub(lambda code: chr(int(code[1], 16)), text)
    return _OTHERS.sub("", _ESCAPE.sub(" ", decoded)).casefold()
