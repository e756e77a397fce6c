"""`make soak`: check the invariants of runs of various sizes under random control actions.

It uses the local stack (`cupel up`) with a model server that sometimes fails. It prints the actions, violated
invariants and the memory of the workers over time, and exits with 1 if an invariant was violated or the workers of a
function grow.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from bench.invariants import violations
from bench.local_server import model_server, use_server
from bench.memory import WorkerMemory
from bench.texts import content
from cupel.client import Client
from cupel.errors import ApiProblem
from cupel.json_types import Json
from cupel.stack import emulator
from cupel.stack.paths import find_stack_paths

MODEL = "custom/bench"
SCENARIOS = 100
RATES = {"429": 0.01, "500": 0.2, "drop": 0.02, "badJson": 0.02}
"""The rates are so high that one probe in 250 fails four times in a row, so that there are probes to retry."""
STARTING_SHARE = 0.7
"""Runs are started at a constant rate during this share of the time."""
PAUSE_SECONDS = 0.5
MAX_WAIT_SECONDS = 300
MAX_MB_PER_MINUTE = 1.0
"""Limits the growth of the largest worker of a function after warm-up."""
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED")

type Action = Callable[[Client, str, Random], object]

ACTIONS: dict[str, Action] = {
    "pause": lambda client, run, _: client.pause_run(run),
    "resume": lambda client, run, _: client.resume_run(run),
    "cancel": lambda client, run, _: client.cancel_run(run),
    "retry": lambda client, run, _: client.retry_run(run),
    "expand": lambda client, run, rng: client.expand_run(run, rng.randint(50, 100)),
}
USUAL_ACTIONS = {"PENDING": "pause", "RUNNING": "pause", "PAUSED": "resume", "COMPLETED": "expand", "FAILED": "retry"}
UNUSUAL_ACTION_SHARE = 0.3
"""The share of actions that are unusual for the status of the run."""


@dataclass
class Soak:
    client: Client
    rng: Random
    definition_id: str
    runs: list[str] = field(default_factory=list)
    succeeded: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def start(self) -> None:
        spec = {
            "definitionId": self.definition_id,
            "models": self.rng.choice([[MODEL], [MODEL, "sim/steady"], ["sim/bold"]]),
            "samplePercentage": self.rng.choice([5, 20, 50, 100]),
            "repeats": self.rng.choice([1, 1, 2, 5]),
            "priority": self.rng.choice(["LOW", "NORMAL", "NORMAL", "HIGH"]),
        }
        self.runs.append(str(self.client.create_run(spec)["run"]["id"]))

    def act(self) -> None:
        run = self.rng.choice(self.runs)
        usual = USUAL_ACTIONS.get(self.client.get_run(run)["status"])
        action = usual if usual and self.rng.random() > UNUSUAL_ACTION_SHARE else self.rng.choice(list(ACTIONS))
        self._try(action, run)

    def _try(self, action: str, run: str) -> None:
        try:
            ACTIONS[action](self.client, run, self.rng)
            self.succeeded[action] += 1
        except ApiProblem as refusal:
            if refusal.status >= 500:
                raise
            self.refused[action] += 1

    def wait_for_end(self) -> list[Json]:
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while True:
            runs: list[Json] = [self.client.get_run(run) for run in self.runs]
            for run in runs:
                if run["status"] == "PAUSED":
                    self._try("resume", run["id"])
            if all(run["status"] in TERMINAL for run in runs) or time.monotonic() > deadline:
                return runs
            time.sleep(1)


def main() -> None:
    arguments = _arguments()
    running = emulator.find_running(find_stack_paths(Path.cwd()))
    if running is None:
        sys.exit("the soak test needs the local stack; start it with: cupel up")
    memory = WorkerMemory(running.pid)
    with Client.from_environment() as client, model_server(*_server_options()) as models:
        use_server(client, models)
        soak = Soak(client, Random(arguments.seed), _definition(client))  # noqa: S311 - reproducible, not secret
        _control_runs(soak, memory, arguments.minutes * 60, arguments.runs)
        runs = soak.wait_for_end()
        memory.sample()
        broken_runs = {run["id"]: violated for run in runs if (violated := _violations(client, run))}
    _print(soak, runs, broken_runs, memory)
    sys.exit(bool(broken_runs) or memory.steepest > MAX_MB_PER_MINUTE)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _control_runs(soak: Soak, memory: WorkerMemory, seconds: float, runs: int) -> None:
    started_at = time.monotonic()
    while (elapsed := time.monotonic() - started_at) < seconds:
        if len(soak.runs) < runs and elapsed >= len(soak.runs) * seconds * STARTING_SHARE / runs:
            soak.start()
        soak.act()
        memory.sample()
        time.sleep(PAUSE_SECONDS)


def _violations(client: Client, run: Json) -> list[str]:
    unfinished = [] if run["status"] in TERMINAL else [f"the run is still {run['status']}"]
    return [*unfinished, *violations(client, run)]


def _definition(client: Client) -> str:
    definition_id = str(client.create_definition({"name": "soak", "content": content(SCENARIOS)})["id"])
    client.generate_scenarios(definition_id, {"mode": "matrix"})
    return definition_id


def _server_options() -> Iterator[str]:
    yield from ("--latency", "0.3", "--retry-after", "0.5")
    for fault, rate in RATES.items():
        yield from (f"--rate-{'bad-json' if fault == 'badJson' else fault}", str(rate))


def _print(soak: Soak, runs: list[Json], broken_runs: dict[str, list[str]], memory: WorkerMemory) -> None:
    console = Console(width=120)
    total: Counter[str] = Counter()
    for run in runs:
        total.update(run["progress"])
    console.print(f"{len(runs)} runs: {dict(Counter(run['status'] for run in runs))}; probes: {dict(total)}")
    actions = Table("action", "succeeded", "refused")
    for action in ACTIONS:
        actions.add_row(action, str(soak.succeeded[action]), str(soak.refused[action]))
    console.print(actions)
    console.print(_table(memory))
    for run_id, violated in broken_runs.items():
        console.print(f"{run_id}: {'; '.join(violated)}")
    console.print(
        f"{len(broken_runs)} runs violated an invariant; workers grew by at most {memory.steepest:.2f} MB per minute"
    )


def _table(memory: WorkerMemory) -> Table:
    table = Table("function", "workers", "warm seconds", "first MB", "last MB", "MB per minute")
    for trend in memory.trends():
        values = [trend.workers, trend.seconds, trend.first_mb, trend.last_mb]
        table.add_row(trend.function, *(f"{value:.0f}" for value in values), f"{trend.mb_per_minute:+.2f}")
    return table


if __name__ == "__main__":
    main()
