"""The format of a journal file: a magic line, then records of a header with checksums and a payload.

A file may end within a record, because its writer was killed: such a torn record was never acknowledged and is dropped.
Everything else that does not match its checksum is damage, which is reported and never skipped.
"""

from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO, NamedTuple
from zlib import crc32

MAGIC = b"cupel journal 1\n"
_PREFIX = Struct("<II")  # the payload's length and checksum
_CHECKSUM = Struct("<I")  # of the prefix: a damaged length must not look like a torn record
_HEADER_BYTES = _PREFIX.size + _CHECKSUM.size


class Damaged(Exception):
    """The bytes at `offset` are not what was written there."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class JournalRecord(NamedTuple):
    payload: bytes
    end: int
    """The offset in the file after this record."""


def encode(payload: bytes) -> bytes:
    prefix = _PREFIX.pack(len(payload), crc32(payload))
    return b"".join((prefix, _CHECKSUM.pack(crc32(prefix)), payload))


def read(file: BinaryIO) -> Iterator[JournalRecord]:
    """The complete records of a file, up to its end or a torn record. Damaged if something else is in the way."""
    magic = file.read(len(MAGIC))
    if not MAGIC.startswith(magic):
        raise Damaged(0)
    offset = len(MAGIC)
    while len(header := file.read(_HEADER_BYTES)) == _HEADER_BYTES:
        prefix = header[: _PREFIX.size]
        if crc32(prefix) != _CHECKSUM.unpack(header[_PREFIX.size :])[0]:
            if _is_zero(header, file):
                return
            raise Damaged(offset)
        length, checksum = _PREFIX.unpack(prefix)
        payload = file.read(length)
        if len(payload) < length:
            return
        if crc32(payload) != checksum:
            raise Damaged(offset)
        offset += _HEADER_BYTES + length
        yield JournalRecord(payload, offset)


def _is_zero(header: bytes, file: BinaryIO) -> bool:
    """Some file systems extend a file before they write its data: after a power failure, it ends in zeros."""
    return not any(header) and not any(chunk.strip(b"\0") for chunk in iter(lambda: file.read(1 << 20), b""))
