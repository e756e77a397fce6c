"""Measures CPU and memory of the local processes: the embedded cloud, its workers, and the model server."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

from cupel.client import Client
from cupel.stack import emulator
from cupel.stack.emulator import Emulator
from cupel.stack.paths import StackPaths, find_stack_paths

_NEEDS_STACK = "the benchmark needs the local stack; start it with: cupel up"


class ResourceUsage(NamedTuple):
    """Holds CPU seconds of the emulator and its workers since they started, and resident memory in MB.

    `emulator_mb` is the emulator alone, `worker_mb` the peak of any worker of the probe function.
    """

    cpu_seconds: float
    emulator_mb: float
    worker_mb: float


def emulator_pid(client: Client) -> int:
    port = httpx.URL(client.api_url).port
    for connection in psutil.net_connections("tcp"):
        if (
            connection.status == psutil.CONN_LISTEN
            and getattr(connection.laddr, "port", None) == port
            and connection.pid
        ):
            return connection.pid
    raise SystemExit(_NEEDS_STACK)


def running_stack() -> Emulator:
    """Return the embedded cloud of this folder, or exit without one."""
    running = emulator.find_running(find_stack_paths(Path.cwd()))
    if running is None:
        raise SystemExit(_NEEDS_STACK)
    return running


def kill_stack(paths: StackPaths) -> None:
    """Send SIGKILL to the embedded cloud and all of its workers, and wait until they have ended."""
    running = emulator.find_running(paths)
    if running is None:
        raise SystemExit(_NEEDS_STACK)
    process = psutil.Process(running.pid)
    processes = [process, *process.children(recursive=True)]
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(processes)


def measure_usage(emulator_pid: int) -> ResourceUsage:
    emulator = psutil.Process(emulator_pid)
    processes = [emulator, *emulator.children(recursive=True)]
    worker_mb = max(map(_peak_mb, filter(_is_probe_worker, processes)), default=0.0)
    return ResourceUsage(sum(map(_cpu_seconds, processes)), emulator.memory_info().rss / 1e6, worker_mb)


@dataclass
class MemoryPeak:
    """Holds the most resident memory so far, in MB: of the emulator, and of any of its workers."""

    emulator_pid: int
    emulator_mb: float = 0.0
    worker_mb: float = 0.0

    def sample(self) -> None:
        emulator = psutil.Process(self.emulator_pid)
        self.emulator_mb = max(self.emulator_mb, emulator.memory_info().rss / 1e6)
        self.worker_mb = max(self.worker_mb, *map(_peak_mb, emulator.children(recursive=True)), 0.0)


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    # The emulator's children times include workers that have ended.
    return times.user + times.system + times.children_user + times.children_system


def function_peak_mb(emulator_pid: int, function: str) -> float:
    workers = psutil.Process(emulator_pid).children(recursive=True)
    return max((_peak_mb(each) for each in workers if _is_worker(each, function)), default=0.0)


def _is_probe_worker(process: psutil.Process) -> bool:
    return _is_worker(process, "probe")


def _is_worker(process: psutil.Process, function: str) -> bool:
    """Decide by the directory: the emulator unpacks each function's code into one named after it."""
    try:
        return any(f"-cupel-{function}-" in argument for argument in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def _peak_mb(process: psutil.Process) -> float:
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except FileNotFoundError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM:")), 0.0)
