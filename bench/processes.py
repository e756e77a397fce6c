"""CPU and memory of the local processes: the embedded cloud, its workers, and the model server."""

from typing import NamedTuple

import psutil


class Use(NamedTuple):
    """CPU seconds of the cloud with its workers since they started, and resident memory of the emulator alone (MB)."""

    cpu_seconds: float
    emulator_mb: float


def use_of(emulator_pid: int) -> Use:
    emulator = psutil.Process(emulator_pid)
    family = [emulator, *emulator.children(recursive=True)]
    return Use(sum(map(_cpu_seconds, family)), emulator.memory_info().rss / 1e6)


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    # A worker that has ended is counted in the children's times of the emulator.
    return times.user + times.system + times.children_user + times.children_system
