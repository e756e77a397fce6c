"""Contents of files, each read once by a worker while it is among the last used ones.

Probes of one image run side by side, so the first reads it and the others wait for it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.store import files

MAX_CACHED_BYTES = 32_000_000

type FileKey = tuple[str, str]
"""It names a workspace and the id of one of its files."""


@dataclass(eq=False)
class FileCache:
    """Caches files for one event loop. The content is shared by the conversations that use it."""

    read_content: Callable[[str, str], bytes | None] = files.read_content
    max_bytes: int = MAX_CACHED_BYTES
    _contents: OrderedDict[FileKey, bytes] = field(default_factory=OrderedDict)
    _reads: dict[FileKey, asyncio.Task[bytes | None]] = field(default_factory=dict)
    _size: int = 0

    async def get(self, key: FileKey) -> bytes | None:
        """Return the content of a file, or None if the file is gone; the next call looks again."""
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
    """The files of one workspace, for its conversations."""

    workspace: str
    cache: FileCache = _CACHE

    async def read(self, file_ids: Iterable[str]) -> Mapping[str, bytes]:
        """Return the contents of the files by id, without those that are gone.

        The files are read one after another, because most conversations have one.
        """
        contents = {file_id: await self.cache.get((self.workspace, file_id)) for file_id in file_ids}
        return {file_id: content for file_id, content in contents.items() if content is not None}
