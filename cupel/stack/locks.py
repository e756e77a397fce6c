"""Locks files for one process at a time. The kernel releases a lock when its process ends, however it ends."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def lock_file(path: Path, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Wait until no other process has the lock, and call `on_wait` first if one has it."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
