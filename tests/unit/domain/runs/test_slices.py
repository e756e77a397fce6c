from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.slices import (
    MIN_SLICE_SIZE,
    Workers,
    cut_slices,
    latest_parts,
    next_window,
    parts_in_turn,
    probes_left,
    provider_columns,
    providers_of,
    slice_size,
)
from cupel_core.domain.runs.targets import plain_targets

PLANS = st.builds(
    Plan,
    st.lists(st.sampled_from(["a/1", "a/2", "a/3", "b/1", "c/1"]), min_size=1, max_size=5, unique=True).map(
        lambda models: plain_targets(*models)
    ),
    st.lists(st.integers(1, 700), min_size=1, max_size=3).map(tuple),
    st.integers(1, 3),
)
TWO = Workers(2, 50)


def slices_of(plan: Plan, provider: str) -> list[tuple[int, list[int]]]:
    """All slices of a provider in the order of sending, window by window."""
    firsts, slices = dict.fromkeys(provider_columns(plan, provider), 0), list[tuple[int, list[int]]]()
    while window := next_window(parts_in_turn(plan, firsts), 1_000, 500):
        leaves = {leaf: range(leaf * 100, min(leaf * 100 + 100, plan.total)) for leaf in {part.leaf for part in window}}
        slices += cut_slices(plan, window, leaves, probes_left(plan, firsts), TWO)
        firsts |= {part.column: part.leaf + 1 for part in window}
    return slices


@settings(max_examples=30)
@given(PLANS)
def test_every_probe_of_a_provider_is_sent_once(plan: Plan) -> None:
    owners = providers_of(plan)
    for provider in set(owners):
        sent = [index for _, indexes in slices_of(plan, provider) for index in indexes]
        assert sorted(sent) == [index for index in range(plan.total) if owners[plan.probe(index).column] == provider]


@settings(max_examples=30)
@given(PLANS, st.integers(1, 2_000), st.integers(1, 2_000))
def test_the_latest_parts_are_the_last_that_were_sent(plan: Plan, size: int, probes: int) -> None:
    provider = providers_of(plan)[0]
    window = next_window(parts_in_turn(plan, dict.fromkeys(provider_columns(plan, provider), 0)), size, 0)
    firsts = dict.fromkeys(provider_columns(plan, provider), 0) | {part.column: part.leaf + 1 for part in window}
    latest = latest_parts(plan, firsts, probes)
    assert latest == window[::-1][: len(latest)]
    assert latest == window[::-1] or sum(len(part.indexes) for part in latest) >= probes


@settings(max_examples=30)
@given(PLANS)
def test_a_slice_stays_in_its_leaf(plan: Plan) -> None:
    for provider in providers_of(plan):
        assert all(index // 100 == leaf for leaf, indexes in slices_of(plan, provider) for index in indexes)


@settings(max_examples=30)
@given(PLANS)
def test_the_targets_of_a_provider_progress_side_by_side(plan: Plan) -> None:
    for provider in set(providers_of(plan)):
        sent = dict.fromkeys(provider_columns(plan, provider), 0)
        target_total = plan.total // len(plan.targets)
        for _, indexes in slices_of(plan, provider):
            for index in indexes:
                sent[plan.probe(index).column] += 1
            assert max(sent.values()) - min(sent.values()) <= 100 + target_total // 20


def test_small_targets_of_one_provider_take_turns() -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (8,))
    assert slices_of(plan, "a") == [
        (0, [0, 1, 2, 3]),
        (0, [8, 9, 10, 11]),
        (0, [4, 5, 6, 7]),
        (0, [12, 13, 14, 15]),
    ]


def test_neighbours_of_one_leaf_share_a_slice_if_they_fit_into_it() -> None:
    plan = Plan(plain_targets(*(f"a/{number}" for number in range(5))), (2,))
    assert slices_of(plan, "a") == [(0, [0, 1, 2, 3]), (0, [4, 5, 6, 7]), (0, [8, 9])]


def test_the_only_target_of_a_provider_is_sent_in_order() -> None:
    plan = Plan(plain_targets("a/x", "b/y"), (3_000,))
    slices = slices_of(plan, "b")
    assert [index for _, indexes in slices for index in indexes] == list(range(3_000, 6_000))
    assert [len(indexes) for _, indexes in slices[:10]] == [100] * 10


def test_what_is_missing_is_sent_and_nothing_else() -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (30,))
    missing: Mapping[int, list[int]] = {0: [2, 3, 31, 59]}
    window = next_window(parts_in_turn(plan, {0: 0, 1: 0}), 1_000, 500)
    assert cut_slices(plan, window, missing, 60, TWO) == [(0, [31, 59, 2, 3])]


def test_a_target_that_is_behind_comes_first() -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (1_000,))
    parts = parts_in_turn(plan, {0: 5, 1: 10})
    assert [(part.column, part.leaf) for part, _ in zip(parts, range(7), strict=False)] == [
        *((1, leaf) for leaf in range(10, 15)),
        (0, 5),
        (1, 15),
    ]


def test_a_short_remainder_is_part_of_the_last_window() -> None:
    plan = Plan(plain_targets("a/x"), (1_500,))
    assert len(next_window(parts_in_turn(plan, {0: 0}), 1_000, 500)) == 15
    assert len(next_window(parts_in_turn(Plan(plain_targets("a/x"), (1_501,)), {0: 0}), 1_000, 500)) == 10


@given(st.integers(0, 1_000_000), st.builds(Workers, st.integers(2, 100), st.integers(1, 1_000)))
def test_slices_grow_with_what_remains_within_bounds(left: int, workers: Workers) -> None:
    assert MIN_SLICE_SIZE <= slice_size(left, workers) <= slice_size(left + 100, workers) <= 100


def test_the_more_workers_the_smaller_the_slices() -> None:
    assert [slice_size(1_000, Workers(number, 50)) for number in (2, 4, 10, 50)] == [100, 50, 20, 5]


def test_workers_with_many_calls_get_no_slices_of_a_few_probes() -> None:
    assert [slice_size(10, Workers(2, parallel)) for parallel in (50, 200, 500, 1_000)] == [5, 10, 25, 50]


def test_the_slices_of_a_leaf_are_equally_large() -> None:
    assert [len(indexes) for _, indexes in slices_of(Plan(plain_targets("a/x"), (900,)), "a")][:6] == [
        50,
        50,
        50,
        50,
        50,
        50,
    ]


def test_a_run_of_a_thousand_probes_takes_few_messages_and_ends_with_small_ones() -> None:
    sizes = [len(indexes) for _, indexes in slices_of(Plan(plain_targets("a/x"), (1_000,)), "a")]
    assert len(sizes) < 64
    assert (sizes[0], max(sizes[-30:])) == (100, 5)
