from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.slices import (
    MIN_SLICE_SIZE,
    cut_slices,
    provider_leaves,
    providers_of,
    remaining_probes,
    slice_size,
)


@given(st.integers(1, 3), st.integers(1, 300), st.sampled_from([("a/x", "b/y"), ("a/x", "a/y"), ("a/x",)]))
def test_the_slices_of_a_leaf_are_its_missing_probes_in_order(
    repeats: int, scenarios: int, targets: tuple[str, ...]
) -> None:
    plan = Plan(targets, (scenarios,), repeats=repeats)
    missing = [index for index in range(min(100, plan.total)) if index % 7]
    assert [index for _, indexes in cut_slices(plan, missing) for index in indexes] == missing


def test_a_slice_is_of_one_provider() -> None:
    plan = Plan(("a/x", "b/y", "b/z"), (8,))
    assert list(cut_slices(plan, range(24))) == [
        ("a", [0, 1, 2, 3, 4]),
        ("a", [5, 6, 7]),
        ("b", [8, 9, 10, 11, 12]),
        ("b", [13, 14, 15, 16, 17]),
        ("b", [18, 19, 20, 21, 22]),
        ("b", [23]),
    ]


def test_what_remains_of_a_provider_is_counted_over_its_targets() -> None:
    plan = Plan(("a/x", "b/y", "a/z"), (10,))
    assert remaining_probes(plan, "a", 5) == 15
    assert remaining_probes(plan, "a", 25) == 5


@given(st.integers(0, 1_000_000))
def test_slices_grow_with_what_remains_within_bounds(left: int) -> None:
    assert MIN_SLICE_SIZE <= slice_size(left) <= slice_size(left + 100) <= 100


@given(
    st.lists(st.sampled_from(["a/1", "a/2", "b/1", "c/1"]), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(1, 700), min_size=1, max_size=3),
    st.integers(0, 20),
)
def test_the_leaves_of_a_provider_are_those_with_its_probes(
    targets: list[str], segments: list[int], first: int
) -> None:
    plan = Plan(tuple(targets), tuple(segments))
    owners = providers_of(plan)
    for provider in set(owners):
        own = {index // 100 for index in range(plan.total) if owners[plan.probe(index).target] == provider}
        assert list(provider_leaves(plan, provider, first)) == sorted(leaf for leaf in own if leaf >= first)
