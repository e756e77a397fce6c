"""The text files of a folder that an import reads. Their contents are collected and sent with the import."""

from collections.abc import Iterator
from pathlib import Path

from cupel.local_files import LocalFile, UnreadableFile, read_file
from cupel_core.domain.files.formats import digest_of, file_id

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 20_000
"""The number of files considered for a pattern such as `tests/**/*.yaml`."""
_SKIPPED = frozenset({"node_modules", "__pycache__"})


class FolderFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.contents: dict[str, str] = {}
        """Text read so far, by path."""
        self.media: dict[str, LocalFile] = {}
        """Images and PDFs found so far, by path."""

    def read(self, path: str) -> str | None:
        if path not in self.contents:
            text = self._text(path)
            if text is None:
                return None
            self.contents[path] = text
        return self.contents[path]

    def list_paths(self) -> list[str]:
        names = (str(path.relative_to(self._folder)) for path, _ in zip(self._walk(), range(MAX_FILES), strict=False))
        return sorted(names)

    def find_media(self, path: str) -> str | None:
        """The id of an image or a PDF in the folder; None if there is none."""
        if path not in self.media:
            try:
                file = (self._folder / path).resolve()
                if not file.is_relative_to(self._folder):
                    return None
                self.media[path] = read_file(file)
            except (UnreadableFile, ValueError):
                return None
        return file_id(digest_of(self.media[path].content))

    def _walk(self) -> Iterator[Path]:
        for folder, folders, files in self._folder.walk():
            folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
            yield from (folder / name for name in files if not name.startswith("."))

    def _text(self, path: str) -> str | None:
        """None if the file is missing, outside the folder (through a link), too large, or not text."""
        try:
            file = (self._folder / path).resolve()
            if not file.is_relative_to(self._folder) or not file.is_file() or file.stat().st_size > MAX_FILE_BYTES:
                return None
            text = file.read_bytes().decode()
        except (OSError, ValueError):
            return None
        return None if "\0" in text else text
