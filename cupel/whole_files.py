"""Replaces files whole or not at all, even after a full disk, a kill or an interruption.

The launcher of the embedded cloud imports this module, so it needs nothing but the standard library.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNFINISHED = ".unfinished"


@contextmanager
def whole_file(path: Path, *, is_private: bool = False) -> Iterator[Path]:
    """Yield the path of a temporary file beside it, which replaces it at the end, unless the block raises.

    A private file can be read by its owner alone, from the first byte on; any other keeps the mode of the one that it
    replaces. A device or a pipe, such as /dev/stdout, is written to directly.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()  # A link to a file stays a link.
    unfinished = target.with_name(f"{target.name}.{os.getpid()}{_UNFINISHED}")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if is_private else 0o666))
        yield unfinished
        _sync(unfinished)
        if target.exists() and not is_private:
            unfinished.chmod(stat.S_IMODE(target.stat().st_mode))
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def replace_file(path: Path, text: str, *, is_private: bool = False) -> None:
    """Write a text file so that it has either its old content or the new one."""
    with whole_file(path, is_private=is_private) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def remove_unfinished(folder: Path) -> None:
    for left in folder.glob(f"*{_UNFINISHED}"):
        left.unlink()


def _sync(path: Path) -> None:
    """Have the disk confirm the content.

    A full disk may fail only now, and a power failure must not leave an empty file under the name of the old one.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
