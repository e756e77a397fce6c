"""Breaks lines at words for a terminal, which would break them within words."""

import re
from collections.abc import Iterator
from itertools import pairwise

from rich.cells import cell_len
from rich.text import Text

_HANGING_INDENT = 2
_MIN_WIDTH = 20
"""Narrower terminals break lines themselves."""
_UNBROKEN = re.compile(r"`[^`\n]*`|\S+")
"""A command in backquotes stays whole like a word, so that it can be copied."""
_COMMAND = re.compile(r"\s*((next|or|then): )?(cupel|export|uvx?|pip|pipx|curl) \S")
"""A line with only a command stays whole, too."""


def wrapped(text: Text, width: int) -> Text:
    """Return the text with lines of at most this width, if no word is longer. Further lines are indented."""
    return Text("\n").join(part for line in text.split("\n", allow_blank=True) for part in _wrapped_line(line, width))


def _wrapped_line(line: Text, width: int) -> Iterator[Text]:
    plain = line.plain
    if width < _MIN_WIDTH or cell_len(plain.rstrip()) <= width or _COMMAND.match(plain):
        yield line
        return
    indent = len(plain) - len(plain.lstrip(" "))
    breaks = list(_breaks(plain, width, indent))
    for number, (start, end) in enumerate(pairwise((0, *breaks, len(plain)))):
        part = line[start:end]
        part.rstrip()
        yield Text(" " * (indent + _HANGING_INDENT)) + part if number else part


def _breaks(plain: str, width: int, indent: int) -> Iterator[int]:
    """Yield where further lines start."""
    start, margin = 0, 0
    for word in _UNBROKEN.finditer(plain):
        if margin + cell_len(plain[start : word.end()]) > width and plain[start : word.start()].strip():
            yield word.start()
            start, margin = word.start(), indent + _HANGING_INDENT
