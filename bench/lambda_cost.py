"""`python -m bench.lambda_cost`: calculate the cost of the probe function by memory, parallel calls and call duration.

This is a model, not a measurement. A worker makes as many calls at a time as its account, its memory and its share of a
processor allow (`domain/limits/worker_capacity.py`); it is billed for its memory as long as it runs.
"""

import argparse
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from cupel_core.domain.limits.worker_capacity import (
    MAX_CALLS,
    WorkerCapacity,
    conversation_mb,
    processor_share,
)

PRICES = Path(__file__).parent / "prices/us-east-1.toml"
MILLION = 1_000_000
WORKERS = 2
CHARACTERS = 8_000
USABLE_PROCESSOR = 0.8
"""A share between those at which a worker lowers and raises its load."""
MEMORIES_MB, PARALLEL, SECONDS = (256, 352, 512, 1_024, 1_769), (50, 200, 500, 800), (1.0, 3.0, 30.0)


class Estimate(NamedTuple):
    """Holds the calls in flight and the probes per second of all workers together, and GB-seconds per probe."""

    in_flight: float
    per_second: float
    gb_seconds: float


def estimate(memory_mb: int, parallel: int, seconds: float, cpu_ms: float, workers: int = WORKERS) -> Estimate:
    """Estimate probes of one call. `cpu_ms` is the time that a probe takes of a whole processor."""
    carried = int(WorkerCapacity(memory_mb).conversations_mb / conversation_mb(CHARACTERS))
    calls = min(parallel / workers, MAX_CALLS, carried)
    per_second = min(calls / seconds, USABLE_PROCESSOR * processor_share(memory_mb) / (cpu_ms / 1_000))
    return Estimate(per_second * seconds * workers, per_second * workers, memory_mb / 1_024 / per_second)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu-ms", type=float, default=2.0, help="CPU of a worker per probe, on a whole processor")
    cpu_ms: float = parser.parse_args().cpu_ms
    gb_second = tomllib.loads(PRICES.read_text())["lambda"]["gb_second"]
    table = Table(title=f"USD per million probes (probes per second); {WORKERS} workers, {cpu_ms:g} ms of CPU each")
    table.add_column("call")
    table.add_column("MB", justify="right")
    for parallel in PARALLEL:
        table.add_column(f"{parallel} parallel", justify="right")
    for row in _rows(gb_second, cpu_ms):
        table.add_row(*row)
    Console(width=120).print(table)


def _rows(gb_second: float, cpu_ms: float) -> Iterator[list[str]]:
    for seconds, memory_mb in product(SECONDS, MEMORIES_MB):
        estimates = [estimate(memory_mb, parallel, seconds, cpu_ms) for parallel in PARALLEL]
        cells = [f"{each.gb_seconds * gb_second * MILLION:.2f} ({each.per_second:,.0f})" for each in estimates]
        yield [f"{seconds:g} s", str(memory_mb), *cells]


if __name__ == "__main__":
    main()
