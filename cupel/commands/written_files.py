"""Writes the files of options such as --output. If one cannot be written, its old content stays."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cupel.errors import CupelError, UsageError
from cupel.whole_files import whole_file


def check_text_file(path: Path, option: str) -> None:
    """Raise UsageError if the file cannot be written, before anything is run for it."""
    if path.is_dir():
        raise UsageError(f"{option}: {path}: is a folder")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{option}: {path}: there is no folder {path.parent}")


@contextmanager
def written_file(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which takes its place when it is complete. Raises CupelError if that
    fails."""
    try:
        with whole_file(path) as unfinished:
            yield unfinished
    except OSError as error:
        raise CupelError(f"{path} was not written: {error.strerror or error}") from error


def write_text_file(path: Path, text: str) -> None:
    with written_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


@contextmanager
def written_output() -> Iterator[None]:
    """Flush standard output at the end. Raises CupelError if writing fails, unless its reader has stopped reading."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it again when it exits.
        raise CupelError(f"standard output was not written completely: {error.strerror or error}") from error
