"""Decodes the text of an imported file: UTF-8, UTF-16, gzip, and the samples of a log of Inspect.

For other files, the error says what they are.
"""

import codecs
import json
import zlib
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from cupel_core.interop.imports.json_documents import InvalidDocument, to_json

MAX_BYTES = 500_000_000
"""The content of a compressed file has at most this many bytes: a megabyte can expand to a gigabyte."""
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # It precedes UTF-16, whose mark is the beginning of this one.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_TO_JSON_LINES = 'to_json("rows.jsonl", orient="records", lines=True)'
_WEB_PAGE = "a web page; download the file itself, such as its raw version"
_SIGNATURES = {
    b"PAR1": "a Parquet file; import it with `cupel import parquet FILE`",
    b"PARE": "an encrypted Parquet file",
    b"ARROW1": f"an Arrow file; convert it with `pandas.read_feather(file).{_TO_JSON_LINES}`",
    b"FEA1": f"a Feather file; convert it with `pandas.read_feather(file).{_TO_JSON_LINES}`",
    b"Obj\x01": "an Avro file; convert it to JSON Lines",
    b"SQLite format 3\0": f"an SQLite database; export it with `pandas.read_sql(query, database).{_TO_JSON_LINES}`",
    b"\xd0\xcf\x11\xe0": "an Excel workbook; save it as `CSV UTF-8`",
    b"version https://git-lfs": "a pointer of Git LFS and not the file itself; get it with `git lfs pull`",
    b"<!DOCTYPE": _WEB_PAGE,
    b"<!doctype": _WEB_PAGE,
    b"<html": _WEB_PAGE,
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first: `zstd -d`",
    b"BZh": "compressed with bzip2; unpack it first: `bunzip2`",
    b"\xfd7zXZ": "compressed with xz; unpack it first: `unxz`",
}
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_SHOWN = 30


def decode_text(content: bytes) -> str:
    """Decode a file, without its byte order mark. Raises `InvalidDocument`, which says what the file is instead."""
    content = _uncompressed(content)
    if content.startswith(_ZIP) and _is_inspect_log(content):
        return _inspect_samples(content)
    if kind := kind_of(content):
        raise InvalidDocument(f"is {kind}")
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return _decoded(content, encoding)
    return _decoded(content, _encoding_without_mark(content))


def kind_of(content: bytes) -> str | None:
    if content.startswith(_GZIP):
        return "compressed with gzip; unpack it first: `gunzip`"
    if content.startswith(_ZIP):
        return _kind_of_zip(content)
    return next((kind for signature, kind in _SIGNATURES.items() if content.startswith(signature)), None)


def _uncompressed(content: bytes) -> bytes:
    if not content.startswith(_GZIP):
        return content
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        text = unpacker.decompress(content, MAX_BYTES)
    except zlib.error as error:
        raise InvalidDocument(f"is a damaged gzip file: {error}") from None
    if unpacker.unconsumed_tail:
        raise InvalidDocument(f"has more than {MAX_BYTES:,} bytes when it is unpacked")
    if not unpacker.eof:
        raise InvalidDocument("is a gzip file that was cut off")
    return text


def _kind_of_zip(content: bytes) -> str:
    if b"xl/" in content[:4_000] or b"[Content_Types].xml" in content[:4_000]:
        return "an Excel workbook; save it as `CSV UTF-8`"
    if _is_inspect_log(content):
        return "a log of Inspect; import its samples with `cupel import inspect FILE`"
    return "a zip archive; unpack it first"


def _is_inspect_log(content: bytes) -> bool:
    return b"_journal/start.json" in content or b"header.json" in content


_CONVERSION = "convert it with `inspect log dump FILE > log.json` and import that"
_NOT_READ = ("events", "store", "timelines")
"""Parts that record events during a sample, and are most of a log."""


def _inspect_samples(content: bytes) -> str:
    try:
        with ZipFile(BytesIO(content)) as archive:
            parts = [part for part in archive.infolist() if _is_sample(part)]
            if sum(part.file_size for part in parts) > MAX_BYTES:
                raise InvalidDocument(f"is a log of Inspect of more than {MAX_BYTES:,} bytes; {_CONVERSION}")
            samples = [_inspect_sample(part.filename, archive.read(part)) for part in parts]
    except (BadZipFile, zlib.error, EOFError) as error:
        raise InvalidDocument(f"is a damaged log of Inspect: {error}") from None
    except (NotImplementedError, RuntimeError):  # The archive is encrypted or has another compression.
        raise InvalidDocument(f"is a log of Inspect whose compression Python cannot read; {_CONVERSION}") from None
    return f"[{',\n'.join(map(to_json, sorted(samples, key=_sample_order)))}]"


def _is_sample(part: ZipInfo) -> bool:
    return part.filename.startswith("samples/") and part.filename.endswith(".json")


def _inspect_sample(name: str, content: bytes) -> dict[str, Any]:
    try:
        sample = json.loads(content, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise InvalidDocument(f"is a log of Inspect in which {name} is not valid JSON") from None
    if not isinstance(sample, dict):
        raise InvalidDocument(f"is a log of Inspect in which {name} is not an object")
    return {field: value for field, value in sample.items() if field not in _NOT_READ}


def _sample_order(sample: dict[str, Any]) -> tuple[str, bool, int, str]:
    number = sample.get("id")
    is_number = isinstance(number, int)
    return str(sample.get("epoch")), not is_number, number if isinstance(number, int) else 0, str(number)


def _encoding_without_mark(content: bytes) -> str:
    """Guess the encoding: UTF-16 without a mark has a zero in every second byte of a text that is mostly ASCII."""
    start = content[:200]
    for encoding, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros = start[offset::2]
        if len(start) >= 4 and len(start) % 2 == 0 and zeros.count(0) > 0.9 * len(zeros):
            return encoding
    return "utf-8"


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding not in ("utf-8", "utf-8-sig"):
            raise InvalidDocument(f"is not valid {encoding.upper()} text: {error.reason}") from None
        raise InvalidDocument(_not_utf8(content, error.start)) from None


def _not_utf8(content: bytes, position: int) -> str:
    if b"\0" in content[:4_000]:
        return "is a binary file, not text"
    line = content.count(b"\n", 0, position) + 1
    start = content.rfind(b"\n", 0, position) + 1
    shown = content[max(start, position - _SHOWN) : position + _SHOWN].split(b"\n")[0].decode("cp1252", "replace")
    is_json = content.lstrip().startswith((b"{", b"["))
    form = "UTF-8" if is_json else "UTF-8 (`CSV UTF-8` in Excel)"
    return (
        f"line {line:,} is not UTF-8 text. In Windows-1252 (Latin-1) it reads “{shown.strip()}”: if that is right, "
        f"save the file as {form}, or convert it with `iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW`"
    )
