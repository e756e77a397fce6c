"""How turns of chats share the invocations of the turn function."""

from pathlib import Path

import pytest

from cupel_core.domain.limits.slots import Slot, Slots
from cupel_core.domain.limits.turn_slots import MAX_RUNNING_TURNS, has_room

PLENTY = 1_000


def filled(*workspaces: str, quota: int = PLENTY) -> Slots:
    """The slots after each of these workspaces has tried, in turn, to have as many as there are."""
    slots = Slots()
    for number in range(MAX_RUNNING_TURNS):
        for workspace in workspaces:
            slots = take(slots, f"{workspace}-{number}", workspace, quota)
    return slots


def take(slots: Slots, worker_id: str, workspace: str, quota: int = PLENTY) -> Slots:
    return slots.take(worker_id, Slot(workspace, 20.0), lambda own, used: has_room(own, used, quota), 0.0)


def count(slots: Slots, workspace: str) -> int:
    return sum(slot.owner == workspace for slot in slots.taken.values())


def test_a_workspace_alone_runs_four_fifths_of_the_turns() -> None:
    assert count(filled("a"), "a") == 16


@pytest.mark.parametrize("others", [1, 2, 3])
def test_a_workspace_that_arrives_runs_a_turn_at_once(others: int) -> None:
    slots = filled(*(f"greedy {number}" for number in range(others)))
    assert count(take(slots, "w", "late"), "late") == 1


def test_the_operators_quota_limits_a_workspace() -> None:
    assert count(filled("a", quota=3), "a") == 3


def test_the_event_source_of_turns_runs_as_many_as_are_shared() -> None:
    template = Path("template.yaml").read_text()
    source = template[template.index("  TurnSource:") :]
    assert source[: source.index("\n  #")].count(f"ScalingConfig: {{MaximumConcurrency: {MAX_RUNNING_TURNS}}}") == 1
