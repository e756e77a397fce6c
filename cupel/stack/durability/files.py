"""Reads that other threads leave whole."""

from collections.abc import Callable
from contextlib import suppress

_ATTEMPTS = 10


def read_consistently[T](read: Callable[[], T]) -> T:
    """Threads of the emulator change its dictionaries; a read that raises RuntimeError is repeated."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(RuntimeError):
            return read()
    return read()
