"""The fenced blocks of the documentation's pages.

A line `<!-- not run: <reason> -->` above a block excuses it from being run. A block of the language `text` right after
a block of commands shows what they print; a line `…` in it stands for any lines.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<excuse>[^\n]+) -->\n)?"
    r'```(?P<language>\w+)(?: title="(?P<title>[^"\n]+)")?\n(?P<text>(?:(?!```).*\n)*)```\n',
    re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    """The name of the file whose content it is."""
    text: str
    excuse: str | None
    is_next_to_previous: bool
    """Whether only blank lines separate it from the block before it."""

    def command_lines(self) -> list[list[str]]:
        """Arguments of `cupel`."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("cupel ")]


@cache
def blocks_of(page: Path) -> tuple[Block, ...]:
    return tuple(_blocks(page))


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    end = 0
    for match in _BLOCK.finditer(text):
        is_next = end > 0 and not text[end : match.start()].strip()
        yield Block(match["language"], match["title"], match["text"], match["excuse"], is_next)
        end = match.end()
