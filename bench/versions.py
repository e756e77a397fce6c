"""`python -m bench.versions 4c16250 main`: measure the same runs with two commits, alternately, and their ratio.

Each commit gets a worktree below a temporary folder, with a separate environment, stack and data, which are removed at
the end. Runs alternate (a b, b a, a b, …), so that other load of the machine has the same effect on both. The compared
figures are the time of a run and the CPU of all local processes; the latter hardly depends on the load. It exits with 1
if one is more than `--limit` above that of the first commit, by the median of the rounds' ratios.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from bench.cases import WARM_UP, Bench, Case, Measurement, find_or_create_definition
from bench.local_server import ROOT, model_server
from bench.processes import emulator_pid
from cupel.client import Client

FIGURES: Mapping[str, Callable[[Measurement], float]] = {
    "time": lambda measured: measured.seconds,
    "CPU": lambda measured: measured.cpu_seconds,
}


class Round(NamedTuple):
    before: Measurement
    after: Measurement

    def ratio(self, figure: str) -> float:
        return FIGURES[figure](self.after) / FIGURES[figure](self.before)


def main() -> None:
    arguments = _arguments()
    case = Case(f"{arguments.probes:,} at {arguments.latency:g} s", arguments.probes, arguments.latency)
    with (
        tempfile.TemporaryDirectory(prefix="cupel-versions-") as folder,
        model_server() as server,
        _stack(arguments.before, Path(folder) / "before") as before,
        _stack(arguments.after, Path(folder) / "after") as after,
    ):
        benches = [_bench(client, server) for client in (before, after)]
        for bench in benches:
            bench.measure(WARM_UP, with_bare_loop=False)
        rounds = measure_rounds(benches[0], benches[1], case, arguments.rounds)
    _print(rounds, arguments.before, arguments.after)
    sys.exit(any(is_slower(rounds, figure, arguments.limit) for figure in FIGURES))


def measure_rounds(before: Bench, after: Bench, case: Case, count: int) -> list[Round]:
    rounds = []
    for number in range(count):
        ordered = (before, after) if number % 2 == 0 else (after, before)
        measured = [bench.measure(case, with_bare_loop=False) for bench in ordered]
        rounds.append(Round(*measured if number % 2 == 0 else reversed(measured)))
    return rounds


def is_slower(rounds: Sequence[Round], figure: str, limit: float) -> bool:
    return median(each.ratio(figure) for each in rounds) > 1 + limit


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="the commit to compare with")
    parser.add_argument("after", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--probes", type=int, default=2_000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds per model call")
    parser.add_argument("--limit", type=float, default=0.03, help="how much more is allowed, as a fraction")
    return parser.parse_args()


@contextmanager
def _stack(commit: str, folder: Path) -> Iterator[Client]:
    _run("git", "worktree", "add", "--quiet", "--detach", str(folder), commit, where=ROOT)
    try:
        _run("uv", "sync", "--locked", "--quiet", where=folder)
        _run(str(folder / ".venv/bin/cupel"), "up", where=folder)
        local = json.loads((folder / ".cupel/local.json").read_text())
        with Client(local["apiUrl"], local["token"]) as client:
            yield client
    finally:
        if (folder / ".cupel").exists():
            _run(str(folder / ".venv/bin/cupel"), "down", where=folder)
        shutil.rmtree(folder)
        _run("git", "worktree", "prune", where=ROOT)


def _run(*command: str, where: Path) -> None:
    """Run a command without this process's environment, which uv would otherwise install into."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    subprocess.run(command, check=True, cwd=where, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - our own


def _bench(client: Client, server: str) -> Bench:
    return Bench(client, server, emulator_pid(client), find_or_create_definition(client, short=False))


def _print(rounds: Sequence[Round], before: str, after: str) -> None:
    table = Table("round", *(f"{name}, {commit}" for name in FIGURES for commit in (before, after)), *FIGURES)
    for number, each in enumerate(rounds, start=1):
        seconds = [f"{read(measured):.2f} s" for read in FIGURES.values() for measured in each]
        table.add_row(str(number), *seconds, *(f"{each.ratio(figure):.3f}" for figure in FIGURES))
    console = Console(width=140)
    console.print(table)
    for figure in FIGURES:
        ratios = sorted(each.ratio(figure) for each in rounds)
        console.print(f"{figure}: {median(ratios):.3f} times that of {before} ({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
