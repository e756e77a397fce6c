"""What a command works with: the API, two consoles and the clock. Tests give a session of their own."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:  # importing httpx takes longer than everything `cupel --help` needs
    from cupel.client import Client

PIPED_WIDTH = 120
"""Columns of a table that does not go to a terminal, where Rich would assume 80."""


def _connect() -> "Client":
    from cupel.client import Client

    return Client.from_environment()


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else PIPED_WIDTH, highlight=False)


@dataclass
class Session:
    """`out` is for answers, `err` for progress and remarks, so that an answer can be piped."""

    connect: "Callable[[], Client]" = _connect
    sleep: Callable[[float], None] = time.sleep
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))

    def print_json(self, document: Any) -> None:
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")

    def remark(self, text: str) -> None:
        """Plain text: names of other people's things are not markup."""
        self.err.print(text, markup=False, soft_wrap=True)
