"""Caches of a worker: runs, accounts, files and budgets, as they were a few seconds ago.

A worker notices a pause without a read per probe, and reads an account once for the slices that it claims meanwhile.
Probes of one image run concurrently, so the first reads the file and the others wait for it. The contents of the files
that were used last are cached.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime

from cupel_core.accounts.keys import load_account
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.periods import PeriodLimits
from cupel_core.domain.runs.run import ACTIVE, Run
from cupel_core.providers.account import Account
from cupel_core.runs.probing.unforeseen import log_unforeseen
from cupel_core.store import evaluation_settings, files, runs
from cupel_core.store.clients import AWS_ERRORS

FRESH_SECONDS = 3.0
STALE_SECONDS = 4.0
"""A read that took longer is repeated, because a pause must take effect within five seconds."""
CLOCK_SKEW_SECONDS = 1.0
"""The clock of the machine that changed a run may differ from this one's by up to this much."""
MAX_CACHED_BYTES = 32_000_000

type FileKey = tuple[str, str]
_NO_LIMITS = PeriodLimits()


async def _read(ref: RunRef) -> Run | None:
    try:
        return await asyncio.to_thread(runs.get, ref)
    except NotFound:
        return None


class RunCache:
    """Caches the last read of each run. Concurrent callers share one read."""

    def __init__(
        self,
        read: Callable[[RunRef], Awaitable[Run | None]] = _read,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._reads: dict[RunRef, tuple[float, asyncio.Future[Run | None]]] = {}

    async def get(self, ref: RunRef) -> Run | None:
        while True:
            started_at, read = self._reads.get(ref, (0.0, None))
            if read is None or self._clock() - started_at > FRESH_SECONDS:
                started_at, read = self._clock(), asyncio.ensure_future(self._read(ref))
                self._reads[ref] = (started_at, read)
            run = await asyncio.shield(read)
            if self._clock() - started_at <= STALE_SECONDS:
                return run

    async def get_open_run(self, ref: RunRef, fencing_token: int) -> Run | None:
        """Return the run if probes with this fencing token may start now, else None. A cached run with an older token
        is read again, because it says nothing about the current one."""
        run = await self.get(ref)
        if run is not None and run.fencing_token < fencing_token:
            self._reads.pop(ref, None)
            run = await self.get(ref)
        return run if run is not None and run.fencing_token == fencing_token and run.status in ACTIVE else None


class AccountCache:
    """Caches the last read of each account. Slices that are claimed at the same time may each read it."""

    def __init__(
        self, load: Callable[[str, str], Account] = load_account, clock: Callable[[], float] = time.time
    ) -> None:
        self._load = load
        self._clock = clock
        self._reads: dict[tuple[str, str], tuple[float, Account]] = {}

    def get(self, workspace: str, provider: str, changed_at: datetime) -> Account:
        """Return the account, read after `changed_at`. The run may have been resumed after a correction of the account.
        Raise NotFound for an unknown provider."""
        now = self._clock()
        read_at, account = self._reads.get((workspace, provider), (0.0, None))
        oldest = max(now - FRESH_SECONDS, changed_at.timestamp() + CLOCK_SKEW_SECONDS)
        if account is None or read_at < oldest:
            account = self._load(workspace, provider)
            self._reads[workspace, provider] = now, account
        return account


@dataclass(eq=False)
class FileCache:
    """Caches files for one event loop. Conversations share the content."""

    read_content: Callable[[str, str], bytes | None] = files.read_content
    max_bytes: int = MAX_CACHED_BYTES
    _contents: OrderedDict[FileKey, bytes] = field(default_factory=OrderedDict)
    _reads: dict[FileKey, asyncio.Task[bytes | None]] = field(default_factory=dict)
    _size: int = 0

    async def get(self, key: FileKey) -> bytes | None:
        """Return the content of a file, or None if the file is gone. The next call looks again."""
        if key in self._contents:
            self._contents.move_to_end(key)
            return self._contents[key]
        if key not in self._reads:
            self._reads[key] = asyncio.create_task(self._read(key))
        return await asyncio.shield(self._reads[key])

    async def _read(self, key: FileKey) -> bytes | None:
        try:
            content = await asyncio.to_thread(self.read_content, *key)
        finally:
            del self._reads[key]
        if content is not None:
            self._contents[key] = content
            self._size += len(content)
        while self._size > self.max_bytes and len(self._contents) > 1:
            _, oldest = self._contents.popitem(last=False)
            self._size -= len(oldest)
        return content


_CACHE = FileCache()
"""The process needs only one cache, because a worker has one event loop."""


@dataclass(frozen=True)
class WorkspaceFiles:
    workspace: str
    cache: FileCache = _CACHE

    async def read(self, file_ids: Iterable[str]) -> Mapping[str, bytes]:
        """Return the contents of the files by id, without those that are gone. The files are read one after another,
        because most conversations have one."""
        contents = {file_id: await self.cache.get((self.workspace, file_id)) for file_id in file_ids}
        return {file_id: content for file_id, content in contents.items() if content is not None}


class PeriodLimitsCache:
    def __init__(
        self,
        read: Callable[[str], PeriodLimits] = evaluation_settings.get_budgets,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._limits: dict[str, PeriodLimits] = {}
        self._read_at: dict[str, float] = {}
        self._reads: dict[str, asyncio.Task[None]] = {}

    def of(self, workspace: str) -> PeriodLimits:
        """Return the limits as they were last read. There are none before `load`."""
        return self._limits.get(workspace, _NO_LIMITS)

    async def load(self, workspace: str) -> None:
        """Read the limits of a workspace before this worker's first call for it. Raise what the store raises."""
        if workspace not in self._limits:
            await self._refresh(workspace)

    def refresh_if_due(self, workspaces: Iterable[str]) -> None:
        """Start to read limits that are outdated. Nothing waits for it, because each report reads the limits again."""
        for workspace in workspaces:
            read = self._reads.get(workspace)
            is_due = self._clock() - self._read_at.get(workspace, 0.0) > FRESH_SECONDS
            if is_due and workspace in self._limits and (read is None or read.done()):
                self._reads[workspace] = asyncio.create_task(self._try_refresh(workspace))

    async def close(self) -> None:
        await asyncio.gather(*self._reads.values())

    async def _try_refresh(self, workspace: str) -> None:
        try:
            await self._refresh(workspace)
        except AWS_ERRORS as error:
            log_unforeseen(error, "the limits of a workspace could not be read")

    async def _refresh(self, workspace: str) -> None:
        self._read_at[workspace] = self._clock()
        self._limits[workspace] = await asyncio.to_thread(self._read, workspace)
