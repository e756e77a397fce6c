"""CPU and memory of the local processes: the embedded cloud, its workers, and the model server."""

from pathlib import Path
from typing import NamedTuple

import psutil


class Use(NamedTuple):
    """CPU seconds of the cloud with its workers since they started, and resident memory in MB.

    `emulator_mb` is of the emulator alone, `worker_mb` the most that any worker of the probe function ever had.
    """

    cpu_seconds: float
    emulator_mb: float
    worker_mb: float


def use_of(emulator_pid: int) -> Use:
    emulator = psutil.Process(emulator_pid)
    family = [emulator, *emulator.children(recursive=True)]
    most = max(map(_most_mb, filter(_is_probe_worker, family)), default=0.0)
    return Use(sum(map(_cpu_seconds, family)), emulator.memory_info().rss / 1e6, most)


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    # A worker that has ended is counted in the children's times of the emulator.
    return times.user + times.system + times.children_user + times.children_system


def _is_probe_worker(process: psutil.Process) -> bool:
    """The emulator unpacks each function's code into a directory named after it."""
    try:
        return any("-cupel-probe-" in argument for argument in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def _most_mb(process: psutil.Process) -> float:
    """The high-water mark, which the kernel keeps."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except FileNotFoundError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM:")), 0.0)
