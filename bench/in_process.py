import time
from collections.abc import Sequence
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

import cupel
from bench.cases import FAULTS, Case
from bench.texts import prompts

MODEL = "custom/bench-a"
WARM_UP = Case("warm-up", 100, 0.05)
CASES = (Case("1,000 at 0.2 s", 1_000, 0.2), Case("1,000 at 0.2 s with faults", 1_000, 0.2, faults=FAULTS))


def print_in_process(server: str, cases: Sequence[Case]) -> None:
    table = Table()
    for heading in ("case, in process", "ideal", "time", "x ideal", "calls", "errored"):
        table.add_column(heading, justify="left" if heading.startswith("case") else "right")
    _evaluate(WARM_UP, server)
    for case in cases:
        seconds, calls, errored = _evaluate(case, server)
        ratio = seconds / case.ideal_seconds
        cells = (
            case.title,
            f"{case.ideal_seconds:.1f} s",
            f"{seconds:.2f} s",
            f"{ratio:.3f}",
            f"{calls:,}",
            f"{errored}",
        )
        table.add_row(*cells)
    Console(width=120).print(table)


def _evaluate(case: Case, server: str) -> tuple[float, int, int]:
    _post(server, "/reset", {})
    _post(server, "/configure", {"latencySeconds": case.latency_seconds, "rates": dict(case.faults)})
    scenarios = [{"name": f"case {number}", "prompt": prompt} for number, prompt in enumerate(prompts(case.probes))]
    definition = {"name": "bench", "content": {"decision": {"pattern": "Rating: ([1-5])"}}, "scenarios": scenarios}
    started_at = time.monotonic()
    evaluation = cupel.evaluate(
        definition,
        MODEL,
        providers={"custom": {"api_key": "bench", "base_url": f"{server}/v1"}},
        max_concurrency=case.parallel,
        progress=False,
    )
    seconds = time.monotonic() - started_at
    errored = sum(result.error is not None for result in evaluation.results)
    return seconds, int(httpx.get(f"{server}/counts").json()["requests"]), errored


def _post(server: str, path: str, body: Any) -> None:
    httpx.post(f"{server}{path}", json=body).raise_for_status()
