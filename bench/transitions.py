"""Counts the state transitions of a finishing execution from the definition of the state machine.

A standard workflow is billed for every step it executes; the entry into the first state is counted as one more.
"""

from typing import Any


def transitions(machine: dict[str, Any], chosen: str, iterations: int = 0) -> int:
    """Count transitions if every choice sees the value `chosen` and every map has `iterations` items."""
    return 1 + _steps(machine, chosen, iterations)


def _steps(machine: dict[str, Any], chosen: str, iterations: int) -> int:
    steps, name = 0, machine["StartAt"]
    while name:
        state = machine["States"][name]
        steps += 1
        if state["Type"] == "Map":
            steps += iterations * _steps(state["ItemProcessor"], chosen, 0)
        name = _choice(state, chosen) if state["Type"] == "Choice" else state.get("Next")
    return steps


def _choice(state: dict[str, Any], chosen: str) -> str:
    """Return the next state. A choice by a flag repeats a slice's task; a slice takes one round."""
    return str(
        next((rule["Next"] for rule in state["Choices"] if rule.get("StringEquals") == chosen), state["Default"])
    )
