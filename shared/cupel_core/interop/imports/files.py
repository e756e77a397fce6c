"""Reads files beside an imported one, by path relative to its folder; other files are inaccessible."""

import posixpath
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Protocol

SCHEME = "file://"
_WILDCARDS = frozenset("*?[")


class NotImportable(ValueError):
    """A part of an import cannot be read or is not supported; the message says why."""


class FileSource(Protocol):
    def read(self, path: str) -> str | None:
        """Return the text of the file at this path, or None if there is no such text file."""

    def problem(self, path: str) -> str:
        """Say why the file at this path cannot be read, in words that follow its name."""

    def list_paths(self) -> list[str]:
        """Return the paths of all files, sorted."""

    def find_media(self, path: str) -> str | None:
        """Return the id of the image or PDF at this path, or None if there is none."""


class InMemoryFiles:
    def __init__(self, texts: Mapping[str, str], uploads: Mapping[str, str] | None = None) -> None:
        """Create the source; `uploads` maps paths to the ids of images and PDFs."""
        self._texts = {posixpath.normpath(path): text for path, text in texts.items()}
        self._uploads = {posixpath.normpath(path): file_id for path, file_id in (uploads or {}).items()}

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def problem(self, path: str) -> str:  # noqa: ARG002 - other files of the protocol say why
        return NOT_A_TEXT_FILE

    def list_paths(self) -> list[str]:
        return sorted({*self._texts, *self._uploads})

    def find_media(self, path: str) -> str | None:
        return self._uploads.get(path)


NOT_A_TEXT_FILE = "does not exist or is not a text file"
NO_FILES = InMemoryFiles({})


def resolve_path(reference: str, folder: str = "") -> str:
    location = reference.removeprefix(SCHEME)
    path = posixpath.normpath(posixpath.join(folder, location.replace("\\", "/")))
    if path.startswith(("/", "..")) or "://" in location:
        raise NotImportable(f"{reference} is outside the folder of the imported file")
    return path


def read_file(files: FileSource, reference: str, folder: str = "") -> str:
    """Return the text of a referenced file without a byte order mark. Raises `NotImportable` if it is not available."""
    path = resolve_path(reference, folder)
    text = files.read(path)
    if text is None:
        raise NotImportable(f"{reference} {files.problem(path)}")
    return text.removeprefix("\N{BYTE ORDER MARK}")


def matching_paths(files: FileSource, reference: str, folder: str = "") -> list[str]:
    """Return the paths that match a pattern such as `tests/*.yaml`; a path without wildcards is returned as it is."""
    path = resolve_path(reference, folder)
    if not _WILDCARDS & set(path):
        return [path]
    return [candidate for candidate in files.list_paths() if _matches(candidate, path)]


def _matches(path: str, pattern: str) -> bool:
    """Match like `PurePosixPath.full_match`, which Python 3.12 lacks, in bounded time for any number of `**`."""
    names, steps = path.split("/"), pattern.split("/")
    matched = {0}
    for position, step in enumerate(steps):
        if not matched:
            return False
        if step == "**":
            least = min(matched) + (position == len(steps) - 1)
            matched = set(range(least, len(names) + 1))
        else:
            matched = {count + 1 for count in matched if count < len(names) and fnmatchcase(names[count], step)}
    return len(names) in matched
