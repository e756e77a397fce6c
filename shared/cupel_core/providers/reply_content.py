"""Parsing of the bytes of a response to its JSON.

They are read strictly first, as nearly every response is valid. Otherwise they are read once more, leniently: an answer
that was paid for is not lost because of a byte that JSON forbids.
"""

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from email.message import Message
from typing import NamedTuple

import orjson

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.text.html_pages import page_title
from cupel_core.domain.text.storable import storable
from cupel_core.providers.errors import ProviderError, html_page_error, malformed_reply
from cupel_core.providers.streams.sse import EventDecoder

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_PLAIN_ENCODINGS = frozenset({"", "identity", "none", "utf-8", "utf8", "text"})
"""Some servers put a charset, or nothing, where the compression is named."""
_GZIP_MAGIC = b"\x1f\x8b"
_COMMENTS = re.compile(r"\A(?:\s*:[^\n]*\n)+")
"""Lines that some servers send to prevent timeouts, as in streams of events."""
_EVENT_FIELD = re.compile(r"^(?:data|event|id|retry):", re.MULTILINE)
_DONE = "[DONE]"


class NotJsonError(ProviderError):
    """A response is text, and neither JSON nor a page nor a stream."""

    def __init__(self, reason: str) -> None:
        super().__init__(ProbeErrorCode.PROVIDER_ERROR, f"malformed response: {reason}", is_malformed=True)


class ReplyContent(NamedTuple):
    """Either one JSON value, or the events of a stream that was not requested."""

    value: object = None
    events: tuple[object, ...] | None = None


def is_plain(headers: Mapping[str, str]) -> bool:
    return headers.get("content-encoding", "").strip().lower() in _PLAIN_ENCODINGS


def decompressed(content: bytes, headers: Mapping[str, str], max_bytes: int) -> bytes:
    """Return the content of a response that may be compressed although the request did not allow it. It never has more
    than `max_bytes`, as a few compressed bytes could exhaust the memory. Raise `ProviderError`."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in _PLAIN_ENCODINGS or not content:
        return content
    if encoding in ("gzip", "x-gzip"):
        return _inflated(content, zlib.MAX_WBITS | 16, max_bytes) if content.startswith(_GZIP_MAGIC) else content
    if encoding == "deflate":
        # Some servers leave out the header of zlib.
        return _inflated(content, zlib.MAX_WBITS if content[0] & 0x0F == 8 else -zlib.MAX_WBITS, max_bytes)
    message = f"the response is compressed ({storable(encoding, 20)}) although the request did not allow it"
    raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, is_malformed=True)


def _inflated(content: bytes, window_bits: int, max_bytes: int) -> bytes:
    decoder = zlib.decompressobj(window_bits)
    try:
        inflated = decoder.decompress(content, max_bytes + 1)
    except zlib.error:
        raise malformed_reply("its compressed content cannot be decompressed") from None
    if len(inflated) > max_bytes:
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, f"the response is larger than {max_bytes} bytes", final=True)
    return inflated


def charset_of(headers: Mapping[str, str]) -> str | None:
    content_type = headers.get("content-type", "")
    if "charset" not in content_type.lower():
        return None
    message = Message()
    message["content-type"] = content_type
    charset = message.get_content_charset()
    return charset if isinstance(charset, str) else None


def text_of(content: bytes, headers: Mapping[str, str]) -> str:
    """Return the text of a response. Bytes that are invalid in its character set, such as a cut character, are
    replaced."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    try:
        return content.decode(charset_of(headers) or "utf-8", errors="replace")
    except (LookupError, ValueError):
        return content.decode(errors="replace")


def read_json(content: bytes, headers: Mapping[str, str], status: int = 200) -> object:
    """Return the JSON of a response that is no stream, or the only event of a stream. Raise `ProviderError`."""
    read = read_content(content, headers, status)
    if read.events is None:
        return read.value
    if len(read.events) == 1:
        return read.events[0]
    raise malformed_reply(f"it is a stream of {len(read.events)} events, although one JSON value was asked for")


def read_json_or_text(content: bytes, headers: Mapping[str, str], status: int = 200) -> object:
    """Return the JSON of a response, or its text if it is neither JSON nor a page nor a stream. Raise
    `ProviderError`."""
    try:
        return read_json(content, headers, status)
    except NotJsonError:
        if _is_stream(headers):
            raise
        return text_of(content, headers)


def _is_stream(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").strip().lower().startswith("text/event-stream")


def read_content(content: bytes, headers: Mapping[str, str], status: int = 200) -> ReplyContent:
    """Return the JSON of a response, or its events. Raise `ProviderError` if there is neither."""
    try:
        return ReplyContent(orjson.loads(content))
    except orjson.JSONDecodeError as error:
        return _read_leniently(content, headers, status, str(error))


def _read_leniently(content: bytes, headers: Mapping[str, str], status: int, reason: str) -> ReplyContent:
    text = text_of(content, headers)
    if not text.strip():
        raise NotJsonError("it is empty")
    if (title := page_title(text)) is not None:
        raise html_page_error(title, status)
    without_comments = _COMMENTS.sub("", text)
    value = _parse(without_comments)
    if value is not _NO_JSON:
        return ReplyContent(value)
    events = _events(text) or _lines(without_comments)
    if events:
        return ReplyContent(events=events)
    raise NotJsonError(f"it is not JSON: {reason}; it begins with {_beginning(text)!r}")


def _beginning(text: str) -> str:
    return storable(" ".join(text[:200].split()), 60)


def loads(text: str) -> object:
    """Parse JSON leniently. Raise ValueError. Servers write NaN and infinities, which become null, single surrogates,
    and control characters in strings."""
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        return _without_surrogates(json.loads(text, strict=False, parse_constant=lambda _: None))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


_NO_JSON = object()


def _parse(text: str) -> object:
    try:
        return loads(text.strip().removeprefix("\ufeff"))
    except ValueError:
        return _NO_JSON


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {storable(name): _without_surrogates(each) for name, each in value.items()}
    return value


def _events(text: str) -> tuple[object, ...]:
    if _EVENT_FIELD.search(text) is None:
        return ()
    decoder = EventDecoder()
    data = [*decoder.feed(text.encode(errors="replace")), *decoder.finish()]
    return _values(each.decode() for each in data)


def _lines(text: str) -> tuple[object, ...]:
    lines = text.splitlines()
    return _values(lines) if len(lines) > 1 else ()


def _values(texts: Iterable[str]) -> tuple[object, ...]:
    """Return the values, or nothing unless each text is JSON, because then it was no stream."""
    values = [_parse(each) for each in texts if each.strip() and each.strip() != _DONE]
    return () if any(value is _NO_JSON for value in values) else tuple(values)
