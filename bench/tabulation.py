"""`python -m bench.tabulation`: measure how long the local stack counts and analyzes a run, and reads its figures.

The outcomes of the large run are written directly, as workers would have left them, so no probe is run. Its analysis is
then requested: the Tabulate Map counts 10,000 probes per task, two at a time, and Analyze computes the figures. For a
run of 1,000 simulated probes, the time of the Analyze task is that between its events. It exits with 1 if a bound is
exceeded. The stack's data grows by about 0.5 GB per million probes.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil
from rich.console import Console

from bench.cases import find_or_create_definition
from bench.processes import measure_usage, running_stack
from bench.reads import Latency, measure
from bench.stored_runs import MODELS, WORKSPACE, short_transcript, use_stack, write_run
from cupel.client import Client
from cupel.json_types import Json
from cupel.stack.clients import make_client
from cupel.stack.emulator import Emulator

PROBES, SMALL = 1_000_000, 1_000
MAX_TABULATION_SECONDS = 60.0
"""The limit per million probes, with two workers."""
MAX_ADDED_SECONDS = 0.15
MAX_READ_MILLISECONDS = 50.0
"""Limits the median of reading an analysis."""
_POLL_SECONDS = 0.2


class Figures(NamedTuple):
    probes: int
    tabulation_seconds: float
    analysis_seconds: float
    cpu_seconds: float
    analysis_read: Latency
    results_read: Latency
    results_bytes: int

    @property
    def per_million(self) -> float:
        return self.tabulation_seconds * 1_000_000 / self.probes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=PROBES, help="of the large run, a multiple of 10,000")
    probes = parser.parse_args().probes
    running = running_stack()
    with Client.from_environment() as client:
        definition_id = find_or_create_definition(client, short=False)
        small = [_complete_small_run(client, definition_id) for _ in range(5)]
        added = sorted(_added_seconds(running, run_id) for run_id in small)
        small_read = measure(lambda: client.get_run_analysis(small[0]))
        use_stack(running)
        figures = _measure(client, running, write_run(definition_id, probes, short_transcript), probes)
    reads = {SMALL: small_read, probes: figures.analysis_read}
    _print(figures, reads, added)
    sys.exit(bool(violated_bounds(figures, reads, added)))


def _complete_small_run(client: Client, definition_id: str) -> str:
    share = {"samplePercentage": 10, "sampleSeed": 1}  # A sample has 500 of the definition's 5,000 scenarios.
    run_id = client.create_run({"definitionId": definition_id, "models": list(MODELS), **share})["run"]["id"]
    while client.get_run(run_id)["completedAt"] is None:
        time.sleep(_POLL_SECONDS)
    return str(run_id)


def _added_seconds(running: Emulator, run_id: str) -> float:
    steps = make_client("stepfunctions", running)
    machines = {each["name"]: each["stateMachineArn"] for each in steps.list_state_machines()["stateMachines"]}
    arn = next(arn for name, arn in machines.items() if name.endswith("finish"))
    execution = f"{arn.replace(':stateMachine:', ':execution:')}:{run_id}-1"
    events = steps.get_execution_history(executionArn=execution, maxResults=1_000)["events"]
    return _seconds_of(events, "Analyze")


def _seconds_of(events: list[Any], state: str) -> float:
    times = {
        each["type"]: each["timestamp"]
        for each in events
        for details in (each.get("stateEnteredEventDetails"), each.get("stateExitedEventDetails"))
        if details and details["name"] == state
    }
    return float((times["TaskStateExited"] - times["TaskStateEntered"]).total_seconds())


def _measure(client: Client, running: Emulator, run_id: str, probes: int) -> Figures:
    bucket, files = os.environ["BUCKET_NAME"], -(-probes // 10_000)
    s3 = make_client("s3", running)

    def count_files() -> int:
        prefix = f"analyses/{WORKSPACE}/{run_id}/"
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        return sum("/counts-" in each["Key"] for each in listed)

    before, began = measure_usage(running.pid), time.monotonic()
    client.analyze_run(run_id)
    _wait(lambda: count_files() == files)
    tabulated = time.monotonic()
    _wait(lambda: _find(client, run_id) is not None)
    analyzed = time.monotonic()
    cpu_seconds = measure_usage(running.pid).cpu_seconds - before.cpu_seconds
    results = client.get_run_results(run_id)
    return Figures(
        probes=probes,
        tabulation_seconds=tabulated - began,
        analysis_seconds=analyzed - tabulated,
        cpu_seconds=cpu_seconds,
        analysis_read=measure(lambda: client.get_run_analysis(run_id)),
        results_read=measure(lambda: client.get_run_results(run_id), 10),
        results_bytes=len(str(results)),
    )


def _find(client: Client, run_id: str) -> Json | None:
    return next(iter(client.list_run_analyses(run_id).first(1)), None)


def _wait(is_done: Callable[[], bool]) -> None:
    while not is_done():
        time.sleep(_POLL_SECONDS)


def violated_bounds(figures: Figures, reads: dict[int, Latency], added: list[float]) -> list[str]:
    """Return the exceeded bounds; `reads` maps numbers of probes to the latency of reading the analysis."""
    checks = [
        (figures.per_million > MAX_TABULATION_SECONDS, f"tabulation took more than {MAX_TABULATION_SECONDS:.0f} s"),
        (added[len(added) // 2] > MAX_ADDED_SECONDS, f"the analysis of a small run took over {MAX_ADDED_SECONDS} s"),
        *(
            (read.p50 > MAX_READ_MILLISECONDS, f"reading {probes:,} probes took over {MAX_READ_MILLISECONDS:.0f} ms")
            for probes, read in reads.items()
        ),
    ]
    return [message for is_violated, message in checks if is_violated]


def _print(figures: Figures, reads: dict[int, Latency], added: list[float]) -> None:
    console = Console(width=120)
    console.print(f"{figures.probes:,} probes: tabulated in {figures.tabulation_seconds:.1f} s with 2 workers")
    console.print(f"then analyzed in {figures.analysis_seconds:.1f} s; {figures.cpu_seconds:.1f} s of CPU for both")
    for probes, read in reads.items():
        console.print(f"GET analysis of {probes:,} probes {read.p50:.0f} ms (p95 {read.p95:.0f})")
    results = f"GET results {figures.results_read.p50:.0f} ms (p95 {figures.results_read.p95:.0f})"
    console.print(f"{results}, {figures.results_bytes / 1_000:.0f} kB")
    console.print(f"analysis of {SMALL:,} probes: {' '.join(f'{each:.2f}' for each in added)} s")
    console.print(f"load {' '.join(f'{each:.1f}' for each in psutil.getloadavg())}, {psutil.cpu_count()} cores")
    for violation in violated_bounds(figures, reads, added):
        console.print(violation)


if __name__ == "__main__":
    main()
