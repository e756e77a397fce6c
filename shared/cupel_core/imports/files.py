"""The files beside an imported one, by their path relative to its folder. There are no others."""

import posixpath
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Protocol

SCHEME = "file://"
_WILD = frozenset("*?[")


class Missing(ValueError):
    """A file that is named and cannot be read, and why, in words."""


class Files(Protocol):
    def read(self, path: str) -> str | None:
        """The text of the file at this path; None when there is no such text file."""

    def names(self) -> list[str]:
        """All of them, in order."""


class GivenFiles:
    """Files that came with a request."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {posixpath.normpath(path): text for path, text in texts.items()}

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def names(self) -> list[str]:
        return sorted(self._texts)


def inside(reference: str, folder: str = "") -> str:
    """The path of `file://a/../b.txt` or `b.txt` as seen from `folder`; Missing for one outside of the folder."""
    written = reference.removeprefix(SCHEME)
    path = posixpath.normpath(posixpath.join(folder, written.replace("\\", "/")))
    if path.startswith(("/", "..")) or "://" in written:
        raise Missing(f"{reference} is outside of the folder of the imported file, and is not read")
    return path


def read(files: Files, reference: str, folder: str = "") -> str:
    text = files.read(inside(reference, folder))
    if text is None:
        raise Missing(f"{reference} is not there, or is no text file")
    return text


def matching(files: Files, reference: str, folder: str = "") -> list[str]:
    """The paths that a pattern such as `tests/*.yaml` stands for; a plain path stands for itself."""
    path = inside(reference, folder)
    if not _WILD & set(path):
        return [path]
    return [name for name in files.names() if PurePosixPath(name).full_match(path)]
