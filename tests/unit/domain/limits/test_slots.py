"""Slots of turns, which share the invocations of the turn function, and of requests that wait."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.slots import MAX_RUNNING_TURNS, Slot, Slots, has_room
from cupel_core.domain.limits.waiting import WaitingLimits

LIMITS = WaitingLimits(per_owner=3, total=10)
NOW = 1_800_000_000.0


PLENTY = 1_000


def take(slots: Slots, number: int, owner: str = "token 1", until: float = NOW + 20, now: float = NOW) -> Slots:
    return slots.take(f"r{number}", Slot(owner, until), LIMITS.have_room, now)


def taken_by(*owners: str) -> Slots:
    slots = Slots()
    for number, owner in enumerate(owners):
        slots = take(slots, number, owner)
    return slots


def test_an_owner_gets_no_more_than_its_slots() -> None:
    assert list(taken_by(*["token 1"] * 4).taken) == ["r0", "r1", "r2"]


def test_further_owners_get_slots_up_to_the_total() -> None:
    assert len(taken_by(*(f"token {number % 6}" for number in range(18))).taken) == 10


def test_a_released_slot_is_free() -> None:
    assert "r3" in take(taken_by(*["token 1"] * 3).release("r1"), 3)


def test_the_slot_of_a_holder_that_died_is_free_with_its_time() -> None:
    slots = taken_by(*["token 1"] * 3)
    assert "r3" not in take(slots, 3, now=NOW + 19.9)
    assert list(take(slots, 3, until=NOW + 40, now=NOW + 20).taken) == ["r3"]


def test_a_slot_is_extended_however_few_are_left() -> None:
    slots = take(taken_by(*["token 1"] * 3), 0, until=NOW + 40)
    assert (slots.taken["r0"].until, len(slots.taken)) == (NOW + 40, 3)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 30), st.booleans()), max_size=60))
def test_there_are_never_more_than_the_limits(steps: list[tuple[int, float, bool]]) -> None:
    slots, now = Slots(), NOW
    for number, (owner, seconds, leaves) in enumerate(steps):
        now += seconds / 10
        if leaves and slots.taken:
            slots = slots.release(next(iter(slots.taken)))
        slots = take(slots, number, f"token {owner}", now + seconds, now)
        owners = [each.owner for each in slots.taken.values()]
        assert len(owners) <= LIMITS.total
        assert all(owners.count(each) <= LIMITS.per_owner for each in owners)


def filled(*workspaces: str, quota: int = PLENTY) -> Slots:
    """The slots after each of these workspaces has tried, in turn, to have as many as there are."""
    slots = Slots()
    for number in range(MAX_RUNNING_TURNS):
        for workspace in workspaces:
            slots = take_turn(slots, f"{workspace}-{number}", workspace, quota)
    return slots


def take_turn(slots: Slots, worker_id: str, workspace: str, quota: int = PLENTY) -> Slots:
    return slots.take(worker_id, Slot(workspace, 20.0), lambda own, used: has_room(own, used, quota), 0.0)


def count(slots: Slots, workspace: str) -> int:
    return sum(slot.owner == workspace for slot in slots.taken.values())


def test_a_workspace_alone_runs_four_fifths_of_the_turns() -> None:
    assert count(filled("a"), "a") == 16


@pytest.mark.parametrize("others", [1, 2, 3])
def test_a_workspace_that_arrives_runs_a_turn_at_once(others: int) -> None:
    slots = filled(*(f"greedy {number}" for number in range(others)))
    assert count(take_turn(slots, "w", "late"), "late") == 1


def test_the_operators_quota_limits_a_workspace() -> None:
    assert count(filled("a", quota=3), "a") == 3


def test_the_event_source_of_turns_runs_as_many_as_are_shared() -> None:
    template = Path("template.yaml").read_text()
    source = template[template.index("  TurnSource:") :]
    assert source[: source.index("\n  #")].count(f"ScalingConfig: {{MaximumConcurrency: {MAX_RUNNING_TURNS}}}") == 1
