"""Files that a kill leaves whole, and reads that other threads leave whole."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_ATTEMPTS = 10


def read_consistently[T](read: Callable[[], T]) -> T:
    """Threads of the emulator change its dictionaries; a read that raises RuntimeError is repeated."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(RuntimeError):
            return read()
    return read()


def replace_file(path: Path, text: str) -> None:
    """Write a file so that it has either its old content or the new one, whatever happens."""
    unfinished = path.with_name(path.name + ".tmp")
    try:
        with unfinished.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
