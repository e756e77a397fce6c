"""How long each function takes to import from the built layer alone, beside what `import boto3` takes there.

`python -m bench.imports` needs the build of the local stack (`cupel up`). Every import is the first of an isolated
interpreter that sees nothing but the function and the layer. CPU time is told, and the least of several: whatever else
the machine does only adds to it.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from cupel.stack.paths import Place, find_place

MOST = {"probe": 3.0, "api": 3.0}
"""Times `import boto3`."""
MOST_MEGABYTES = 60.0
_SCRIPT = """
import sys, time
sys.path[:0] = {paths!r}
began = time.process_time()
import {module}
{more}
print(time.process_time() - began)
"""
_MORE = {"api.app": "from api import app, routing; routing.load(app.app, '/v1/runs')"}
"""What a function loads with its first request: for the API one of its larger parts."""


class Import(NamedTuple):
    name: str
    seconds: float


def main() -> None:
    arguments = _arguments()
    place = find_place(Path.cwd())
    boto3, imports = measure(place, arguments.rounds)
    _print(place, boto3, imports)


def measure(place: Place, rounds: int) -> tuple[Import, list[Import]]:
    """`import boto3`, and each function's own; taken by turns, so that all meet the same machine."""
    modules = {"boto3": "boto3"} | {name: f"{name}.app" for name in _functions(place)}
    taken = {name: min(_seconds(place, module) for _ in range(rounds)) for name, module in modules.items()}
    return Import("boto3", taken.pop("boto3")), [Import(*each) for each in taken.items()]


def _functions(place: Place) -> list[str]:
    return sorted(path.parent.name for path in (place.repository / "functions").glob("*/app.py"))


def _seconds(place: Place, module: str) -> float:
    code = place.build / f"{module.partition('.')[0].title()}Function"
    paths = [str(path) for path in (code, place.build / "SharedLayer/python") if path.is_dir()]
    command = [sys.executable, "-I", "-S", "-c", _SCRIPT.format(paths=paths, module=module, more=_MORE.get(module, ""))]
    environment = {"AWS_DEFAULT_REGION": "us-east-1", "POWERTOOLS_METRICS_NAMESPACE": "Cupel"}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return float(told.stdout.splitlines()[-1])


def _megabytes(place: Place) -> float:
    return sum(path.stat().st_size for path in (place.build / "SharedLayer").rglob("*") if path.is_file()) / 1e6


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _print(place: Place, boto3: Import, imports: list[Import]) -> None:
    table = Table(title="first import from the built layer", caption=f"the layer has {_megabytes(place):.1f} MB")
    for heading in ("", "ms", "x boto3", "at most"):
        table.add_column(heading, justify="right" if heading else "left")
    for each in (boto3, *imports):
        most = f"{MOST[each.name]:g}" if each.name in MOST else ""
        table.add_row(each.name, f"{each.seconds * 1_000:.0f}", f"{each.seconds / boto3.seconds:.2f}", most)
    Console().print(table)


if __name__ == "__main__":
    main()
