"""Which turns of chats run at the same time."""

from pathlib import Path

import pytest

from cupel_core.domain.limits.turn_slots import MAX_RUNNING_TURNS, TurnSlots

PLENTY = 1_000


def filled(*workspaces: str, quota: int = PLENTY) -> TurnSlots:
    """The slots after each of these workspaces has tried, in turn, to have as many as there are."""
    slots = TurnSlots()
    for number in range(MAX_RUNNING_TURNS):
        for workspace in workspaces:
            slots = slots.taken(f"{workspace}-{number}", workspace, now=0.0, until=20.0, quota=quota)
    return slots


def count(slots: TurnSlots, workspace: str) -> int:
    return sum(slot.workspace == workspace for slot in slots.slots.values())


def test_a_workspace_alone_runs_four_fifths_of_the_turns() -> None:
    assert count(filled("a"), "a") == 16


@pytest.mark.parametrize("others", [1, 2, 3])
def test_a_workspace_that_arrives_runs_a_turn_at_once(others: int) -> None:
    slots = filled(*(f"greedy {number}" for number in range(others)))
    assert count(slots.taken("w", "late", now=1.0, until=20.0, quota=PLENTY), "late") == 1


def test_the_operators_quota_limits_a_workspace() -> None:
    assert count(filled("a", quota=3), "a") == 3


def test_the_slot_of_a_dead_worker_is_free_after_a_while() -> None:
    slots = filled("a")
    assert count(slots.taken("w", "a", now=19.0, until=40.0, quota=PLENTY), "a") == 16
    assert list(slots.taken("w", "a", now=20.0, until=40.0, quota=PLENTY).slots) == ["w"]


def test_a_slot_is_extended_however_full_it_is() -> None:
    slots = filled("a").taken("a-0", "a", now=10.0, until=30.0, quota=1)
    assert slots.slots["a-0"].until == 30.0
    assert count(slots, "a") == 16


def test_a_released_slot_is_free() -> None:
    slots = filled("a").released("a-0").taken("w", "a", now=1.0, until=20.0, quota=PLENTY)
    assert "w" in slots.slots


def test_the_event_source_of_turns_runs_as_many_as_are_shared() -> None:
    template = Path("template.yaml").read_text()
    source = template[template.index("  TurnSource:") :]
    assert source[: source.index("\n  #")].count(f"ScalingConfig: {{MaximumConcurrency: {MAX_RUNNING_TURNS}}}") == 1
