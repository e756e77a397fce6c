"""Calculates requests and units per probe, and the cost per million single-turn probes, tokens excluded.

`python -m bench.units` takes about a minute per case: model calls take a realistic 2 to 4 seconds, 3 on average.
"""

import argparse
import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.counting import MEMORY_MB, PARALLEL, RunUsage, measure_run
from bench.texts import content
from bench.transitions import transitions
from cupel_core.domain.runs.run import RunStatus

ROOT = Path(__file__).parent.parent
PRICES = ROOT / "bench/prices/us-east-1.toml"
MACHINE = ROOT / "statemachines/finish.asl.json"
SECONDS = 3.0
MILLION = 1_000_000
SCENARIOS = 500


class BillLine(NamedTuple):
    """Holds one billed quantity: its use per probe, the maximum allowed, and the cost of a million probes."""

    name: str
    per_probe: float
    maximum: float | None
    usd: float


def main() -> None:
    arguments = _arguments()
    prices = tomllib.loads(PRICES.read_text())
    for title, short in {"realistic texts": False, "short texts": True}.items():
        if arguments.case not in title:
            continue
        definition = content(SCENARIOS, short=short)
        run = measure_run(arguments.probes, arguments.seconds, definition, short=short, parallel=arguments.parallel)
        usage = asyncio.run(run)
        _print(title, usage, bill(usage, _transitions(), prices), prices)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=1_000, help="rounded to repeats of all scenarios")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="average duration of a model call")
    parser.add_argument("--parallel", type=int, default=PARALLEL, help="maxParallelRequests of the account")
    parser.add_argument("--case", default="", help="only the cases whose title contains this")
    return parser.parse_args()


def _transitions() -> int:
    return transitions(json.loads(MACHINE.read_text()), RunStatus.SUMMARIZING)


def bill(usage: RunUsage, steps: int, prices: dict[str, Any]) -> list[BillLine]:
    """Return the bill of a run, one line per billed quantity; the last line is the sum.

    The only function in it is the probe function, for the time of its workers.
    """
    each_million = prices["per_million"]
    lines = [
        BillLine(
            "SQS requests", per_probe := usage.per_probe("sqs_requests"), 0.1, per_probe * each_million["sqs_requests"]
        ),
        BillLine(
            "  of the poller",
            per_probe := 2 * usage.received_count / usage.probes,
            None,
            per_probe * each_million["sqs_requests"],
        ),
    ]
    for name, key, maximum in (
        ("DynamoDB write units", "dynamodb_write_units", 3.0),
        ("DynamoDB read units", "dynamodb_read_units", None),
        ("S3 writes", "s3_writes", 0.1),
        ("S3 reads", "s3_reads", 0.1),
    ):
        lines.append(BillLine(name, usage.per_probe(key), maximum, usage.per_probe(key) * each_million[key]))
    lines.append(
        BillLine("transitions", steps / usage.probes, 0.02, steps / usage.probes * each_million["transitions"])
    )
    gb_seconds = usage.worker_seconds * MEMORY_MB / 1_024 / usage.probes
    lines.append(BillLine("Lambda GB-seconds", gb_seconds, None, gb_seconds * prices["lambda"]["gb_second"] * MILLION))
    return [*lines, BillLine("USD per million", 0.0, 2.50, sum(line.usd for line in lines))]


def _print(title: str, usage: RunUsage, lines: list[BillLine], prices: dict[str, Any]) -> None:
    item_size = f"an outcome takes {usage.stored_bytes:,.0f} bytes on average"
    caption = f"{item_size}; list prices of {prices['region']}, {prices['date']}"
    table = Table(title=f"{usage.probes:,} probes, {title}", caption=caption)
    for heading in ("", "per probe", "maximum", "USD per million"):
        table.add_column(heading, justify="right" if heading else "left")
    for line in lines:
        maximum = "" if line.maximum is None else f"{line.maximum:g}"
        table.add_row(line.name, f"{line.per_probe:.3f}" if line.per_probe else "", maximum, f"{line.usd:.2f}")
    Console(width=120).print(table)
    Console(width=120).print(", ".join(f"{number:,} {name}" for name, number in sorted(usage.calls.items())))


if __name__ == "__main__":
    main()
