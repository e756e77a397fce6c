"""`python -m bench.reads`: measure how long the API of the local stack reads 10,000 transcripts, and analyses.

Latencies are those of single requests, one after another; the transcripts are then read page by page and exported.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import psutil
from rich.console import Console
from rich.table import Table

from bench.cases import MODELS, find_or_create_definition, run_specification
from bench.local_server import model_server, use_server
from cupel.client import Client
from cupel.json_types import Json
from cupel.pages import Pages
from cupel_core.contract.query import MAX_TRANSCRIPTS

REQUESTS = 40
PAGE = 100
_RUN_WITH_ANALYSIS = """
query Run($id: ID!) {
  run(id: $id) {
    name status progress { total completed failed } definition { name }
    analysis {
      modelAgreement
      mostContestedScenarios(limit: 5) { scenarioName variance }
      figures { columns { targetId estimate { decision { mean interval95 } } } }
    }
  }
}
"""


class Latency(NamedTuple):
    """Holds milliseconds."""

    p50: float
    p95: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=10_000)
    probes = parser.parse_args().probes
    console = Console(width=120)
    with Client.from_environment() as client:
        run_id = _run(client, probes)
        table = Table("request", "p50 ms", "p95 ms")
        for name, request in _requests(client, run_id):
            table.add_row(name, *(f"{value:.0f}" for value in measure(request)))
        console.print(table)
        started_at = time.perf_counter()
        read = sum(1 for _ in client.list_transcripts(run_id))
        seconds = time.perf_counter() - started_at
        console.print(f"{read:,} transcripts read in pages of {MAX_TRANSCRIPTS} in {seconds:.1f} s")
        for file_format in ("jsonl", "csv"):
            seconds, peak_mb = export(run_id, file_format)
            console.print(f"exported as {file_format} in {seconds:.1f} s, with {peak_mb:.0f} MB of memory at most")


def _run(client: Client, probes: int) -> str:
    definition_id = find_or_create_definition(client, short=False)
    with model_server() as server:
        use_server(client, server)
        run_id = str(client.create_run(run_specification(definition_id, probes))["run"]["id"])
        while client.get_run(run_id)["completedAt"] is None:
            time.sleep(1)
    job_id = client.analyze_run(run_id, kind="deep")["jobId"]
    while client.get_job(job_id)["completedAt"] is None:
        time.sleep(1)
    return run_id


def _requests(client: Client, run_id: str) -> Iterator[tuple[str, Callable[[], object]]]:
    definition_id = client.get_run(run_id)["definitionId"]
    yield "GET /health", client.get_health
    yield "GET /runs/{id}", lambda: client.get_run(run_id)
    yield "GET /runs/{id}/progress", lambda: client.get_run_progress(run_id)
    yield "GET /runs, a page", lambda: _page(client.list_runs())
    yield f"GET /runs/{{id}}/transcripts, a page of {PAGE}", lambda: _page(client.list_transcripts(run_id))
    yield "the same of one model", lambda: _page(client.list_transcripts(run_id, model=MODELS[1]))
    yield f"GET /runs/{{id}}/probes, a page of {PAGE}", lambda: _page(client.list_run_probes(run_id))
    yield "GET /transcripts/{id}", lambda: client.get_transcript(f"{run_id}-17")
    yield "GET /runs/{id}/results", lambda: client.get_run_results(run_id)
    yield "GET /runs/{id}/analysis", lambda: client.get_run_analysis(run_id)
    yield "GET /runs/{id}/analysis/deep", lambda: client.get_deep_analysis(run_id)
    yield "GET /runs/{id}/scores", lambda: client.get_run_scores(run_id)
    yield "GET /runs/{id}/events", lambda: client.list_run_events(run_id)
    yield "GraphQL, the run with its analysis", lambda: client.graphql(_RUN_WITH_ANALYSIS, {"id": run_id})
    yield "MCP, get_run_summary", lambda: client.send_mcp_message(_tool_call("get_run_summary", run_id=run_id), {})
    yield f"GET /definitions/{{id}}/scenarios, a page of {PAGE}", lambda: _page(client.list_scenarios(definition_id))


def _tool_call(tool: str, **arguments: str) -> str:
    call = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})


def _page(items: Pages) -> list[Json]:
    return items.first(PAGE)


def export(run_id: str, file_format: str) -> tuple[float, float]:
    """Return the time and the peak memory of the command."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--format", file_format, "--output", f"{folder}/transcripts"]
        command = [str(Path(sys.executable).with_name("cupel")), "export", run_id, *options]
        started_at = time.perf_counter()
        process = psutil.Popen(command, stderr=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                peak = max(peak, process.memory_info().rss)
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"the export as {file_format} failed")
    return time.perf_counter() - started_at, peak / 1e6


def measure(request: Callable[[], object], count: int = REQUESTS) -> Latency:
    milliseconds = []
    for _ in range(count):
        started_at = time.perf_counter()
        request()
        milliseconds.append((time.perf_counter() - started_at) * 1_000)
    return Latency(median(milliseconds), quantiles(milliseconds, n=20)[-1])


if __name__ == "__main__":
    main()
