"""Reads forms with files, as `multipart/form-data` (RFC 7578)."""

import re
from typing import NamedTuple

_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))', re.IGNORECASE)
_PARAMETER = re.compile(r'\b(name|filename)="((?:[^"\\]|\\.)*)"')
_MAX_FIELDS = 20


class FormField(NamedTuple):
    content: bytes
    filename: str | None = None


def read_form(content_type: str, body: bytes) -> dict[str, FormField]:
    """Return the fields by name. Raises ValueError for any other body."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise ValueError("must be multipart/form-data with a boundary")
    delimiter = b"\r\n--" + (found[1] or found[2]).encode()
    first, *parts = (b"\r\n" + body).split(delimiter, _MAX_FIELDS + 1)
    if first or len(parts) < 2 or not parts[-1].startswith(b"--"):
        raise ValueError("is not a complete form, or has too many fields")
    fields: dict[str, FormField] = {}
    for part in parts[:-1]:
        head, separator, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        names = dict(_PARAMETER.findall(head.decode("utf-8", "replace")))
        if not separator or "name" not in names:
            raise ValueError("has a part without a name")
        fields[names["name"]] = FormField(content, names.get("filename"))
    return fields
