"""The fenced blocks of the documentation's pages.

A line `<!-- not run: <reason> -->` above a block excuses it from being run.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<excuse>[^\n]+) -->\n)?"
    r'```(?P<language>\w+)(?: title="(?P<title>[^"\n]+)")?\n(?P<text>.*?)^```',
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    """The name of the file whose content it is."""
    text: str
    excuse: str | None

    def command_lines(self) -> list[list[str]]:
        """Arguments of `cupel`."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("cupel ")]


def blocks_of(page: Path) -> Iterator[Block]:
    for match in _BLOCK.finditer(page.read_text()):
        yield Block(match["language"], match["title"], match["text"], match["excuse"])
