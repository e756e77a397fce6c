"""Reads files on this machine that belong to a definition file or an import: images, PDFs and texts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel.errors import RefusedField
from cupel.json_types import Json
from cupel_core.domain.files.formats import MAX_FILE_BYTES, FileInfo, InvalidFile, digest_of, file_id, inspect
from cupel_core.interop.imports.files import NOT_A_TEXT_FILE

if TYPE_CHECKING:
    from cupel.client import Client

_KINDS = ("image", "file")
_OWN_FIELDS = frozenset({*_KINDS, "name", "detail"})
MAX_FOLDER_FILE_BYTES = 50_000_000
MAX_FILES = 20_000
"""Number of files that are considered for a pattern such as `tests/**/*.yaml`."""
_SKIPPED = frozenset({"node_modules", "__pycache__"})


class LocalFile(NamedTuple):
    name: str
    content: bytes
    info: FileInfo


class UnreadableFile(ValueError):
    """A file cannot be read; the message continues the file's name."""


def read_file(path: Path) -> LocalFile:
    try:
        status = path.stat()
        if status.st_size > MAX_FILE_BYTES:
            raise UnreadableFile(f"has more than {MAX_FILE_BYTES:,} bytes")
        if not S_ISREG(status.st_mode) and not S_ISDIR(status.st_mode):
            raise UnreadableFile("cannot be read: is not an ordinary file")  # A device never ends.
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror or error}") from None
    try:
        return LocalFile(path.name, content, inspect(content))
    except InvalidFile as error:
        raise UnreadableFile(str(error)) from None


def upload(client: "Client", files: Mapping[str, LocalFile]) -> None:
    for name, content, info in files.values():
        client.upload_file(content, name, info.format.media_type)


@dataclass
class LocalFiles:
    """Replaces the paths in a document by ids, and collects the files and their problems.

    Other values are left for the rules of the API.
    """

    folder: Path
    files: dict[str, LocalFile] = field(default_factory=dict)
    problems: list[RefusedField] = field(default_factory=list)

    def in_document(self, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        changed = dict(document)
        if isinstance(content := document.get("content"), dict) and isinstance(content.get("prompts"), list):
            prompts = [self.in_messages(prompt, f"content.prompts.{n}.") for n, prompt in enumerate(content["prompts"])]
            changed["content"] = {**content, "prompts": prompts}
        if isinstance(scenarios := document.get("scenarios"), list):
            changed["scenarios"] = [self.in_messages(each, f"scenarios.{n}.") for n, each in enumerate(scenarios)]
        return changed

    def in_messages(self, item: Any, place: str) -> Any:
        if not isinstance(item, dict):
            return item
        changed = dict(item)
        if "messages" in item:
            changed["messages"] = self._messages(item["messages"], f"{place}messages")
        if isinstance(by_prompt := item.get("messagesByPrompt"), dict):
            changed["messagesByPrompt"] = {
                name: self._messages(messages, f"{place}messagesByPrompt.{name}")
                for name, messages in by_prompt.items()
            }
        return changed

    def _messages(self, messages: Any, place: str) -> Any:
        if not isinstance(messages, list):
            return messages
        return [self._message(message, f"{place}.{n}.content") for n, message in enumerate(messages)]

    def _message(self, message: Any, place: str) -> Any:
        if not isinstance(message, dict) or not isinstance(message.get("content"), list):
            return message
        return {**message, "content": [self._part(part, f"{place}.{n}") for n, part in enumerate(message["content"])]}

    def _part(self, part: Any, place: str) -> Any:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        kind = next((kind for kind in _KINDS if isinstance(part, dict) and isinstance(part.get(kind), str)), None)
        if kind is None:
            return part
        self.problems += [
            RefusedField(f"{place}.{name}", f"is no field of {{{kind}: …}}; known fields: {kind}, name, detail")
            for name in sorted(part.keys() - (_OWN_FIELDS - {*_KINDS} | {kind}))
        ]
        return self._reference(part, kind, f"{place}.{kind}")

    def _reference(self, part: Json, kind: str, place: str) -> Json:
        try:
            read = read_file(self.folder / part[kind])
        except UnreadableFile as error:
            self.problems.append(RefusedField(place, f"{part[kind]} {error}"))
            return {"type": "text", "text": part[kind]}
        if read.info.format.is_image != (kind == "image"):
            right = "image" if read.info.format.is_image else "file"
            self.problems.append(RefusedField(place, f"{part[kind]} is a {read.info.format.label}: use `{right}`"))
        new_id = file_id(digest_of(read.content))
        self.files[new_id] = read
        own = {name: value for name, value in part.items() if name != kind}
        return {"type": kind, "fileId": new_id, "name": read.name, **own}


class FolderFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.contents: dict[str, str] = {}
        self.media: dict[str, LocalFile] = {}

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
            if size > MAX_FOLDER_FILE_BYTES:
                most = MAX_FOLDER_FILE_BYTES / 1e6
                return f"has {size / 1e6:.1f} MB, and an imported file may have at most {most:.0f} MB"
            return f"is not text in UTF-8{_encoding_hint(file.read_bytes())}; save it as UTF-8"
        except OSError as error:
            return f"cannot be read: {error.strerror or error}"

    def list_paths(self) -> list[str]:
        names = (str(path.relative_to(self._folder)) for path, _ in zip(self._walk(), range(MAX_FILES), strict=False))
        return sorted(names)

    def find_media(self, path: str) -> str | None:
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
        """Return the text, or None if the file is missing, outside the folder (through a link), too large, or not
        text."""
        file = self._file(path)
        if file is None:
            return None
        try:
            text = None if file.stat().st_size > MAX_FOLDER_FILE_BYTES else file.read_bytes().decode()
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
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ", but in UTF-16"
    return ", but binary" if b"\0" in content else ", but perhaps in Windows-1252"
