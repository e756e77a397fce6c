"""Encodes files in a text as `data:image/png;base64,…`."""

import base64
import binascii
from typing import NamedTuple

from cupel_core.domain.files.formats import FileFormat, FileInfo, InvalidFile, inspect

_START, _ENCODING = "data:", ";base64,"


class DecodedFile(NamedTuple):
    content: bytes
    info: FileInfo


def decode(url: str) -> DecodedFile:
    """Decode a data URL. Raises InvalidFile if it is not base64, or not the file that its type says."""
    head, separator, encoded = url.partition(_ENCODING)
    media_type = head.removeprefix(_START)
    if not separator or not head.startswith(_START):
        raise InvalidFile("is not a data URL in base64")
    try:
        content = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise InvalidFile("is not valid base64") from None
    info = inspect(content)
    if info.format.media_type != media_type:
        raise InvalidFile(f"is a {info.format.label}, not {media_type}")
    return DecodedFile(content, info)


def encode(content: bytes, file_format: FileFormat) -> str:
    return f"{_START}{file_format.media_type}{_ENCODING}{base64.b64encode(content).decode()}"
