"""`make bench`: runs through the embedded cloud against the local model server, against the ideal.

The ideal is probes x latency / parallel requests. Time is taken from before the start request to the run's
`completedAt`; CPU is the emulator's with its workers', memory the emulator's and the most a probe worker ever had.
Figures and their date go to docs/performance.md.
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

from bench.processes import Use, use_of
from cupel.client import Client

PARALLEL = 50
MODEL = "custom/bench"
CASES = ((1_000, 1.0), (1_000, 0.2), (10_000, 0.2))
MILLION = 1_000_000


@dataclass(frozen=True)
class Figure:
    """One measured run."""

    probes: int
    latency_seconds: float
    accepted_seconds: float
    first_call_seconds: float
    after_last_answer_seconds: float
    seconds: float
    model_calls: int
    peak: int
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
            "peak": str(self.peak),
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
        use = {"baseUrl": f"{server}/v1", "maxParallelRequests": PARALLEL, "enabled": True}
        client.configure_provider("custom", use)
        cases = [(probes, arguments.latency) for probes in arguments.probes] if arguments.probes else CASES
        if not arguments.cold:
            _measure(client, server, emulator, definition_id, 200, 0.05)
        figures = [_measure(client, server, emulator, definition_id, *case) for case in cases]
        _print(figures)
        if not arguments.probes:
            _print_million(client, definition_id)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, nargs="*", help="sizes of runs instead of the standard cases")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds per model call, with --probes")
    parser.add_argument("--cold", action="store_true", help="no warm-up run first")
    return parser.parse_args()


def _measure(
    client: Client, server: str, emulator: int, definition_id: str, probes: int, latency_seconds: float
) -> Figure:
    httpx.post(f"{server}/configure", json={"latencySeconds": latency_seconds}).raise_for_status()
    httpx.post(f"{server}/reset").raise_for_status()
    before = use_of(emulator)
    began = time.time()
    percentage, repeats = _shape(client, definition_id, probes)
    started = client.start_run(
        {"definitionId": definition_id, "models": [MODEL], "samplePercentage": percentage, "repeats": repeats}
    )
    accepted = time.time() - began
    if started["jobCount"] != probes:
        raise SystemExit(f"{probes} probes cannot be made of the definition's scenarios")
    run = _wait(client, started["run"]["id"], probes * latency_seconds / PARALLEL)
    counts = httpx.get(f"{server}/counts").json()
    return _figure(run, probes, latency_seconds, began, accepted, counts, before, use_of(emulator))


def _figure(
    run: dict[str, Any],
    probes: int,
    latency_seconds: float,
    began: float,
    accepted: float,
    counts: dict[str, Any],
    before: Use,
    after: Use,
) -> Figure:
    ended = datetime.fromisoformat(run["completedAt"]).timestamp()
    return Figure(
        probes=probes,
        latency_seconds=latency_seconds,
        accepted_seconds=accepted,
        first_call_seconds=counts["firstRequestAt"] - began,
        after_last_answer_seconds=ended - counts["lastRequestAt"] - latency_seconds,
        seconds=ended - began,
        model_calls=counts["requests"],
        peak=counts["inFlightPeak"],
        cpu_seconds=after.cpu_seconds - before.cpu_seconds,
        emulator_mb=after.emulator_mb,
        worker_mb=after.worker_mb,
        failed=run["progress"]["failed"],
    )


def _shape(client: Client, definition_id: str, probes: int) -> tuple[int, int]:
    """A sample percentage of the definition's scenarios that makes so many probes, and repeats."""
    total = client.definition(definition_id)["scenarioCount"]
    percentage = max(1, min(100, probes * 100 // total))
    return percentage, max(1, probes // (total * percentage // 100))


def _wait(client: Client, run_id: str, ideal_seconds: float) -> dict[str, Any]:
    """Asks rarely: whoever watches takes part of what is measured."""
    time.sleep(ideal_seconds)
    while True:
        run = client.run(run_id)
        if run["completedAt"]:
            return run
        time.sleep(0.25)


def _definition(client: Client, scenarios: int) -> str:
    name = f"bench {scenarios}"
    for found in client.definitions(search=name):
        if found["name"] == name:
            return str(found["id"])
    side = round(scenarios ** (1 / 2))
    while scenarios % side:
        side -= 1
    levels = [[{"score": n, "label": f"{what} {n}"} for n in range(size)] for what, size in _axes(side, scenarios)]
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
    """The process that listens where the API is."""
    port = httpx.URL(client.api_url).port
    for connection in psutil.net_connections("tcp"):
        if (
            connection.status == psutil.CONN_LISTEN
            and getattr(connection.laddr, "port", None) == port
            and connection.pid
        ):
            return connection.pid
    raise SystemExit("the bench needs the local stack: cupel up")


@contextmanager
def _model_server() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.model_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent) as process:  # noqa: S603
        try:
            yield json.loads(process.stdout.readline() if process.stdout else "")["url"]
        finally:
            process.terminate()


def _print(figures: list[Figure]) -> None:
    table = Table(title=f"{PARALLEL} parallel requests")
    for heading in figures[0].cells():
        table.add_column(heading, justify="right")
    for figure in figures:
        table.add_row(*figure.cells().values())
    console = Console(width=160)
    console.print(table)
    small, large = min(figures, key=lambda each: each.probes), max(figures, key=lambda each: each.probes)
    if large.probes > small.probes:
        console.print(_further(small, large))


def _further(small: Figure, large: Figure) -> str:
    more = large.probes - small.probes
    cpu = (large.cpu_seconds - small.cpu_seconds) / more * 1_000
    memory = (large.emulator_mb - small.emulator_mb) / more * 1_000
    return f"each further probe: {cpu:.2f} ms CPU; each further 1,000 probes: {memory:.1f} MB in the emulator"


def _print_million(client: Client, definition_id: str) -> None:
    """A run of a million is accepted, and then deleted: its probes are not part of the measurement."""
    began = time.time()
    run = client.start_run({"definitionId": definition_id, "models": ["sim/steady"], "repeats": 100})
    Console().print(f"a run of {run['jobCount']:,} probes was accepted in {time.time() - began:.2f} s")
    client.delete_run(run["run"]["id"])


if __name__ == "__main__":
    main()
