"""What a worker carries, and how many probes it receives in advance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.worker_capacity import (
    MAX_CALLS,
    MAX_CONVERSATIONS,
    MAX_PENDING,
    MIN_CONVERSATIONS,
    MIN_OWN_CONVERSATIONS,
    AccountProbes,
    SliceSize,
    WorkerCapacity,
    WorkerLoad,
    WorkerUse,
    conversation_mb,
    fair_growth,
    is_fair,
    probes_of_use,
    probes_to_receive,
    processor_share,
    slices_to_receive,
)

BUSY, HALF_BUSY, IDLE = WorkerLoad(0.95), WorkerLoad(0.8), WorkerLoad(0.2)


def filled(memory_mb: int | None, characters: int, workspaces: int = 1) -> list[int]:
    """How many conversations of this length as many workspaces have in the end that start what an idle worker allows,
    one after the other."""
    capacity, own, mb = WorkerCapacity(memory_mb), [WorkerUse()] * workspaces, conversation_mb(characters)
    has_started = True
    while has_started:
        has_started = False
        for each in range(workspaces):
            used = WorkerUse(sum(use.conversations for use in own), sum(use.mb for use in own))
            if capacity.has_room(used, own[each], characters):
                own[each], has_started = own[each].plus(1, mb), True
    return [use.conversations for use in own]


def test_a_workspace_alone_has_four_fifths_of_a_worker() -> None:
    assert filled(None, 8_000) == [MAX_CONVERSATIONS * 4 // 5] == [400]


@pytest.mark.parametrize(("workspaces", "each"), [(2, 222), (3, 153), (5, 95), (20, 24)])
def test_workspaces_that_take_what_they_get_have_equal_parts(workspaces: int, each: int) -> None:
    assert all(abs(conversations - each) <= 1 for conversations in filled(None, 8_000, workspaces))


@pytest.mark.parametrize("workspaces", [1, 2, 5, 20])
def test_a_workspace_that_arrives_last_finds_room(workspaces: int) -> None:
    own = filled(352, 8_000, workspaces)
    used = WorkerUse(sum(own), sum(own) * conversation_mb(8_000))
    assert WorkerCapacity(352).has_room(used, WorkerUse(), 8_000)


def test_the_memory_of_the_template_suffices_for_239_conversations_of_8_kb() -> None:
    assert filled(352, 8_000) == [239]


def test_less_memory_carries_fewer_conversations() -> None:
    assert filled(256, 8_000) == [88]


def test_long_texts_leave_room_for_fewer_conversations() -> None:
    assert [filled(512, characters) for characters in (100_000, 1_000_000)] == [[265], [48]]


def test_a_conversation_of_any_length_starts_on_a_worker_that_has_no_other() -> None:
    assert filled(256, 100_000_000) == [1]


@given(st.integers(0, 600), st.integers(0, 600), st.integers(10, 600))
def test_a_workspace_grows_as_far_as_is_fair(own: int, others: int, total: int) -> None:
    growth = fair_growth(own, own + others, total)
    assert own + growth <= MIN_OWN_CONVERSATIONS or not growth or is_fair(own + growth, own + others + growth, total)
    assert not is_fair(own + growth + 1, own + others + growth + 1, total)


def test_a_workspace_that_arrives_finds_room_while_the_load_of_others_is_above_the_capacity() -> None:
    overloaded, others = WorkerCapacity(352, conversations=200), WorkerUse(240, 240 * conversation_mb(1_000))
    own, used = WorkerUse(), others
    while overloaded.has_room(used, own, 1_000):
        own, used = own.plus(1, conversation_mb(1_000)), used.plus(1, conversation_mb(1_000))
    assert own.conversations == MIN_OWN_CONVERSATIONS
    assert not overloaded.has_room(others, others, 1_000)
    assert fair_growth(0, 240, 200) == MIN_OWN_CONVERSATIONS


def test_a_busy_processor_lowers_the_capacity_below_what_is_open() -> None:
    assert WorkerCapacity(512).after(BUSY, open_conversations=300).conversations == 240


def test_full_memory_lowers_the_capacity() -> None:
    assert WorkerCapacity(512).after(WorkerLoad(0.1, 450), open_conversations=100).conversations == 80


def test_the_capacity_grows_again_by_a_tenth_while_the_processor_has_time() -> None:
    capacity = WorkerCapacity(512, conversations=100)
    assert capacity.after(IDLE, 100).conversations == 110
    assert capacity.after(HALF_BUSY, 100).conversations == 100


@given(st.lists(st.tuples(st.sampled_from([BUSY, HALF_BUSY, IDLE]), st.integers(0, 600))))
def test_the_capacity_stays_within_its_bounds(loads: list[tuple[WorkerLoad, int]]) -> None:
    capacity = WorkerCapacity(512)
    for load, open_conversations in loads:
        capacity = capacity.after(load, open_conversations)
        assert MIN_CONVERSATIONS <= capacity.conversations <= MAX_CONVERSATIONS


def test_a_saturated_worker_settles_where_its_processor_is_almost_busy() -> None:
    """At 116 conversations the processor of this worker is busy; it begins with 250 of them."""
    capacity, running = WorkerCapacity(512), 250
    for _ in range(30):
        running = min(250, capacity.conversations)
        capacity = capacity.after(WorkerLoad(min(1.0, running / 116)), running)
    assert 0.7 * 116 <= running <= 0.9 * 116


@pytest.mark.parametrize(("memory_mb", "share"), [(512, 0.29), (1_769, 1.0), (10_240, 1.0)])
def test_the_share_of_a_processor_follows_the_memory(memory_mb: int, share: float) -> None:
    assert processor_share(memory_mb) == pytest.approx(share, abs=0.01)


def to_receive(*accounts: tuple[int, int], conversations: int = MAX_CONVERSATIONS, expected: int = 25) -> int:
    probes = [AccountProbes(slots, pending, pending) for slots, pending in accounts]
    return probes_to_receive(probes, conversations, expected)


def test_a_run_that_limits_itself_does_not_keep_other_runs_away() -> None:
    assert probes_to_receive([AccountProbes(50, 97, startable=3)], MAX_CONVERSATIONS, 25) == 47


def test_as_many_probes_are_pending_as_there_are_slots() -> None:
    assert [to_receive((50, pending)) for pending in (0, 20, 41, 50, 90)] == [50, 30, 0, 0, 0]


def test_without_probes_a_worker_receives_as_many_as_it_expects_slots() -> None:
    assert to_receive() == 25


def test_an_account_with_a_low_limit_does_not_keep_those_of_others_away() -> None:
    assert to_receive((1, 100), (50, 0)) == 50


def test_probes_that_nobody_can_start_soon_are_not_piled_up() -> None:
    assert to_receive((1, MAX_PENDING - 30), (50, 0)) == 30
    assert to_receive((1, MAX_PENDING), (50, 0)) == 0


def test_a_worker_receives_no_more_than_it_carries() -> None:
    assert to_receive((MAX_CALLS, 0), (MAX_CALLS, 0), conversations=60) == 60


def test_of_one_workspace_a_worker_can_use_as_many_probes_as_it_has_slots_however_few() -> None:
    assert [probes_of_use([AccountProbes(50, pending, pending)], 500, 25) for pending in (0, 49, 50, 90)] == [
        50,
        1,
        0,
        0,
    ]
    assert probes_of_use([], MAX_CONVERSATIONS, 25) == 25
    assert probes_of_use([], 3, 25) == 3, "no more than it carries"
    assert probes_of_use([], MAX_CONVERSATIONS, 0) == 1, "with very many workers"


def test_a_single_slot_is_refilled() -> None:
    assert [to_receive((1, pending)) for pending in (0, 1)] == [1, 0]


@pytest.mark.parametrize(
    ("probes", "sizes", "slices"), [(25, [5, 5, 5], 5), (25, [5, 5, 2], 5), (30, [100], 1), (9, [], 1)]
)
def test_the_largest_of_the_last_slices_tells_how_many_to_receive(probes: int, sizes: list[int], slices: int) -> None:
    assert slices_to_receive(probes, 30.0, [SliceSize(size, 0.1) for size in sizes]) == slices


@pytest.mark.parametrize(("room_mb", "slices"), [(100.0, 5), (40.0, 5), (39.0, 4), (20.0, 2), (3.0, 1)])
def test_no_more_slices_are_received_than_their_scenarios_leave_room_for(room_mb: float, slices: int) -> None:
    assert slices_to_receive(100, room_mb, [SliceSize(20, 8.0), SliceSize(10, 2.0)]) == slices
