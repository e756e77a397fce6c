"""Limits the processes of the functions in the embedded cloud, and shares their unpacked code.

The emulator starts a process for every call that finds none free. Sixty requests at once started sixty of the
authorizer, each of which needs half a second of a processor, and no other request was answered meanwhile. Here, calls
wait for a process that becomes free, and a function gets a further one only if none did for a while. The workspaces
whose requests wait take turns, so that one that sends many delays another by one request.

The emulator would also unpack the thousands of files of layers again for each worker. That takes 0.6 s of a processor,
and several times as long where files are slow to create; a start of a worker takes 0.5 s otherwise.
"""

import os
import shutil
import threading
import time
import zipfile
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

MAX_WAITING_REQUESTS = 8
"""All workspaces share this limit. Each waiting request takes a process of about 80 MB."""
_PATIENCE_SECONDS = 0.25
"""A call waits this long for a busy process before another process is started: half as long as such a start takes, and
as long as ten short requests take."""
_MAX_SECONDS = 25.0
"""The gateway gives up after 30 s."""
_START_SECONDS = 10.0
"""A process that takes longer to start has failed."""
_SHORT_CALLS = 4
"""Number of processes for requests that do not wait: twice the processors of a small machine."""
MAX_PROCESSES = {
    "authorize": _SHORT_CALLS,
    "api": MAX_WAITING_REQUESTS + _SHORT_CALLS,
    "mcpserver": MAX_WAITING_REQUESTS + _SHORT_CALLS,
    "graphqlapi": _SHORT_CALLS,
    "page": _SHORT_CALLS,
}
"""The keys are functions. All other functions are called by queues and state machines, which bound them."""
type Acquired = tuple[Any, str]
_group: ContextVar[str] = ContextVar("group", default="")
_LAYER_PREFIX = "layer_"
"""The emulator's archive of a layer, and the folder beside it for the layer, have this prefix."""
_CODE = "code.zip"
"""The emulator gives this name to the archive of a function's code, which is the same for most functions."""
_STARTED = "started"
"""The modification time of this file is when the last emulator first needed the folder."""
_UNFINISHED, _DELETED = ".new", ".deleted"


class Line:
    def __init__(self) -> None:
        self.groups: OrderedDict[str, deque[object]] = OrderedDict()
        self.moved = threading.Condition()
        self.starting: Any = None
        self.started_at = 0.0

    def add(self, group: str, call: object) -> None:
        self.groups.setdefault(group, deque()).append(call)

    def remove(self, group: str, call: object) -> None:
        self.groups[group].remove(call)
        self.groups.move_to_end(group)
        if not self.groups[group]:
            del self.groups[group]

    def is_next(self, group: str, call: object) -> bool:
        return next(iter(self.groups)) == group and self.groups[group][0] is call

    def is_starting(self, now: float) -> bool:
        """Return whether the process that was started last has not begun its first call.

        On a busy machine that takes long, and longer the more processes start.
        """
        return self.starting is not None and self.starting._cold and now < self.started_at + _START_SECONDS


