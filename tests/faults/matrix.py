"""The fault matrix in several processes at a time: nearly all of a play is waiting."""

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

from tests.conftest import ROOT


class Result(NamedTuple):
    faults: int
    struck: int
    kinds: int
    """The most that one of the processes has met, each of which meets a share."""
    broken: list[str]
    """What each play that broke a promise has printed."""


def play(endpoint: str, name: str, *options: str, parts: int = 4) -> Result:
    """Prints what was played, for whoever asks pytest for it."""
    processes = [
        _begin(endpoint, f"{name}-{part}", "--part", f"{part}/{parts}", *options) for part in range(1, parts + 1)
    ]
    told = [process.communicate()[0] for process in processes]
    for each in told:
        print(each)
    summaries = [_summary(each) for each in told]
    return Result(
        faults=sum(each["faults"] for each in summaries),
        struck=sum(each["struck"] for each in summaries),
        kinds=max(each["kinds"] for each in summaries),
        broken=[line for each in told for line in each.splitlines() if line.startswith("BROKEN")],
    )


def _begin(endpoint: str, name: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.faults", "--endpoint", endpoint, "--name", name, *options]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'functions'}"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, env=environment
    )


def _summary(told: str) -> dict[str, Any]:
    found = [line for line in told.splitlines() if line.startswith('{"faults"')]
    assert found, told
    summary: dict[str, Any] = json.loads(found[-1])
    return summary
