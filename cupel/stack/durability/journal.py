"""Stores a journal as numbered files: the last `<n>.snapshot` and the logs from `<n>.log` on are the stored data.

A record is in the kernel's hands when `append` returns, so no kill of processes loses it; `sync` makes it survive a
power failure. Records are effects (an item after a write), not requests: applying one twice changes nothing, so a
snapshot can be written while the next log already grows.

A file may end within a record, because its writer was killed: such a torn record was never acknowledged and is dropped.
Everything else that does not match its checksum is damage, which is reported and never skipped.
"""

import fcntl
import os
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NamedTuple
from zlib import crc32

_SNAPSHOT_BYTES = 64_000_000
"""Logs of this size take about a second to replay; a larger snapshot is replaced when the logs are as large."""
_SNAPSHOT_SECONDS = 12 * 3_600
"""Deleted texts leave the journal with the next snapshot, within a day of their deletion."""
MAGIC = b"cupel journal 1\n"
_PREFIX = Struct("<II")  # It has the payload's length and checksum.
_CHECKSUM = Struct("<I")  # It covers the prefix: a damaged length must not look like a torn record.
_HEADER_BYTES = _PREFIX.size + _CHECKSUM.size


class JournalError(Exception):
    """The journal cannot be used; the message says what to do."""


class Journal:
    """Holds a journal, which one process at a time may open. Consume `replay` before the first `append`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._lock = _lock(folder / "lock")
        for unfinished in folder.glob("*.tmp"):
            unfinished.unlink()
        snapshots, logs = _numbers(folder, "snapshot"), _numbers(folder, "log")
        self.is_new = not snapshots and not logs
        self._first = max(snapshots, default=0)
        self._number = max(logs, default=self._first)
        self._log = -1
        self._size = 0
        self._has_torn_tail = False
        self._older_log_bytes = 0
        self.dropped: str | None = None
        """Describes what `replay` dropped: a record that was being written, or whose file was cut since then."""
        self.snapshot_bytes = 0
        self._snapshot_at = self._find_snapshot_time()

    def is_snapshot_due(self, failed_bytes: int = 0) -> bool:
        """Return whether the logs are large or old; `failed_bytes` is their size when a snapshot last failed, or 0."""
        is_large = self.log_bytes > max(_SNAPSHOT_BYTES, self.snapshot_bytes)
        is_old = time.time() - self._snapshot_at > _SNAPSHOT_SECONDS
        return (is_large or is_old) and self.log_bytes > 1.5 * failed_bytes

    @property
    def log_bytes(self) -> int:
        return self._older_log_bytes + self._size

    def replay(self) -> Iterator[bytes]:
        """Yield every payload in order. Then the last log is open for `append`, without a torn record at its end."""
        if (snapshot := self._path(self._first, "snapshot")).exists():
            self.snapshot_bytes = yield from _read_complete(snapshot)
        for number in range(self._first, self._number):
            if (log := self._path(number, "log")).exists():
                self._older_log_bytes += yield from _read_complete(log)
        last = self._path(self._number, "log")
        self._size = (yield from _read(last)) if last.exists() else 0
        if last.exists() and (dropped := last.stat().st_size - self._size):
            self.dropped = f"the last record of {last} ({dropped:,} bytes) was incomplete and dropped"
        self._log = self._open_log(self._number, self._size)
        self._size = max(self._size, len(MAGIC))
        self._delete_before(self._first)

    def append(self, payload: bytes) -> None:
        """Store a payload. After an OSError, for example because the disk is full, nothing is stored."""
        record = encode(payload)
        self._drop_torn_tail()
        try:
            _write(self._log, record, self._size)
        except OSError:
            self._has_torn_tail = True
            raise
        self._size += len(record)

    def start_log(self) -> int:
        """Append to a new log from now on. Return its number, which the snapshot that follows must have.

        After an OSError, the previous log stays in use.
        """
        number = self._number + 1
        # This precedes another log: a torn record is damage in any log but the last.
        self._drop_torn_tail()
        os.fsync(self._log)
        try:
            log = self._open_log(number, 0)
        except OSError:
            self._path(number, "log").unlink(missing_ok=True)
            raise
        os.close(self._log)
        self._older_log_bytes += self._size
        self._log, self._number, self._size = log, number, len(MAGIC)
        return number

    def _drop_torn_tail(self) -> None:
        """Truncate the log, which needs no space on the disk."""
        if self._has_torn_tail:
            os.ftruncate(self._log, self._size)
            self._has_torn_tail = False

    def write_snapshot(self, number: int, payloads: Iterable[bytes]) -> None:
        """Write a snapshot, which then replaces all files before log `number`. This may run beside `append`."""
        unfinished, snapshot = self._path(number, "snapshot.tmp"), self._path(number, "snapshot")
        try:
            with unfinished.open("wb") as file:
                file.write(MAGIC)
                for payload in payloads:
                    file.write(encode(payload))
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(snapshot)
        finally:
            unfinished.unlink(missing_ok=True)
        _sync_folder(self._folder)
        self.snapshot_bytes, self._older_log_bytes = snapshot.stat().st_size, 0
        self._snapshot_at = time.time()
        self._first = number
        self._delete_before(number)

    def sync(self) -> None:
        os.fsync(self._log)

    def close(self) -> None:
        if self._log >= 0:
            os.fsync(self._log)
            os.close(self._log)
        os.close(self._lock)

    def _find_snapshot_time(self) -> float:
        """Return the time of the snapshot. Without one, the logs' age is unknown: a journal that is not new gets one
        soon."""
        if (snapshot := self._path(self._first, "snapshot")).exists():
            return snapshot.stat().st_mtime
        return time.time() if self.is_new else 0.0

    def _open_log(self, number: int, size: int) -> int:
        log = os.open(self._path(number, "log"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(log, size)
            if size < len(MAGIC):
                _write(log, MAGIC, 0)
                _sync_folder(self._folder)
        except OSError:
            os.close(log)
            raise
        return log

    def _delete_before(self, number: int) -> None:
        for suffix in ("log", "snapshot"):
            for older in _numbers(self._folder, suffix):
                if older < number:
                    self._path(older, suffix).unlink()

    def _path(self, number: int, suffix: str) -> Path:
        return self._folder / f"{number}.{suffix}"


def _numbers(folder: Path, suffix: str) -> list[int]:
    return [int(path.stem) for path in folder.glob(f"*.{suffix}")]


def _read(path: Path) -> Generator[bytes, None, int]:
    """Yield the file's payloads; return the size of its complete records."""
    end = min(len(MAGIC), path.stat().st_size)
    with path.open("rb") as file:
        try:
            for record in read_records(file):
                yield record.payload
                end = record.end
        except Damaged as damage:
            raise JournalError(_explain(path, damage.offset)) from damage
    return end


