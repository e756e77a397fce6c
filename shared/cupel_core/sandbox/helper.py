"""The helper process, which carries out one task after another, each within its limits. It imports only what tasks
need.

It is started by `process.py`. A message is its length in four bytes and JSON: `{task, arguments, cpuSeconds,
memoryBytes, maxOutputBytes}`. The response is `{result}`, `{error}` (for the author), `{limit}` (the exceeded one) or
`{failure}`.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

_NICENESS = 5
"""From the first task on, the process gets a third of another process's CPU share."""
_MAX_ERROR_LENGTH = 2_000


def serve(file_descriptor: int) -> None:
    _prepare()
    with socket.socket(fileno=file_descriptor) as channel:
        while (size := _receive(channel, 4)) is not None:
            request = _receive(channel, int.from_bytes(size))
            if request is None:
                return
            response = _respond(request)
            channel.sendall(len(response).to_bytes(4) + response)


def _prepare() -> None:
    """Limit recursion, and ignore interrupts, so that the parent decides when this process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    sys.setrecursionlimit(2_000)


def _receive(channel: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 65_536))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _respond(request: bytes) -> bytes:
    try:
        return _carry_out(json.loads(request))
    except (TimeoutError, MemoryError) as error:
        return _encode({"limit": "memory" if isinstance(error, MemoryError) else "time"})
    except RecursionError:
        return _encode({"error": "is nested too deeply"})
    except ValueError as error:
        return _encode({"error": str(error)[:_MAX_ERROR_LENGTH]})
    except Exception as error:  # noqa: BLE001 - a bug in the task: the parent raises it again, and the helper lives on
        return _encode({"failure": f"{type(error).__name__}: {error}"[:_MAX_ERROR_LENGTH]})
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limit_memory(None)


def _carry_out(request: dict[str, Any]) -> bytes:
    # The import is not caused by the author, so it counts for no limit.
    function = _function(request["task"])
    _give_way()
    _limit_memory(request["memoryBytes"])
    # At the end of this CPU time the kernel ends the process, whatever it is doing.
    signal.setitimer(signal.ITIMER_PROF, request["cpuSeconds"])
    response = _encode({"result": function(*request["arguments"])})
    return response if len(response) <= request["maxOutputBytes"] else _encode({"limit": "output"})


@cache
def _give_way() -> None:
    """Lower the priority before an author's code runs. The first import keeps the priority, as the caller waits for
    it."""
    os.nice(_NICENESS)


def _function(task: str) -> Callable[..., Any]:
    module, _, name = task.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _encode(response: dict[str, Any]) -> bytes:
    """Encode a response. Raise ValueError for infinite numbers, which are no JSON."""
    return json.dumps(response, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _limit_memory(size: int | None) -> None:
    """Limit the memory. macOS does not enforce this limit; a task's CPU time bounds how much it can allocate there."""
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY if size is None else size, hard))
    except (ImportError, ValueError, OSError):
        return
