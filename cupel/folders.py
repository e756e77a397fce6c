"""The text files of a folder, as an import reads them; what was read is remembered, so that it can be sent along."""

from collections.abc import Iterator
from pathlib import Path

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 20_000
"""Looked at for a pattern such as `tests/**/*.yaml`."""
_SKIPPED = frozenset({"node_modules", "__pycache__"})


class FolderFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.found: dict[str, str] = {}
        """What has been read so far, by its path."""

    def read(self, path: str) -> str | None:
        if path not in self.found:
            text = self._text(path)
            if text is None:
                return None
            self.found[path] = text
        return self.found[path]

    def names(self) -> list[str]:
        names = (str(path.relative_to(self._folder)) for path, _ in zip(self._walk(), range(MAX_FILES), strict=False))
        return sorted(names)

    def _walk(self) -> Iterator[Path]:
        for folder, folders, files in self._folder.walk():
            folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
            yield from (folder / name for name in files if not name.startswith("."))

    def _text(self, path: str) -> str | None:
        """None for what is not there, lies outside by a link, is large, or is no text."""
        try:
            file = (self._folder / path).resolve()
            if not file.is_relative_to(self._folder) or not file.is_file() or file.stat().st_size > MAX_FILE_BYTES:
                return None
            text = file.read_text(encoding="utf-8", newline="")
        except (OSError, ValueError):
            return None
        return None if "\0" in text else text
