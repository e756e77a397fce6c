"""What a command depends on: the API, two consoles and the clock. Tests supply their own session."""

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from cupel.printable import printable, printable_json

if TYPE_CHECKING:  # importing httpx takes longer than everything `cupel --help` needs
    from cupel.client import Client

PIPED_WIDTH = 120
"""Width of tables that are not printed to a terminal, where Rich would assume 80 columns."""


def _connect() -> "Client":
    from cupel.client import Client

    return Client.from_environment()


class PlainTextConsole(Console):
    """Prints names, answers and messages without characters that would control the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return PlainTextConsole(stderr=stderr, width=None if stream.isatty() else PIPED_WIDTH, highlight=False)


@dataclass
class Session:
    """`out` is for results, `err` for progress and remarks, so that results can be piped."""

    connect: "Callable[[], Client]" = _connect
    sleep: Callable[[float], None] = time.sleep
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))

    def print_json(self, document: Any) -> None:
        sys.stdout.write(printable_json(document, indent=2) + "\n")

    def remark(self, text: str) -> None:
        """Print plain text to standard error: user-supplied names are not markup."""
        self.err.print(text, markup=False, soft_wrap=True)
