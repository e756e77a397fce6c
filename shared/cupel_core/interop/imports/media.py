"""Reads the images and PDFs of an import from data URLs in its text and from files that were sent along.

Nothing is fetched. Within templates a file is a short reference, so that its content is neither rendered nor repeated
for each case.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.parts import FilePart, ImageDetail, MessagePart, PartType, TextPart
from cupel_core.domain.files.data_urls import decode
from cupel_core.domain.files.formats import FileInfo, InvalidFile, digest_of, file_id
from cupel_core.interop.imports.files import SCHEME, FileSource, NotImportable, resolve_path

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".pdf")
_REFERENCE = re.compile(r"(?:data:[\w/+.-]+;base64,)?cupel-file:(file_[0-9a-f]{32})")
_SUFFIX_TYPES = {"jpg": "jpeg"}
_DETAILS = frozenset(ImageDetail)
_MAX_NAME_LENGTH = 200


class ImportedMedia:
    def __init__(self, files: FileSource) -> None:
        self._files = files
        self.data_urls: dict[str, str] = {}
        self._infos: dict[str, FileInfo] = {}
        self._names: dict[str, str] = {}

    def variable(self, value: Any) -> Any:
        """Return a variable's value, with a reference in place of a path or a data URL of an image or a PDF."""
        if not isinstance(value, str):
            return value
        if value.startswith("data:") and ";base64," in value[:100]:
            try:
                return f"cupel-file:{self._id_of_data_url(value)}"
            except NotImportable:
                return value
        if value.startswith(SCHEME) and value.lower().endswith(SUFFIXES):
            return f"cupel-file:{self._id_at(value.removeprefix(SCHEME))}"
        return value

    def part(self, kind: PartType, location: str, name: Any = None, detail: Any = None) -> FilePart:
        """Return a part from a data URL, a path or a reference. Raises `NotImportable`."""
        if match := _REFERENCE.fullmatch(location.strip()):
            found = match[1]
        elif location.startswith("data:"):
            found = self._id_of_data_url(location)
        elif location.startswith(("http:", "https:")):
            raise NotImportable(f"{location[:80]} is not fetched: use a file beside the imported one, or a data URL")
        else:
            found = self._id_at(location)
        own_name = name if isinstance(name, str) else self._names.get(found)
        return FilePart(
            kind,
            found,
            own_name.replace("\\", "/").rpartition("/")[2][:_MAX_NAME_LENGTH] or None if own_name else None,
            ImageDetail(detail) if detail in _DETAILS else None,
            self._infos.get(found),
        )

    def _id_of_data_url(self, url: str) -> str:
        try:
            content, info = decode(url)
        except InvalidFile as error:
            raise NotImportable(f"a data URL {error}") from None
        found = file_id(digest_of(content))
        self.data_urls[found], self._infos[found] = url, info
        return found

    def _id_at(self, path: str) -> str:
        resolved = resolve_path(path)
        found = self._files.find_media(resolved)
        if found is None:
            raise NotImportable(f"{path} is not among the images and PDFs that were sent along, or is none")
        self._names.setdefault(found, resolved.rpartition("/")[2])
        return found


def read_content(content: Sequence[Any], role: MessageRole, media: ImportedMedia) -> Message:
    """Return a message from parts as the formats of providers and Inspect write them. Raises `NotImportable`."""
    parts = tuple(_part(each, media) for each in content)
    if all(isinstance(part, TextPart) for part in parts):
        return Message(role, "".join(part.text for part in parts if isinstance(part, TextPart)))
    if role is not MessageRole.USER:
        raise NotImportable(f"a {role} message has an image or a file; only a user's message may")
    return Message.of_parts(role, parts)


def check_texts(message: Message) -> Message:
    """Raise `NotImportable` if a text has a reference, which would be sent as it is."""
    if "cupel-file:" in message.spoken_text:
        raise NotImportable("a variable with an image or a PDF is in a text; it can be the address in a part only")
    return message


def _part(part: Any, media: ImportedMedia) -> MessagePart:
    if isinstance(part, str):
        return TextPart(part)
    if not isinstance(part, Mapping):
        raise NotImportable("a message has a part that is neither a text nor an object")
    if isinstance(part.get("text"), str):
        return TextPart(part["text"])
    for kind, location, name in _locations(part):
        if isinstance(location, str):
            return media.part(kind, location, name, _detail(part))
    named = str(part.get("type") or "unknown")[:40]
    raise NotImportable(f"a message has a part of type {named}; only texts, images and PDFs are imported")


def _locations(part: Mapping[str, Any]) -> Iterator[tuple[PartType, Any, Any]]:
    url, source, file = part.get("image_url"), part.get("source"), part.get("file")
    yield PartType.IMAGE, url.get("url") if isinstance(url, Mapping) else url, None
    yield PartType.IMAGE, _of_bedrock(part.get("image"), "image"), None
    yield PartType.FILE, _of_bedrock(part.get("document"), "application"), part.get("filename")
    yield PartType.FILE, part.get("file_data"), part.get("filename")
    if isinstance(file, Mapping):
        yield PartType.FILE, file.get("file_data"), file.get("filename")
    if isinstance(inline := part.get("inlineData", part.get("inline_data")), Mapping):
        media_type = str(inline.get("mimeType", inline.get("mime_type")))
        kind = PartType.IMAGE if media_type.startswith("image/") else PartType.FILE
        yield kind, _data_url(media_type, inline.get("data")), None
    if isinstance(source, Mapping):
        kind = PartType.IMAGE if part.get("type") == "image" else PartType.FILE
        yield kind, _of_source(source), part.get("title")


def _of_source(source: Mapping[str, Any]) -> Any:
    if source.get("type") == "base64":
        return _data_url(str(source.get("media_type")), source.get("data"))
    return source.get("url")


def _of_bedrock(value: Any, family: str) -> Any:
    """Return `{format, source: {bytes}}` as a data URL, and other values as they are."""
    if not isinstance(value, Mapping):
        return value
    source, suffix = value.get("source"), str(value.get("format")).lower()
    return _data_url(f"{family}/{_SUFFIX_TYPES.get(suffix, suffix)}", _bytes_of(source))


def _bytes_of(source: Any) -> Any:
    return source.get("bytes") if isinstance(source, Mapping) else None


def _data_url(media_type: str, data: Any) -> str | None:
    if not isinstance(data, str):
        return None
    return data if _REFERENCE.fullmatch(data.strip()) else f"data:{media_type};base64,{data}"


def _detail(part: Mapping[str, Any]) -> Any:
    url = part.get("image_url")
    return url.get("detail") if isinstance(url, Mapping) else part.get("detail")