class BoundedProcesses:
    """Replaces `acquire_worker` and `release_worker` of the emulator, and passes permitted calls to them."""

    def __init__(
        self,
        acquire: Callable[..., Acquired],
        release: Callable[[Any], None],
        limits: Mapping[str, int] = MAX_PROCESSES,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        self._acquire, self._release = acquire, release
        self._limits, self._patience = limits, patience_seconds
        self._lines: dict[str, Line] = defaultdict(Line)

    def acquire(self, func_name: str, config: dict[str, Any], code_zip: bytes, qualifier: str = "$LATEST") -> Acquired:
        """Return a process and whether it is a new one, or None and `func_cap` if all were busy for too long."""
        limit = self._limits.get(func_name.rpartition("-")[2])
        if limit is None:
            return self._acquire(func_name, config, code_zip, qualifier=qualifier)
        call, group, line = object(), _group.get(), self._lines[func_name]
        with line.moved:
            line.add(group, call)
            try:
                return self._wait(
                    lambda: line.is_next(group, call),
                    line,
                    limit,
                    lambda most: self._acquire(func_name, config, code_zip, qualifier=qualifier, max_concurrency=most),
                )
            finally:
                line.remove(group, call)
                line.moved.notify_all()

    def release(self, worker: Any) -> None:
        self._release(worker)
        line = self._lines.get(getattr(worker, "func_name", ""))
        if line is not None:
            with line.moved:
                line.moved.notify_all()

    def _wait(
        self, is_next: Callable[[], bool], line: Line, limit: int, acquire: Callable[[int], Acquired]
    ) -> Acquired:
        gives_up_at, since = time.monotonic() + _MAX_SECONDS, None
        while (now := time.monotonic()) < gives_up_at:
            if not is_next():
                line.moved.wait(gives_up_at - now)
                continue
            # Others may be free as soon as the one that starts has done its first call.
            since = now if since is None or line.is_starting(now) else since
            has_waited = now - since >= self._patience
            # With at most one process, the emulator starts none if there is one.
            worker, origin = acquire(limit if has_waited else 1)
            if worker is not None:
                if origin == "spawn":
                    line.starting, line.started_at = worker, now
                return worker, origin
            line.moved.wait(self._patience)
        return None, "func_cap"


def bound_processes(lambda_service: Any) -> None:
    bounded = BoundedProcesses(lambda_service.acquire_worker, lambda_service.release_worker)
    lambda_service.acquire_worker, lambda_service.release_worker = bounded.acquire, bounded.release
    execute = lambda_service._execute_function_warm

    def execute_in_group(func: dict[str, Any], event: Any, request_id: str) -> Any:
        token = _group.set(group_of(event))
        try:
            return execute(func, event, request_id)
        finally:
            _group.reset(token)

    lambda_service._execute_function_warm = execute_in_group


def current_group() -> str:
    return _group.get()


def group_of(event: Any) -> str:
    """Return the workspace that a request belongs to; for the authorizer, which identifies it, return the token."""
    if not isinstance(event, dict):
        return ""
    authorizer = (event.get("requestContext") or {}).get("authorizer") or {}
    workspace = (authorizer.get("lambda") or {}).get("workspace")
    return str(workspace or (event.get("headers") or {}).get("authorization", ""))


class SharedLayers:
    """Replaces the module `zipfile` in the emulator's module that starts workers."""

    def __init__(self, folder: Path) -> None:
        """Delete the layers and the code of earlier deployments that no worker has needed since the last start."""
        folder.mkdir(exist_ok=True)
        _delete_unused(folder)
        self._folder = folder
        self._lock = Lock()
        self._is_used = False

    def __getattr__(self, name: str) -> Any:
        return getattr(zipfile, name)

    def ZipFile(self, path: str) -> zipfile.ZipFile:  # noqa: N802 - a name of the module
        if Path(path).name != _CODE and not Path(path).name.startswith(_LAYER_PREFIX):
            return zipfile.ZipFile(path)
        with self._lock:
            if not self._is_used:
                (self._folder / _STARTED).touch()
                self._is_used = True
        return _SharedArchive(path, self._folder, self._lock)


class _SharedArchive(zipfile.ZipFile):
    """Extracts an archive to a shared folder, and links to its entries."""

    def __init__(self, path: str, folder: Path, lock: Lock) -> None:
        super().__init__(path)
        self._shared, self._one_at_a_time = folder / _digest(self), lock

    def namelist(self) -> list[str]:
        """Return the paths that `extractall` creates. The emulator checks these paths; `ZipFile` checks all others."""
        return sorted({each.filename.partition("/")[0] for each in self.infolist()})

    def extractall(self, path: Any = None, *_: Any) -> None:
        with self._one_at_a_time:
            if not self._shared.exists():
                unfinished = self._shared.with_suffix(_UNFINISHED)
                super().extractall(unfinished, self.infolist())
                os.sync()  # After a power cut, files of a folder with this name must not be empty.
                unfinished.rename(self._shared)
            os.utime(self._shared)
        for entry in self._shared.iterdir():
            (Path(path) / entry.name).symlink_to(entry)
        Path(str(self.filename)).unlink()  # Each worker's 20 MB are not read again.


def _delete_unused(folder: Path) -> None:
    """Rename folders before deleting them, so that a killed start leaves nothing that looks complete."""
    started = folder / _STARTED
    last_start = started.stat().st_mtime if started.exists() else 0.0
    for unpacked in [path for path in folder.iterdir() if path.is_dir()]:
        if not unpacked.suffix and unpacked.stat().st_mtime < last_start:
            with suppress(OSError):  # An earlier start could not delete all of it.
                unpacked.rename(unpacked.with_suffix(_DELETED))
    for incomplete in (*folder.glob(f"*{_DELETED}"), *folder.glob(f"*{_UNFINISHED}")):
        shutil.rmtree(incomplete, ignore_errors=True)


def _digest(archive: zipfile.ZipFile) -> str:
    digest = sha256()
    for each in archive.infolist():
        digest.update(f"{each.filename}\0{each.CRC}\0{each.file_size}\n".encode())
    return digest.hexdigest()
