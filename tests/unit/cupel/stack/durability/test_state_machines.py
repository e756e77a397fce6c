"""The journal does not see what a state machine writes to a table without a function."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

MACHINES = sorted((ROOT / "statemachines").glob("*.json"))


def resources(state: Any) -> Iterator[str]:
    """Of all tasks, at any depth."""
    if isinstance(state, dict):
        if state.get("Type") == "Task":
            yield state["Resource"]
        for each in state.values():
            yield from resources(each)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.stem)
def test_every_task_is_a_function(machine: Path) -> None:
    found = set(resources(json.loads(machine.read_text())))
    assert found
    assert all(resource.endswith("FunctionArn}") for resource in found), found
