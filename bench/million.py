"""`make bench-million`: measure a run of 1,000,000 simulated probes on the local stack, beside one of 10,000.

It prints the time per probe, the memory of the embedded cloud and of its largest worker, and how long reads at the
beginning and the end of either run take. It exits with 1 if the run errored, used too much memory or took too long per
probe. The stack's data grows by about 1 GB; `cupel down --discard` deletes it.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import psutil
from rich.console import Console
from rich.table import Table

from bench.cases import find_or_create_definition
from bench.processes import MemoryPeak, measure_usage, running_stack
from bench.reads import PAGE, Latency, measure
from cupel.client import Client
from cupel.json_types import Json

FIRST_MODEL, LAST_MODEL = "sim/steady", "sim/bold"
MODELS = (FIRST_MODEL, LAST_MODEL)
SMALL, LARGE = 10_000, 1_000_000
MAX_EMULATOR_MB = 6_000
MAX_WORKER_MB = 300
MAX_TIME_RATIO = 1.2
"""Limits the time per probe of the large run, compared with that of the small one."""
_POLL_SECONDS = 2.0
_REQUESTS = 20


@dataclass(frozen=True)
class Measurement:
    probes: int
    completed: int
    seconds: float
    cpu_seconds: float
    emulator_mb: float
    worker_mb: float
    reads: dict[str, Latency]

    @property
    def milliseconds_per_probe(self) -> float:
        return self.seconds / self.probes * 1_000

    def figures(self) -> dict[str, str]:
        return {
            "completed": f"{self.completed:,}",
            "time": f"{self.seconds:.1f} s",
            "time per probe": f"{self.milliseconds_per_probe:.2f} ms",
            "CPU per probe": f"{self.cpu_seconds / self.probes * 1_000:.2f} ms",
            "embedded cloud": f"{self.emulator_mb:.0f} MB",
            "largest worker": f"{self.worker_mb:.0f} MB",
            **{name: f"{read.p50:.0f} ms (p95 {read.p95:.0f})" for name, read in self.reads.items()},
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=LARGE, help="of the large run, a multiple of 10,000")
    probes = parser.parse_args().probes
    running = running_stack()
    with Client.from_environment() as client:
        definition_id = find_or_create_definition(client, short=False)
        small, large = (_measure(client, running.pid, definition_id, count) for count in (SMALL, probes))
    _print(small, large)
    sys.exit(bool(violated_bounds(small, large)))


def _measure(client: Client, emulator_pid: int, definition_id: str, probes: int) -> Measurement:
    specification = {"definitionId": definition_id, "models": list(MODELS), "repeats": probes // SMALL}
    before, memory = measure_usage(emulator_pid), MemoryPeak(emulator_pid)
    started_at = time.time()
    started = client.create_run(specification)
    run_id = str(started["run"]["id"])
    print(f"{run_id}: {started['jobCount']:,} probes, accepted in {time.time() - started_at:.2f} s", file=sys.stderr)
    run = _wait(client, run_id, memory)
    after = measure_usage(emulator_pid)
    return Measurement(
        probes=started["jobCount"],
        completed=run["progress"]["completed"],
        seconds=datetime.fromisoformat(run["completedAt"]).timestamp() - started_at,
        cpu_seconds=after.cpu_seconds - before.cpu_seconds,
        emulator_mb=memory.emulator_mb,
        worker_mb=memory.worker_mb,
        reads={name: measure(read, _REQUESTS) for name, read in _reads(client, run_id, started["jobCount"])},
    )


def _wait(client: Client, run_id: str, memory: MemoryPeak) -> Json:
    while True:
        memory.sample()
        run = client.get_run(run_id)
        if run["completedAt"]:
            return run
        time.sleep(_POLL_SECONDS)


def _reads(client: Client, run_id: str, probes: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield one request each. Probes are in order of their target, so the last model's are the second half of the
    run."""
    yield "GET /runs/{id}", lambda: client.get_run(run_id)
    yield "GET /runs/{id}/progress", lambda: client.get_run_progress(run_id)
    yield f"first {PAGE} transcripts", lambda: list(islice(client.list_transcripts(run_id), PAGE))
    yield (
        f"first {PAGE} transcripts of the last model",
        lambda: list(islice(client.list_transcripts(run_id, model=LAST_MODEL), PAGE)),
    )
    yield f"first {PAGE} probes", lambda: list(islice(client.list_run_probes(run_id), PAGE))
    yield "last transcript", lambda: client.get_transcript(f"{run_id}-{probes - 1}")


def violated_bounds(small: Measurement, large: Measurement) -> list[str]:
    ratio = large.milliseconds_per_probe / small.milliseconds_per_probe
    checks = [
        (large.completed < large.probes, f"{large.probes - large.completed:,} probes did not complete"),
        (large.emulator_mb > MAX_EMULATOR_MB, f"the embedded cloud used more than {MAX_EMULATOR_MB:,} MB"),
        (large.worker_mb > MAX_WORKER_MB, f"a worker used more than {MAX_WORKER_MB} MB"),
        (ratio > MAX_TIME_RATIO, f"a probe took {ratio:.2f} times as long as in the small run"),
    ]
    return [message for is_violated, message in checks if is_violated]


def _print(small: Measurement, large: Measurement) -> None:
    table = Table("", f"{small.probes:,} probes", f"{large.probes:,} probes")
    for name, figure in small.figures().items():
        table.add_row(name, figure, large.figures()[name])
    console = Console(width=120)
    console.print(table)
    load = " ".join(f"{each:.1f}" for each in psutil.getloadavg())
    console.print(f"time per probe: {large.milliseconds_per_probe / small.milliseconds_per_probe:.2f}; load {load}")
    for violation in violated_bounds(small, large):
        console.print(violation)


if __name__ == "__main__":
    main()
