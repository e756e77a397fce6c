"""`make soak`: runs of mixed size under random control actions, and what holds of them in the end.

Against the local stack (`cupel up`), with a model server that fails now and then. Prints the actions, what broke a
promise, and the memory of the workers over time; ends with 1 when something did, or when a worker grows.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from bench.invariants import violations
from bench.memory import Memory
from cupel.client import Client
from cupel.errors import ApiProblem
from cupel.json_types import Json
from cupel.stack import emulator
from cupel.stack.paths import find_place

ROOT = Path(__file__).parent.parent
MODEL = "custom/bench"
SCENARIOS = 100
RATES = {"429": 0.01, "500": 0.2, "drop": 0.02, "badJson": 0.02}
"""So high that a probe in 250 fails four times in a row: there is something to retry."""
STARTING_SHARE = 0.7
"""Of the time: runs are started evenly until then."""
PAUSE_SECONDS = 0.5
PATIENCE_SECONDS = 300
MOST_MB_A_MINUTE = 1.0
"""What the largest worker of a function may grow by, once it is warm."""
OVER = ("COMPLETED", "FAILED", "CANCELLED")

type Action = Callable[[Client, str, Random], object]

ACTIONS: dict[str, Action] = {
    "pause": lambda client, run, _: client.pause_run(run),
    "resume": lambda client, run, _: client.resume_run(run),
    "cancel": lambda client, run, _: client.cancel_run(run),
    "retry": lambda client, run, _: client.retry_run(run),
    "expand": lambda client, run, luck: client.expand_run(run, luck.randint(50, 100)),
}
LIKELY = {"PENDING": "pause", "RUNNING": "pause", "PAUSED": "resume", "COMPLETED": "expand", "FAILED": "retry"}
WHIM = 0.3
"""How often an action is tried that the run's status does not suggest."""


@dataclass
class Soak:
    client: Client
    luck: Random
    definition_id: str
    runs: list[str] = field(default_factory=list)
    carried_out: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def start(self) -> None:
        specification = {
            "definitionId": self.definition_id,
            "models": self.luck.choice([[MODEL], [MODEL, "sim/steady"], ["sim/bold"]]),
            "samplePercentage": self.luck.choice([5, 20, 50, 100]),
            "repeats": self.luck.choice([1, 1, 2, 5]),
            "priority": self.luck.choice(["LOW", "NORMAL", "NORMAL", "HIGH"]),
        }
        self.runs.append(str(self.client.start_run(specification)["run"]["id"]))

    def act(self) -> None:
        run = self.luck.choice(self.runs)
        likely = LIKELY.get(self.client.run(run)["status"])
        action = likely if likely and self.luck.random() > WHIM else self.luck.choice(list(ACTIONS))
        self._try(action, run)

    def _try(self, action: str, run: str) -> None:
        try:
            ACTIONS[action](self.client, run, self.luck)
            self.carried_out[action] += 1
        except ApiProblem as refusal:
            if refusal.status >= 500:
                raise
            self.refused[action] += 1

    def come_to_rest(self) -> list[Json]:
        """The runs at their ends, those that are paused being resumed."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            runs = [self.client.run(run) for run in self.runs]
            for run in runs:
                if run["status"] == "PAUSED":
                    self._try("resume", run["id"])
            if all(run["status"] in OVER for run in runs) or time.monotonic() > deadline:
                return runs
            time.sleep(1)


def main() -> None:
    arguments = _arguments()
    running = emulator.running(find_place(Path.cwd()))
    if running is None:
        sys.exit("the soak needs the local stack: cupel up")
    memory = Memory(running.pid)
    with Client.from_environment() as client, _model_server() as models:
        client.configure_provider("custom", {"baseUrl": f"{models}/v1", "maxParallelRequests": 50})
        soak = Soak(client, Random(arguments.seed), _definition(client))  # noqa: S311 - reproducible, not secret
        _go_on(soak, memory, arguments.minutes * 60, arguments.runs)
        runs = soak.come_to_rest()
        memory.look()
        broken = {run["id"]: wrong for run in runs if (wrong := _wrong(client, run))}
    _print(soak, runs, broken, memory)
    sys.exit(bool(broken) or memory.steepest > MOST_MB_A_MINUTE)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _go_on(soak: Soak, memory: Memory, seconds: float, runs: int) -> None:
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        if len(soak.runs) < runs and passed >= len(soak.runs) * seconds * STARTING_SHARE / runs:
            soak.start()
        soak.act()
        memory.look()
        time.sleep(PAUSE_SECONDS)


def _wrong(client: Client, run: Json) -> list[str]:
    stuck = [] if run["status"] in OVER else [f"the run is still {run['status']}"]
    return [*stuck, *violations(client, run)]


def _definition(client: Client) -> str:
    content = {"decision": {"pattern": r"(?im)^rating:\s*([1-5])"}}
    definition_id = str(client.create_definition({"name": "soak", "content": content})["id"])
    items = [
        {"prompt": f"Soak {n}: end with the line `Rating: N`.", "dimensions": {"stakes": n % 5 + 1}}
        for n in range(SCENARIOS)
    ]
    client.add_scenarios(definition_id, items)
    return definition_id


@contextmanager
def _model_server() -> Iterator[str]:
    rates = [
        text
        for fault, rate in RATES.items()
        for text in (f"--rate-{'bad-json' if fault == 'badJson' else fault}", str(rate))
    ]
    command = [sys.executable, "-m", "bench.model_server", "--latency", "0.3", "--retry-after", "0.5", *rates]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:  # noqa: S603
        try:
            yield json.loads(process.stdout.readline() if process.stdout else "")["url"]
        finally:
            process.terminate()


def _print(soak: Soak, runs: list[Json], broken: dict[str, list[str]], memory: Memory) -> None:
    console = Console(width=120)
    total: Counter[str] = Counter()
    for run in runs:
        total.update(run["progress"])
    console.print(f"{len(runs)} runs: {dict(Counter(run['status'] for run in runs))}; probes: {dict(total)}")
    actions = Table("action", "carried out", "refused")
    for action in ACTIONS:
        actions.add_row(action, str(soak.carried_out[action]), str(soak.refused[action]))
    console.print(actions)
    console.print(_table(memory))
    for run_id, wrong in broken.items():
        console.print(f"{run_id}: {'; '.join(wrong)}")
    console.print(f"{len(broken)} runs broke a promise; workers grew by at most {memory.steepest:.2f} MB a minute")


def _table(memory: Memory) -> Table:
    table = Table("function", "workers", "warm seconds", "first MB", "last MB", "MB a minute")
    for trace in memory.traces():
        figures = [trace.workers, trace.seconds, trace.first_mb, trace.last_mb]
        table.add_row(trace.function, *(f"{figure:.0f}" for figure in figures), f"{trace.mb_a_minute:+.2f}")
    return table


if __name__ == "__main__":
    main()
