"""Reads the raw HTTP request of promptfoo's `http` provider: its first line, headers and body."""

import re
from collections.abc import Mapping
from typing import Any

from cupel_core.interop.imports.files import SCHEME, FileSource, NotImportable, read_file

_FIRST_LINE = re.compile(r"([A-Z]+) (\S+) HTTP/[\d.]+")


def with_raw_request(config: Mapping[str, Any], *, is_https: bool, files: FileSource) -> Mapping[str, Any]:
    """The options with those of the raw request in its place. Raises NotImportable if it cannot be read."""
    request = config.get("request")
    if request is None:
        return config
    if not isinstance(request, str):
        raise NotImportable("its request is not a text")
    if request.startswith(SCHEME):
        request = read_file(files, request)
    others = {name: value for name, value in config.items() if name not in ("request", "useHttps")}
    return {**others, **_read(request, "https" if is_https or config.get("useHttps") is True else "http")}


def _read(request: str, scheme: str) -> dict[str, Any]:
    head, _, body = request.replace("\r\n", "\n").strip().partition("\n\n")
    first, *lines = [line.strip() for line in head.split("\n")]
    match = _FIRST_LINE.fullmatch(first)
    if match is None:
        raise NotImportable(f"its request does not begin with a line such as POST /chat HTTP/1.1: {first[:60]}")
    headers = dict(_header(line) for line in lines)
    host = next((value for name, value in headers.items() if name.lower() == "host"), None)
    if host is None:
        raise NotImportable("its request has no header Host")
    return {"url": f"{scheme}://{host}{match[2]}", "method": match[1], "headers": headers, "body": body.strip()}


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise NotImportable(f"its request has a header without a colon: {line[:60]}")
    return name.strip(), value.strip()
