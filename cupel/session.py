"""Defines the dependencies of a command: the API, two consoles and the clock. Tests supply their own session."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from cupel.printable import printable, printable_json
from cupel.tables import layout

if TYPE_CHECKING:  # Importing httpx takes longer than everything that `cupel --help` needs.
    from cupel.client import Client

PIPED_WIDTH = 120
"""Output that is neither a table nor a text has this width when it is not printed to a terminal; Rich assumes 80."""


def _asks() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _connect() -> "Client":
    from cupel.client import Client

    return Client.from_environment()


def _open_browser(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)


class PlainTextConsole(Console):
    """Prints names, answers and messages without characters that would control the terminal, and tables that fit.

    Texts are not folded: a terminal does that itself, without a line break in copied text. `:x:` in a name or an answer
    is not an emoji.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    @property
    def table_width(self) -> int | None:
        """Return the width, or None in a pipe, where lines have any length."""
        return self.width if self.is_terminal else None

    def print(self, *objects: Any, **options: Any) -> None:
        if len(objects) != 1 or not isinstance(objects[0], Table):
            is_text = all(isinstance(each, str) for each in objects)
            super().print(*objects, **({"soft_wrap": True} if is_text else {}) | options)
            return
        for part in layout(objects[0], self.table_width):
            super().print(part, soft_wrap=not isinstance(part, Table))

    def on_broken_pipe(self) -> None:
        """Continue without standard error if nobody reads it: the results may have been paid for."""
        if not self.stderr:
            super().on_broken_pipe()
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def console(*, stderr: bool) -> PlainTextConsole:
    """Print a character that the stream's encoding lacks, as in a pipe on Windows, as its code.

    There is no stream if it was closed, or in a Windows program without a console; then nothing is printed.
    """
    stream: TextIO | None = sys.stderr if stderr else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return PlainTextConsole(stderr=stderr, width=None if stream and stream.isatty() else PIPED_WIDTH, highlight=False)


@dataclass
class Session:
    """Holds the consoles: `out` is for results, `err` for progress and remarks, so that results can be piped."""

    connect: "Callable[[], Client]" = _connect
    sleep: Callable[[float], None] = time.sleep
    open_browser: Callable[[str], bool] = _open_browser
    can_ask: Callable[[], bool] = _asks
    out: PlainTextConsole = field(default_factory=lambda: console(stderr=False))
    err: PlainTextConsole = field(default_factory=lambda: console(stderr=True))

    def print_json(self, document: Any) -> None:
        is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        sys.stdout.write(printable_json(document, indent=2, ensure_ascii=not is_unicode) + "\n")

    def print_deleted(self, resource_id: str, *, as_json: bool) -> None:
        if as_json:
            self.print_json({"id": resource_id, "deleted": True})
        else:
            self.out.print(f"deleted {resource_id}", markup=False)

    def remark(self, text: str) -> None:
        """Print plain text to standard error: user-supplied names are not markup."""
        self.err.print(text, markup=False, soft_wrap=True)
