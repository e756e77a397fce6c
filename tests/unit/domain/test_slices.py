from hypothesis import given
from hypothesis import strategies as st

from shared.domain.plan import Plan
from shared.domain.slices import LARGEST, SMALLEST, cut, remaining, slice_size


@given(st.integers(1, 3), st.integers(1, 300), st.sampled_from([("a/x", "b/y"), ("a/x", "a/y"), ("a/x",)]))
def test_the_slices_of_a_leaf_are_its_missing_probes_in_order(
    repeats: int, scenarios: int, targets: tuple[str, ...]
) -> None:
    plan = Plan(targets, (scenarios,), repeats=repeats)
    missing = [index for index in range(min(100, plan.total)) if index % 7]
    assert [index for _, indexes in cut(plan, missing) for index in indexes] == missing


def test_a_slice_is_of_one_provider() -> None:
    plan = Plan(("a/x", "b/y", "b/z"), (20,))
    assert [(provider, indexes[0], len(indexes)) for provider, indexes in cut(plan, range(60))] == [
        ("a", 0, 10),
        ("a", 10, 10),
        ("b", 20, 10),
        ("b", 30, 10),
        ("b", 40, 10),
        ("b", 50, 10),
    ]


def test_what_remains_of_a_provider_is_counted_over_its_targets() -> None:
    plan = Plan(("a/x", "b/y", "a/z"), (10,))
    assert remaining(plan, "a", 5) == 15
    assert remaining(plan, "a", 25) == 5


@given(st.integers(0, 1_000_000))
def test_slices_grow_with_what_remains_within_bounds(left: int) -> None:
    assert SMALLEST <= slice_size(left) <= slice_size(left + 100) <= LARGEST
