"""Caches models' answers on disk for the evaluations of several processes.

An answer is found by a digest of all that determines the request, the repeat and how often the probe has made the same
request before: repeats and repeated samples stay independent answers. Failed calls, agents and embeddings are not
cached. The cache is SQLite in WAL mode, which locks for many processes of one machine, not on network drives.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cupel.errors import UsageError
from cupel.in_process.digests import digest
from cupel.private_folder import make_folder_of
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.providers.account import Account
from cupel_core.providers.call_time import current_timer
from cupel_core.providers.completion import Attempt, complete

MAX_BYTES = 500_000_000
_FORMAT = 2
_TRIM_EVERY = 1_000
_SIMULATED = "sim/"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, created REAL NOT NULL, answer BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS answers_by_age ON answers (created);
"""
_OLDEST_BEYOND = """
DELETE FROM answers WHERE key IN (
    SELECT key FROM (SELECT key, sum(length(answer)) OVER (ORDER BY created DESC, key) AS total FROM answers)
    WHERE total > ?
)
"""


@dataclass
class AnswerCache:
    """Caches answers. An evaluation never fails because of its cache: unreadable answers are requested from the
    model."""

    connection: sqlite3.Connection
    ttl_seconds: float
    max_bytes: int = MAX_BYTES
    now: Callable[[], float] = time.time
    _writes: int = 0

    def find(self, key: str) -> Reply | None:
        oldest = self.now() - self.ttl_seconds
        try:
            query = self.connection.execute("SELECT answer FROM answers WHERE key = ? AND created > ?", (key, oldest))
            row = query.fetchone()
            return _replies().validate_json(row[0]) if row else None
        except (sqlite3.Error, ValidationError):
            return None

    def save(self, key: str, reply: Reply) -> None:
        content = _replies().dump_json(reply)
        self._execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", key, self.now(), content)
        self._writes += 1
        if self._writes % _TRIM_EVERY == 0:
            self.trim()

    def delete(self, key: str) -> None:
        self._execute("DELETE FROM answers WHERE key = ?", key)

    def trim(self) -> None:
        self._execute("DELETE FROM answers WHERE created <= ?", self.now() - self.ttl_seconds)
        self._execute(_OLDEST_BEYOND, self.max_bytes)

    def _execute(self, statement: str, *values: object) -> None:
        try:
            self.connection.execute(statement, values)
        except sqlite3.Error:
            return


@contextmanager
def open_cache(path: Path | None, ttl_seconds: float) -> Iterator[AnswerCache | None]:
    """Yield the cache, or None without a path. Only its owner can read the file.

    Raises UsageError if the file cannot be opened or is not a cache.
    """
    if path is None:
        yield None
        return
    try:
        make_folder_of(path)
        path.touch(0o600)
        connection = sqlite3.connect(path, timeout=10, autocommit=True)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"cache: {path}: {error}") from error
    try:
        _prepare(connection, path)
        answers = AnswerCache(connection, ttl_seconds)
        answers.trim()
        yield answers
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
    except sqlite3.Error as error:
        raise UsageError(f"cache: {path}: {error}") from error


@dataclass
class CachedCalls:
    answers: AnswerCache
    repeat: int
    attempt: Attempt = complete
    _requests: Counter[str] = field(default_factory=Counter)
    _graded: list[str] = field(default_factory=list)

    async def __call__(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        if account.provider == CONNECTOR:
            return await self.attempt(account, model, request, timeout_seconds)
        content = _request_digest(account, model, request)
        self._requests[content] += 1
        key = digest([content, self.repeat, self._requests[content]])
        if request.is_graders:
            self._graded.append(key)
        if (reply := self.answers.find(key)) is not None:
            return reply
        timer = current_timer()
        try:
            reply = await self.attempt(account, model, request, timeout_seconds)
        except BaseException:
            self._requests[content] -= 1
            raise
        self.answers.save(key, replace(reply, exhausted_allowance=None, cached_duration_ms=timer.duration_ms))
        return reply

    def delete_grades(self) -> None:
        """Delete the answers of judges and simulated users, one of which was unusable."""
        for key in self._graded:
            self.answers.delete(key)


def _request_digest(account: Account, model: str, request: ModelRequest) -> str:
    messages = [message.to_json() for message in request.messages]
    sampling = asdict(request.parameters)
    simulation = str(request.simulation_key) if model.startswith(_SIMULATED) else None
    return digest([_FORMAT, account.base_url, model, messages, sampling, simulation])


@cache
def _replies() -> TypeAdapter[Reply]:
    return TypeAdapter(Reply)
