"""Measures how long each function takes to import from the built layers alone, compared with `import boto3`.

`python -m bench.imports` needs the build of the local stack (`cupel up`). Every import runs in a new isolated
interpreter that sees only the function and the layer. It reports the minimum CPU time of several rounds, because other
load on the machine can only increase it.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from cupel.stack.paths import StackPaths, find_stack_paths

MAX_RATIOS = {
    "probe": 2.35,
    "api GET /v1/runs": 2.2,
    "api POST /v1/runs": 2.45,
    "graphqlapi { run }": 2.5,
    "mcpserver list_runs": 2.4,
}
"""Limits of the import time, as a multiple of `import boto3`."""
MAX_LAYER_MB = 60.0
_OWN_LAYERS = {"analyze": ["NumericLayer"], "graphqlapi": ["GraphqlLayer"], "mcpserver": ["GraphqlLayer"]}
_SCRIPT = """
import sys, time
sys.path[:0] = {paths!r}
started_at = time.process_time()
{statement}
print(time.process_time() - started_at)
"""
_HTTP = (
    "from api import app; from cupel_core.interfaces import routes; from cupel_core.interfaces.http import operations; "
    "operations.add_route(app.app, routes.find_operation({id!r}))"
)
_FIRST_REQUESTS = {
    ("api", "GET /v1/runs"): _HTTP.format(id="listRuns"),
    ("api", "POST /v1/runs"): _HTTP.format(id="createRun"),
    ("graphqlapi", "{ run }"): "from graphql import parse, validate; "
    "from cupel_core.interfaces.graphql.registry import find_resolver; "
    "from cupel_core.interfaces.graphql.schema import schema; find_resolver('Query.run'); "
    "validate(schema(), parse('{ run(id: \"run_1\") { id status } }'))",
    ("mcpserver", "list_runs"): "from mcpserver import app; from cupel_core.interfaces.mcp import listing, registry; "
    "listing.read_tools(); registry.find_tool('list_runs')",
}
"""Statements that load the modules that a function needs for its first request. The API loads one of the larger
modules, GraphQL also the types of the query, and MCP the list with which a session begins."""


class ImportTime(NamedTuple):
    name: str
    seconds: float


def main() -> None:
    arguments = _arguments()
    stack_paths = find_stack_paths(Path.cwd())
    boto3, imports = measure(stack_paths, arguments.rounds)
    _print(stack_paths, boto3, imports)


def measure(stack_paths: StackPaths, rounds: int) -> tuple[ImportTime, list[ImportTime]]:
    statements = {"boto3": "import boto3"} | _statements(_functions(stack_paths))
    by_round = [
        {name: _import_seconds(stack_paths, name, statement) for name, statement in statements.items()}
        for _ in range(rounds)  # Rounds alternate, so that other load slows all down alike.
    ]
    seconds_by_name = {name: min(seconds[name] for seconds in by_round) for name in statements}
    return ImportTime("boto3", seconds_by_name.pop("boto3")), [ImportTime(*item) for item in seconds_by_name.items()]


def _functions(stack_paths: StackPaths) -> list[str]:
    return sorted(path.parent.name for path in (stack_paths.repository / "functions").glob("*/app.py"))


def _statements(functions: list[str]) -> dict[str, str]:
    requests = {(function, ""): "" for function in functions if function not in {name for name, _ in _FIRST_REQUESTS}}
    return {
        f"{function} {request}".strip(): f"import entry; entry.{function}; {statement}"
        for (function, request), statement in sorted((requests | _FIRST_REQUESTS).items())
    }


def _import_seconds(stack_paths: StackPaths, name: str, statement: str) -> float:
    function = name.partition(" ")[0]
    layers = ["SharedLayer", *_OWN_LAYERS.get(function, ())]
    folders = [f"{function.title()}Function", *(f"{layer}/python" for layer in layers)]
    paths = [str(path) for folder in folders if (path := stack_paths.build / folder).is_dir()]
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        _SCRIPT.format(paths=paths, statement=statement),
    ]
    environment = {"AWS_DEFAULT_REGION": "us-east-1", "POWERTOOLS_METRICS_NAMESPACE": "Cupel"}
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return float(completed.stdout.splitlines()[-1])


def _layer_mb(stack_paths: StackPaths) -> float:
    return sum(path.stat().st_size for path in (stack_paths.build / "SharedLayer").rglob("*") if path.is_file()) / 1e6


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _print(stack_paths: StackPaths, boto3: ImportTime, imports: list[ImportTime]) -> None:
    table = Table(title="First import from the built layer", caption=f"layer size: {_layer_mb(stack_paths):.1f} MB")
    for heading in ("", "ms", "x boto3", "maximum"):
        table.add_column(heading, justify="right" if heading else "left")
    for item in (boto3, *imports):
        maximum = f"{MAX_RATIOS[item.name]:g}" if item.name in MAX_RATIOS else ""
        table.add_row(item.name, f"{item.seconds * 1_000:.0f}", f"{item.seconds / boto3.seconds:.2f}", maximum)
    Console().print(table)


if __name__ == "__main__":
    main()
