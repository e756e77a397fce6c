"""The fault matrix in several parallel processes, because a workflow spends most of its time waiting."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from cupel.stack.paths import StackPaths
from tests.conftest import ROOT


class MatrixResult(NamedTuple):
    faults: int
    injected: int
    kinds: int
    """The largest number of kinds of call in one process; each process has a share of the faults."""
    failures: list[str]
    """The printed line of each workflow run that violated an invariant."""


def run_matrix(paths: StackPaths, name: str, *options: str, parts: int = 4) -> MatrixResult:
    """Run the matrix and print its output, which pytest shows with -s."""
    processes = [
        _start(paths.state, f"{name}-{part}", "--part", f"{part}/{parts}", *options) for part in range(1, parts + 1)
    ]
    outputs = [process.communicate()[0] for process in processes]
    for output in outputs:
        print(output)
    summaries = [_summary(output) for output in outputs]
    return MatrixResult(
        faults=sum(summary["faults"] for summary in summaries),
        injected=sum(summary["injected"] for summary in summaries),
        kinds=max(summary["kinds"] for summary in summaries),
        failures=[line for output in outputs for line in output.splitlines() if line.startswith("BROKEN")],
    )


def _start(state: Path, name: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.faults", "--state", str(state), "--name", name, *options]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'functions'}"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, env=environment
    )


def _summary(output: str) -> dict[str, Any]:
    lines = [line for line in output.splitlines() if line.startswith('{"faults"')]
    assert lines, output
    summary: dict[str, Any] = json.loads(lines[-1])
    return summary
