from collections.abc import Callable
from contextlib import suppress

_ATTEMPTS = 10


def read_consistently[T](read: Callable[[], T]) -> T:
    """Repeat a read that raises RuntimeError because threads of the emulator change its dictionaries."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(RuntimeError):
            return read()
    return read()