def _read_complete(path: Path) -> Generator[bytes, None, int]:
    """Read a log that is not the last, which must not end in a torn record: it was complete before the next one
    began."""
    end = yield from _read(path)
    if end < path.stat().st_size:
        raise JournalError(_explain(path, end))
    return end


def _explain(path: Path, offset: int) -> str:
    lost = path.stat().st_size - offset
    return (
        f"{path} is damaged at byte {offset}; the {lost} bytes from there on cannot be read, what was stored before "
        f"them can. To lose what these bytes stored and keep the rest:\n"
        f"  mv {path} {path}.damaged && head -c {offset} {path}.damaged > {path}\n"
        f"then `cupel up`. To lose everything: `cupel down --discard`."
    )


def _write(file: int, data: bytes, offset: int) -> None:
    written = 0
    while written < len(data):
        written += os.pwrite(file, data[written:], offset + written)


def _lock(path: Path) -> int:
    """Take the lock, which one process has; the kernel releases it when that process ends, however it ends."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(lock, 20).decode()
        os.close(lock)
        raise JournalError(
            f"the data in {path.parent} is in use by process {owner}; stop it with `kill {owner}`"
        ) from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Damaged(Exception):
    """The bytes at `offset` are not those that were written there."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class JournalRecord(NamedTuple):
    payload: bytes
    end: int


def encode(payload: bytes) -> bytes:
    prefix = _PREFIX.pack(len(payload), crc32(payload))
    return b"".join((prefix, _CHECKSUM.pack(crc32(prefix)), payload))


def read_records(file: BinaryIO) -> Iterator[JournalRecord]:
    """Yield the complete records of a file, up to its end or a torn record. Raises Damaged for anything else."""
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
    """Return whether the rest is zero: some file systems extend a file before they write its data, and power may
    fail."""
    return not any(header) and not any(chunk.strip(b"\0") for chunk in iter(lambda: file.read(1 << 20), b""))
