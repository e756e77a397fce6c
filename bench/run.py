"""`make bench`: runs through the embedded cloud with the local model server, compared with the ideal time.

The ideal time is probes x latency / parallel requests. Time is measured from just before the start request to the run's
`completedAt`. CPU is that of the emulator and its workers; memory is the emulator's and the peak of any probe worker.
Results go to docs/performance.md with their date.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from bench.processes import ResourceUsage, measure_usage
from cupel.client import Client

PARALLEL = 50
MODEL = "custom/bench"
CASES = ((1_000, 1.0), (1_000, 0.2), (10_000, 0.2))
MILLION = 1_000_000
HOSTILE_RATES = {"429": 0.05, "500": 0.02, "drop": 0.01}
"""Shares of failing calls with --hostile: random ones, which say nothing about the account's limit."""


@dataclass(frozen=True)
class RunMeasurement:
    """The measurements of one run."""

    probes: int
    latency_seconds: float
    accepted_seconds: float
    first_call_seconds: float
    after_last_answer_seconds: float
    seconds: float
    model_calls: int
    in_flight_peak: int
    cpu_seconds: float
    emulator_mb: float
    worker_mb: float
    failed: int

    @property
    def ideal_seconds(self) -> float:
        return self.probes * self.latency_seconds / PARALLEL

    def cells(self) -> dict[str, str]:
        return {
            "probes": f"{self.probes:,}",
            "latency": f"{self.latency_seconds:g} s",
            "ideal": f"{self.ideal_seconds:.1f} s",
            "time": f"{self.seconds:.2f} s",
            "x ideal": f"{self.seconds / self.ideal_seconds:.3f}",
            "accepted": f"{self.accepted_seconds:.2f} s",
            "first call": f"{self.first_call_seconds:.2f} s",
            "after last": f"{self.after_last_answer_seconds:.2f} s",
            "calls": f"{self.model_calls:,}",
            "peak": str(self.in_flight_peak),
            "failed": str(self.failed),
            "CPU": f"{self.cpu_seconds:.2f} s",
            "emulator": f"{self.emulator_mb:.0f} MB",
            "worker": f"{self.worker_mb:.0f} MB",
        }


def main() -> None:
    arguments = _arguments()
    with Client.from_environment() as client, _model_server() as server:
        definition_id = _definition(client, max(arguments.probes or [probes for probes, _ in CASES]))
        emulator = _emulator_pid(client)
        settings = {"baseUrl": f"{server}/v1", "maxParallelRequests": PARALLEL, "enabled": True}
        client.update_provider("custom", settings)
        cases = [(probes, arguments.latency) for probes in arguments.probes] if arguments.probes else CASES
        if not arguments.cold:
            _measure(client, server, emulator, definition_id, 200, 0.05)
        rates = HOSTILE_RATES if arguments.hostile else {}
        httpx.post(f"{server}/configure", json={"rates": rates}).raise_for_status()
        measurements = [_measure(client, server, emulator, definition_id, *case) for case in cases]
        _print(measurements)
        if not arguments.probes:
            _print_million(client, definition_id)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, nargs="*", help="run sizes instead of the standard cases")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds per model call, with --probes")
    parser.add_argument("--cold", action="store_true", help="skip the warm-up run")
    parser.add_argument("--hostile", action="store_true", help="5 %% 429, 2 %% 500 and 1 %% dropped connections")
    return parser.parse_args()


def _measure(
    client: Client, server: str, emulator: int, definition_id: str, probes: int, latency_seconds: float
) -> RunMeasurement:
    httpx.post(f"{server}/configure", json={"latencySeconds": latency_seconds}).raise_for_status()
    httpx.post(f"{server}/reset").raise_for_status()
    before = measure_usage(emulator)
    started_at = time.time()
    percentage, repeats = _sampling(client, definition_id, probes)
    started = client.create_run(
        {"definitionId": definition_id, "models": [MODEL], "samplePercentage": percentage, "repeats": repeats}
    )
    accepted = time.time() - started_at
    if started["jobCount"] != probes:
        raise SystemExit(f"no sample of the definition's scenarios gives {probes} probes")
    run = _wait(client, started["run"]["id"], probes * latency_seconds / PARALLEL)
    counts = httpx.get(f"{server}/counts").json()
    return _measurement(run, probes, latency_seconds, started_at, accepted, counts, before, measure_usage(emulator))


