"""The text files of a folder that an import reads. Their contents are collected and sent with the import."""

from collections.abc import Iterator
from pathlib import Path

from cupel.local_files import LocalFile, UnreadableFile, read_file
from cupel_core.domain.files.formats import digest_of, file_id
from cupel_core.interop.imports.files import NOT_A_TEXT_FILE

MAX_FILE_BYTES = 50_000_000
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

    def problem(self, path: str) -> str:
        file = self._file(path)
        if file is None:
            return NOT_A_TEXT_FILE
        try:
            size = file.stat().st_size
            if size > MAX_FILE_BYTES:
                return f"has {size / 1e6:.1f} MB, and an imported file may have at most {MAX_FILE_BYTES / 1e6:.0f} MB"
            return f"is not text in UTF-8{_encoding_hint(file.read_bytes())}; save it as UTF-8"
        except OSError as error:
            return f"cannot be read: {error.strerror or error}"

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
        file = self._file(path)
        if file is None:
            return None
        try:
            text = None if file.stat().st_size > MAX_FILE_BYTES else file.read_bytes().decode()
        except (OSError, ValueError):
            return None
        return None if text is None or "\0" in text else text

    def _file(self, path: str) -> Path | None:
        """Return the path of a file in the folder; None if there is no such file, or a link leads out of the folder."""
        try:
            file = (self._folder / path).resolve()
            return file if file.is_relative_to(self._folder) and file.is_file() else None
        except (OSError, ValueError):
            return None


def _encoding_hint(content: bytes) -> str:
    """Return a guess at the encoding of a file that is not UTF-8, as a part of the error message."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ", but in UTF-16"
    return ", but binary" if b"\0" in content else ", but perhaps in Windows-1252"
