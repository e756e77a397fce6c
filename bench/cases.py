"""Measures runs of a size, a latency and a provider's behaviour from outside, beside a loop of bare calls."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from bench.local_server import ROOT, use_server
from bench.processes import measure_usage
from bench.texts import content
from cupel.client import Client
from cupel.json_types import Json

MODELS = ("custom/bench-a", "custom/bench-b")
SCENARIOS = 5_000
FAULTS = {"429": 0.05, "500": 0.02, "drop": 0.01}
"""The shares of random failures, which say nothing about the account's limit."""
_POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Case:
    """Describes a run to measure. Its ideal time is that of all its calls, one batch of parallel ones after the
    other."""

    title: str
    probes: int
    latency_seconds: float
    parallel: int = 50
    faults: Mapping[str, float] = field(default_factory=dict)

    @property
    def ideal_seconds(self) -> float:
        return self.probes * self.latency_seconds / self.parallel


CASES = (
    Case("1,000 at 0.2 s", 1_000, 0.2),
    Case("10,000 at 0.2 s", 10_000, 0.2),
    Case("1,000 at 1 s", 1_000, 1.0),
    Case("10,000 at 1 s, 500 parallel", 10_000, 1.0, parallel=500),
    Case("1,000 at 0.2 s with faults", 1_000, 0.2, faults=FAULTS),
)
WARM_UP = Case("warm-up", 200, 0.05)


@dataclass(frozen=True)
class Measurement:
    case: Case
    accepted_seconds: float
    first_call_seconds: float
    after_last_answer_seconds: float
    seconds: float
    model_calls: int
    in_flight_peak: int
    cpu_seconds: float
    emulator_mb: float
    worker_mb: float
    errored: int
    bare_seconds: float | None = None
    """The time of the same calls in a bare loop; with faults there is no such loop."""

    @property
    def ratio(self) -> float:
        return self.seconds / self.case.ideal_seconds

    def cells(self) -> dict[str, str]:
        case = self.case
        return {
            "case": case.title,
            "ideal": f"{case.ideal_seconds:.1f} s",
            "time": f"{self.seconds:.2f} s",
            "x ideal": f"{self.ratio:.3f}",
            "bare": f"{self.bare_seconds / case.ideal_seconds:.3f}" if self.bare_seconds else "",
            "accepted": f"{self.accepted_seconds:.2f} s",
            "first call": f"{self.first_call_seconds:.2f} s",
            "after last": f"{self.after_last_answer_seconds:.2f} s",
            "calls": f"{self.model_calls:,}",
            "peak": str(self.in_flight_peak),
            "errored": str(self.errored),
            "CPU": f"{self.cpu_seconds:.2f} s",
            "emulator": f"{self.emulator_mb:.0f} MB",
            "worker": f"{self.worker_mb:.0f} MB",
        }


@dataclass(frozen=True)
class Bench:
    client: Client
    server: str
    emulator_pid: int
    definition_id: str
    is_polled: bool = False
    """If true, a client requests the run and its progress every second, as a page does."""

    def measure(self, case: Case, *, with_bare_loop: bool = True) -> Measurement:
        self.prepare(case)
        before = measure_usage(self.emulator_pid)
        started_at = time.time()
        started = self.client.create_run(run_specification(self.definition_id, case.probes))
        accepted = time.time() - started_at
        if started["jobCount"] != case.probes:
            raise SystemExit(
                f"no sample of {SCENARIOS:,} scenarios and {len(MODELS)} models gives {case.probes} probes"
            )
        with _polling(self.client, started["run"]["id"], is_polled=self.is_polled):
            run = self.wait(started["run"]["id"], case.ideal_seconds)
        after, counts = measure_usage(self.emulator_pid), self.counts()
        ended = datetime.fromisoformat(run["completedAt"]).timestamp()
        return Measurement(
            case=case,
            accepted_seconds=accepted,
            first_call_seconds=counts["firstRequestAt"] - started_at,
            after_last_answer_seconds=ended - counts["lastRequestAt"] - case.latency_seconds,
            seconds=ended - started_at,
            model_calls=counts["requests"],
            in_flight_peak=counts["inFlightPeak"],
            cpu_seconds=after.cpu_seconds - before.cpu_seconds,
            emulator_mb=after.emulator_mb,
            worker_mb=after.worker_mb,
            errored=run["progress"]["failed"],
            bare_seconds=self._bare_loop(case) if with_bare_loop and not case.faults else None,
        )

    def prepare(self, case: Case) -> None:
        use_server(self.client, self.server, case.parallel)
        self.configure(latencySeconds=case.latency_seconds, rates=dict(case.faults))

    def configure(self, **behaviour: Any) -> None:
        httpx.post(f"{self.server}/configure", json=behaviour).raise_for_status()
        httpx.post(f"{self.server}/reset").raise_for_status()

    def counts(self) -> Json:
        counts: Json = httpx.get(f"{self.server}/counts").json()
        return counts

    def wait(self, run_id: str, ideal_seconds: float) -> Json:
        """Return the run when it is over. Polling is rare, because it uses the CPU that is measured."""
        time.sleep(ideal_seconds)
        while True:
            run = self.client.get_run(run_id)
            if run["completedAt"]:
                return run
            time.sleep(0.25)

    def _bare_loop(self, case: Case) -> float:
        self.prepare(case)
        options = ["--calls", str(case.probes), "--parallel", str(case.parallel)]
        command = [sys.executable, "-m", "bench.bare_loop", self.server, *options]
        printed = subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout  # noqa: S603 - our own
        return float(json.loads(printed)["seconds"])


def run_specification(definition_id: str, probes: int) -> Json:
    """Return a run of this many probes: a sample of the scenarios, or all of them several times."""
    scenarios = max(1, probes // len(MODELS))
    percentage = max(1, min(100, scenarios * 100 // SCENARIOS))
    repeats = max(1, scenarios // (SCENARIOS * percentage // 100))
    return {
        "definitionId": definition_id,
        "models": list(MODELS),
        "samplePercentage": percentage,
        "repeats": repeats,
    }


def find_or_create_definition(client: Client, *, short: bool) -> str:
    return find_or_create(client, f"bench, {'short' if short else 'realistic'} texts", content(SCENARIOS, short=short))


def find_or_create_prompts(client: Client, prompts: int) -> str:
    """Return a definition with so many prompts and 10,000 scenarios, made once per stack."""
    dimensions = [{"name": name, "levels": [{"score": n, "label": f"{n}"} for n in range(100)]} for name in "ab"]
    asked = [{"id": f"prompt-{number}", "template": f"{number}: [a] or [b]?"} for number in range(prompts)]
    definition = {"template": "[a] or [b]?", "dimensions": dimensions, "prompts": asked}
    return find_or_create(client, f"bench, {prompts} prompts", definition)


def find_or_create(client: Client, name: str, definition: Json) -> str:
    for found in client.list_definitions(search=name):
        if found["name"] == name:
            return str(found["id"])
    definition_id = str(client.create_definition({"name": name, "content": definition})["id"])
    generation = client.generate_scenarios(definition_id, {"mode": "matrix"})
    while generation["status"] not in ("COMPLETED", "FAILED"):
        time.sleep(0.5)
        generation = client.get_scenario_generation(definition_id, generation["id"])
    return definition_id


@contextmanager
def _polling(client: Client, run_id: str, *, is_polled: bool) -> Iterator[None]:
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(_POLL_SECONDS):
            client.get_run(run_id)
            client.get_run_progress(run_id)

    thread = threading.Thread(target=poll, daemon=True)
    if is_polled:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if is_polled:
            thread.join()