def _measurement(
    run: dict[str, Any],
    probes: int,
    latency_seconds: float,
    started_at: float,
    accepted: float,
    counts: dict[str, Any],
    before: ResourceUsage,
    after: ResourceUsage,
) -> RunMeasurement:
    ended = datetime.fromisoformat(run["completedAt"]).timestamp()
    return RunMeasurement(
        probes=probes,
        latency_seconds=latency_seconds,
        accepted_seconds=accepted,
        first_call_seconds=counts["firstRequestAt"] - started_at,
        after_last_answer_seconds=ended - counts["lastRequestAt"] - latency_seconds,
        seconds=ended - started_at,
        model_calls=counts["requests"],
        in_flight_peak=counts["inFlightPeak"],
        cpu_seconds=after.cpu_seconds - before.cpu_seconds,
        emulator_mb=after.emulator_mb,
        worker_mb=after.worker_mb,
        failed=run["progress"]["failed"],
    )


def _sampling(client: Client, definition_id: str, probes: int) -> tuple[int, int]:
    """The sample percentage and the repeats that give this number of probes."""
    total = client.get_definition(definition_id)["scenarioCount"]
    percentage = max(1, min(100, probes * 100 // total))
    return percentage, max(1, probes // (total * percentage // 100))


def _wait(client: Client, run_id: str, ideal_seconds: float) -> dict[str, Any]:
    """Polls rarely, because polling uses the CPU that is measured."""
    time.sleep(ideal_seconds)
    while True:
        run = client.get_run(run_id)
        if run["completedAt"]:
            return run
        time.sleep(0.25)


def _definition(client: Client, scenarios: int) -> str:
    name = f"bench {scenarios}"
    for definition in client.list_definitions(search=name):
        if definition["name"] == name:
            return str(definition["id"])
    side = round(scenarios ** (1 / 2))
    while scenarios % side:
        side -= 1
    levels = [[{"score": n, "label": f"{axis} {n}"} for n in range(size)] for axis, size in _axes(side, scenarios)]
    content = {
        "template": "Bench: [left] or [right]? End with the line `Rating: N`.",
        "dimensions": [{"name": "left", "levels": levels[0]}, {"name": "right", "levels": levels[1]}],
        "decision": {"pattern": r"(?im)^rating:\s*([1-5])"},
    }
    definition_id = str(client.create_definition({"name": name, "content": content})["id"])
    client.generate_scenarios(definition_id, {"mode": "matrix"})
    return definition_id


def _axes(side: int, scenarios: int) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("left", side), ("right", scenarios // side)


def _emulator_pid(client: Client) -> int:
    """The process that listens on the port of the API."""
    port = httpx.URL(client.api_url).port
    for connection in psutil.net_connections("tcp"):
        if (
            connection.status == psutil.CONN_LISTEN
            and getattr(connection.laddr, "port", None) == port
            and connection.pid
        ):
            return connection.pid
    raise SystemExit("the benchmark needs the local stack; start it with: cupel up")


@contextmanager
def _model_server() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.model_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent) as process:  # noqa: S603
        try:
            yield json.loads(process.stdout.readline() if process.stdout else "")["url"]
        finally:
            process.terminate()


def _print(measurements: list[RunMeasurement]) -> None:
    table = Table(title=f"{PARALLEL} parallel requests")
    for heading in measurements[0].cells():
        table.add_column(heading, justify="right")
    for measurement in measurements:
        table.add_row(*measurement.cells().values())
    console = Console(width=160)
    console.print(table)
    small, large = min(measurements, key=lambda each: each.probes), max(measurements, key=lambda each: each.probes)
    if large.probes > small.probes:
        console.print(_marginal_cost(small, large))


def _marginal_cost(small: RunMeasurement, large: RunMeasurement) -> str:
    additional_probes = large.probes - small.probes
    cpu = (large.cpu_seconds - small.cpu_seconds) / additional_probes * 1_000
    memory = (large.emulator_mb - small.emulator_mb) / additional_probes * 1_000
    return f"each additional probe: {cpu:.2f} ms CPU; each additional 1,000 probes: {memory:.1f} MB in the emulator"


def _print_million(client: Client, definition_id: str) -> None:
    """Measure only how long the start of a run of a million probes takes; the run is then deleted."""
    started_at = time.time()
    run = client.create_run({"definitionId": definition_id, "models": ["sim/steady"], "repeats": 100})
    Console().print(f"start of a run of {run['jobCount']:,} probes accepted in {time.time() - started_at:.2f} s")
    client.delete_run(run["run"]["id"])


if __name__ == "__main__":
    main()
