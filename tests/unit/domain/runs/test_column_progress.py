from collections.abc import Mapping
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.domain.runs.barrier import Leaf
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.column_progress import (
    MAX_ERRORS_READ,
    MAX_SAMPLED,
    ColumnCounts,
    LeafCounts,
    LeafDetail,
    count_columns,
    errored_indexes,
    leaves_to_read,
    sample_indexes,
)
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets

NOW = 1_000.0
PLANS = st.builds(
    Plan,
    st.integers(1, 4).map(lambda count: tuple(f"a/{number}" for number in range(count))),
    st.lists(st.integers(1, 150), min_size=1, max_size=3).map(tuple),
    st.integers(1, 2),
)


def leaf(number: int, outcomes: Mapping[int, bool], claims: tuple[Claim, ...] = ()) -> LeafCounts:
    """A leaf with these outcomes in detail."""
    own = {index % 100: completed for index, completed in outcomes.items()}
    item = Leaf(frozenset(o for o, done in own.items() if done), frozenset(o for o, done in own.items() if not done))
    return LeafCounts(number, len(item.completed), len(item.failed), LeafDetail(item, claims))


def leaves_of(plan: Plan, outcomes: Mapping[int, bool]) -> list[LeafCounts]:
    """The leaves of a run with these outcomes, as they are read: full ones in detail only where that is needed."""
    by_leaf: dict[int, dict[int, bool]] = {}
    for index, completed in outcomes.items():
        by_leaf.setdefault(index // 100, {})[index] = completed
    details = [leaf(number, own) for number, own in by_leaf.items()]
    sizes = [min(100, plan.total - 100 * each.number) for each in details]
    known = [
        each._replace(detail=None) if each.completed + each.failed == size else each
        for each, size in zip(details, sizes, strict=True)
    ]
    read = set(leaves_to_read(plan, known))
    return [detail if detail.number in read else each for each, detail in zip(known, details, strict=True)]


@settings(max_examples=40)
@given(PLANS, st.randoms(use_true_random=False), st.floats(0, 1))
def test_the_counts_of_each_target_are_exact(plan: Plan, random: Random, progress: float) -> None:
    recorded = {
        index: random.random() < 0.97 for index in range(plan.total) if random.random() < progress or index < 90
    }
    expected = [ColumnCounts(plan.total // len(plan.targets)) for _ in plan.targets]
    for index, completed in recorded.items():
        counts = expected[plan.probe(index).column]
        counts.completed += completed
        counts.errored += not completed
    assert count_columns(plan, leaves_of(plan, recorded), NOW) == expected


def test_a_running_probe_has_made_a_call_and_has_no_outcome() -> None:
    called = {0: NOW - 9, 1: NOW - 9, 6: NOW - 1}
    claims = (
        Claim(frozenset({0, 1, 4, 6, 7}), NOW + 30, NOW, called),
        Claim(frozenset({2}), NOW - 1, NOW - 31, {2: 1.0}),
    )
    counts = count_columns(Plan(plain_targets("a/x", "a/y"), (5,)), [leaf(0, {0: True}, claims)], NOW)
    assert [each.running for each in counts] == [1, 1]


def test_a_leaf_of_one_target_without_errors_is_not_read() -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (10_000,))
    full = [LeafCounts(number, 100, 0) for number in range(200)]
    assert leaves_to_read(plan, full) == []


def test_of_many_leaves_with_errors_the_newest_are_read() -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (100_000,))
    full = [LeafCounts(number, 99, 1) for number in range(2_000)]
    read = leaves_to_read(plan, full)
    assert read == [*range(975, 1_000), *range(1_975, 2_000)]


@pytest.mark.parametrize("completed", [1, 250, 251, 4_000, 50_000])
def test_the_sample_of_a_target_is_bounded_and_complete_while_it_is_small(completed: int) -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (50_000,))
    leaves = leaves_of(plan, dict.fromkeys(range(completed), True))
    indexes = sample_indexes(plan, leaves, count_columns(plan, leaves, NOW))
    limit = MAX_SAMPLED // 2
    assert len(indexes) == completed if completed <= limit else limit // 2 - 1 <= len(indexes) <= limit
    assert set(indexes) <= set(range(completed))
    assert len(indexes) == len(set(indexes))


def test_a_sample_is_spread_over_everything_that_completed() -> None:
    plan = Plan(plain_targets("a/x"), (64_000,))
    leaves = leaves_of(plan, dict.fromkeys(range(plan.total), True))
    indexes = sample_indexes(plan, leaves, count_columns(plan, leaves, NOW))
    assert max(later - earlier for earlier, later in pairwise(indexes)) < 2 * 128
    assert len({index % 8 for index in indexes}) == 8, "not by a pattern with which personas or repeats alternate"


def test_a_sample_leaves_out_probes_without_a_transcript() -> None:
    plan = Plan(plain_targets("a/x"), (10,))
    leaves = leaves_of(plan, {0: True, 3: False, 7: True})
    assert sample_indexes(plan, leaves, count_columns(plan, leaves, NOW)) == [0, 7]


def test_the_newest_errored_probes_of_each_target_are_read() -> None:
    plan = Plan(plain_targets("a/x", "a/y"), (100,))
    leaves = leaves_of(plan, dict.fromkeys(range(170), False))
    read = errored_indexes(plan, leaves)
    assert read == [*range(50, 100), *range(120, 170)]
    assert len(read) == MAX_ERRORS_READ
