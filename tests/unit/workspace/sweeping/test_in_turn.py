"""A list that is too long for one sweep is gone through by several."""

from collections.abc import Iterator

from cupel_core.store import sweep_cursors
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.in_turn import in_turn

ITEMS = ["a", "b", "c", "d", "e"]


def after(position: str | None) -> Iterator[str]:
    return (item for item in ITEMS if position is None or item > position)


def sweep(count: int) -> list[str]:
    """The items of a sweep that has time for this many."""
    remaining = iter(range(count))
    return list(in_turn("letters", after, str, lambda: next(remaining, None) is not None))


def test_a_sweep_with_time_goes_through_all(cloud: Settings) -> None:
    assert sweep(9) == ITEMS
    assert sweep_cursors.get("letters") is None


def test_each_sweep_continues_where_the_last_one_stopped(cloud: Settings) -> None:
    assert [sweep(2) for _ in range(4)] == [["a", "b"], ["c", "d"], ["e", "a"], ["b", "c"]]


def test_a_sweep_goes_around_to_where_it_began_and_starts_anew(cloud: Settings) -> None:
    sweep(2)
    assert sweep(9) == ["c", "d", "e", "a", "b"]
    assert sweep(9) == ITEMS


def test_a_sweep_without_time_keeps_its_position(cloud: Settings) -> None:
    sweep(2)
    assert sweep(0) == []
    assert sweep(1) == ["c"]


def test_a_position_whose_item_has_gone_is_still_a_position(cloud: Settings) -> None:
    sweep_cursors.save("letters", "bb")
    assert sweep(2) == ["c", "d"]
