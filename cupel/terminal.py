"""Formats output for the reader of standard output: a person on a terminal, or a program in a pipe."""

import sys
from datetime import datetime, tzinfo

from cupel.printable import printable
from cupel_core.base.clock import from_iso
from cupel_core.domain.text.beginnings import beginning

NO_VALUE = "–"


def is_terminal() -> bool:
    return sys.stdout.isatty()


def format_time(iso: str | None) -> str:
    """Return `2026-01-31 10:30:00` in the zone of this machine; in a pipe with its offset,
    `2026-01-31T10:30:00+01:00`."""
    return in_zone(from_iso(iso), None, is_terminal=is_terminal()) if iso else NO_VALUE


def in_zone(moment: datetime, zone: tzinfo | None, *, is_terminal: bool) -> str:
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}" if is_terminal else local.isoformat(timespec="seconds")


def shorten(text: str, length: int) -> str:
    """Return the text on one line, cut to the length on a terminal; in a pipe nothing is cut."""
    return one_line(text, length if is_terminal() else None)


def one_line(text: str, length: int | None = None) -> str:
    line = " ".join(printable(text).split())
    return line if length is None else beginning(line, length)
