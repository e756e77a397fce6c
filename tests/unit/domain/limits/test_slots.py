"""Slots of turns and of requests that wait."""

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.slots import Slot, Slots
from cupel_core.domain.limits.waiting import WaitingLimits

LIMITS = WaitingLimits(per_owner=3, total=10)
NOW = 1_800_000_000.0


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
