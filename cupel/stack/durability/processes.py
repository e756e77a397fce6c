"""Bounds the processes of the functions behind the gateway.

The emulator starts a process for every call that finds none free. Sixty requests at once started sixty of the
authorizer, each of which needs half a second of a processor, and no other request was answered meanwhile. Here, calls
wait for a process that becomes free, and a function gets a further one only if none did for a while. The workspaces
whose requests wait take turns, so that one that sends many delays another by one request.
"""

import threading
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

MAX_WAITING_REQUESTS = 8
"""All workspaces share this limit. Each waiting request takes a process of about 80 MB."""
_PATIENCE_SECONDS = 0.25
"""A call waits this long for a busy process before another process is started: half as long as such a start takes,
and as long as ten short requests take."""
_MAX_SECONDS = 25.0
"""The gateway gives up after 30 s."""
_START_SECONDS = 10.0
"""A process that takes longer to start has failed."""
_SHORT_CALLS = 4
"""Processes for requests that do not wait: twice the processors of a small machine."""
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
"""It is the group of the call that this thread carries out."""


class Line:
    """The calls of a function that wait for a process, by the group that they belong to. The first group is next."""

    def __init__(self) -> None:
        self.groups: OrderedDict[str, deque[object]] = OrderedDict()
        self.moved = threading.Condition()
        self.starting: Any = None
        self.started_at = 0.0

    def add(self, group: str, call: object) -> None:
        self.groups.setdefault(group, deque()).append(call)

    def remove(self, group: str, call: object) -> None:
        """Remove a call that was served or gave up; its group is the last now."""
        self.groups[group].remove(call)
        self.groups.move_to_end(group)
        if not self.groups[group]:
            del self.groups[group]

    def is_next(self, group: str, call: object) -> bool:
        return next(iter(self.groups)) == group and self.groups[group][0] is call

    def is_starting(self, now: float) -> bool:
        """Whether the process that was started last has not begun its first call. On a busy machine that takes long,
        and longer the more processes start."""
        return self.starting is not None and self.starting._cold and now < self.started_at + _START_SECONDS


class BoundedProcesses:
    """Takes the place of `acquire_worker` and `release_worker` of the emulator, to which it passes what it permits."""

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
        """A process and whether it is a new one; None and `func_cap` if all were busy for too long."""
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
    """Bound those of the emulator's module `lambda_svc`."""
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
    """The group of the call that this thread carries out."""
    return _group.get()


def group_of(event: Any) -> str:
    """The workspace that a request belongs to; for the authorizer, which finds that out, its token."""
    if not isinstance(event, dict):
        return ""
    authorizer = (event.get("requestContext") or {}).get("authorizer") or {}
    workspace = (authorizer.get("lambda") or {}).get("workspace")
    return str(workspace or (event.get("headers") or {}).get("authorization", ""))
