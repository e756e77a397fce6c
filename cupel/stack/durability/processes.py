"""Bounds the processes of the functions behind the gateway.

The emulator starts a process for every call that finds none free. Sixty requests at once started sixty of the
authorizer, each of which needs half a second of a processor, and no other request was answered meanwhile. Here, calls
wait in line for a process that becomes free, and a function gets a further one only if none did for a while.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any

from cupel.stack.workers import MAX_WAITING_REQUESTS

_PATIENCE_SECONDS = 0.25
"""Half of what the start of a process takes, and the time of ten short requests."""
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
"""By function. Other functions are called by queues and state machines, which bound them."""

type Acquired = tuple[Any, str]


class _Line:
    """The calls of a function that wait for a process, in order."""

    def __init__(self) -> None:
        self.calls: deque[object] = deque()
        self.moved = threading.Condition()
        self.starting: Any = None
        self.started_at = 0.0

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
        self._lines: dict[str, _Line] = defaultdict(_Line)

    def acquire(self, func_name: str, config: dict[str, Any], code_zip: bytes, qualifier: str = "$LATEST") -> Acquired:
        """A process and whether it is a new one; None and `func_cap` if all were busy for too long."""
        limit = self._limits.get(func_name.rpartition("-")[2])
        if limit is None:
            return self._acquire(func_name, config, code_zip, qualifier=qualifier)
        call, line = object(), self._lines[func_name]
        with line.moved:
            line.calls.append(call)
            try:
                return self._wait(
                    call,
                    line,
                    limit,
                    lambda most: self._acquire(func_name, config, code_zip, qualifier=qualifier, max_concurrency=most),
                )
            finally:
                line.calls.remove(call)
                line.moved.notify_all()

    def release(self, worker: Any) -> None:
        self._release(worker)
        line = self._lines.get(getattr(worker, "func_name", ""))
        if line is not None:
            with line.moved:
                line.moved.notify_all()

    def _wait(self, call: object, line: _Line, limit: int, acquire: Callable[[int], Acquired]) -> Acquired:
        gives_up_at, since = time.monotonic() + _MAX_SECONDS, None
        while (now := time.monotonic()) < gives_up_at:
            if line.calls[0] is not call:
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
