"""The parent's end of one helper process. Not safe for concurrent use: the pool lends it to one caller at a time."""

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import orjson

from cupel_core.sandbox.errors import ExpressionError, LimitExceeded, SandboxFailed
from cupel_core.sandbox.limits import TaskLimits

_INHERITED = ("LD_LIBRARY_PATH", "LANG", "SYSTEMROOT")
"""The helper gets no other variable: a function's environment contains its credentials."""
_START = "import sys; sys.path[:] = {path!r}; from cupel_core.sandbox.helper import serve; serve({descriptor})"
_EXIT_SECONDS = 5.0


class HelperProcess:
    """Started at once; `close` it, or let it end with this process."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with code of our own
                [sys.executable, "-I", "-S", "-B", "-c", _START.format(path=sys.path, descriptor=theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={name: os.environ[name] for name in _INHERITED if name in os.environ},
                cwd="/",
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def call(self, task: str, arguments: tuple[Any, ...], limits: TaskLimits) -> Any:
        """The task's result. Raises ExpressionError, LimitExceeded or SandboxFailed; after the latter two it may be
        dead."""
        fields = {
            "task": task,
            "arguments": arguments,
            "cpuSeconds": limits.cpu_seconds,
            "memoryBytes": limits.memory_bytes,
            "maxOutputBytes": limits.max_output_bytes,
        }
        try:
            response = self._exchange(orjson.dumps(fields), limits)
        except orjson.JSONEncodeError as error:
            raise ExpressionError(f"is applied to what is no JSON: {error}") from None
        except (OSError, EOFError) as error:
            raise self._end(limits, error) from None
        return _result(orjson.loads(response), limits)

    def close(self) -> None:
        self._channel.close()
        self._process.kill()
        self._process.wait()

    def _exchange(self, request: bytes, limits: TaskLimits) -> bytes:
        ends_at = time.monotonic() + limits.wall_seconds
        self._channel.settimeout(limits.wall_seconds)
        self._channel.sendall(len(request).to_bytes(4) + request)
        size = int.from_bytes(self._receive(4, ends_at))
        # An error may be a little longer than the result may be.
        if size > limits.max_output_bytes + 10_000:
            raise EOFError("the response is too long")
        return self._receive(size, ends_at)

    def _receive(self, size: int, ends_at: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            self._channel.settimeout(max(0.001, ends_at - time.monotonic()))
            part = self._channel.recv(min(size - len(parts), 1_048_576))
            if not part:
                raise EOFError("the helper process ended")
            parts += part
        return bytes(parts)

    def _end(self, limits: TaskLimits, error: Exception) -> Exception:
        """End the process; returns the error that its end means."""
        if isinstance(error, EOFError):
            self._await_exit()
        is_alive = self.is_alive
        self.close()
        code = self._process.returncode
        if isinstance(error, TimeoutError):
            return LimitExceeded(f"takes more than {limits.wall_seconds:g} s")
        if code == -signal.SIGPROF:
            return LimitExceeded(_time_message(limits))
        if not is_alive and code in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            return LimitExceeded(_memory_message(limits))
        return SandboxFailed(f"the helper process ended with {code}: {error}")

    def _await_exit(self) -> None:
        try:
            self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return


def _result(response: dict[str, Any], limits: TaskLimits) -> Any:
    match response:
        case {"result": result}:
            return result
        case {"limit": "output"}:
            raise LimitExceeded(f"gives more than {limits.max_output_bytes:,} bytes")
        case {"limit": "memory"}:
            raise LimitExceeded(_memory_message(limits))
        case {"limit": _}:
            raise LimitExceeded(_time_message(limits))
        case {"error": message}:
            raise ExpressionError(message)
    raise SandboxFailed(str(response.get("failure")))


def _time_message(limits: TaskLimits) -> str:
    return f"takes more than {limits.cpu_seconds:g} s of CPU time"


def _memory_message(limits: TaskLimits) -> str:
    return f"needs more than {limits.memory_mb} MB of memory"
