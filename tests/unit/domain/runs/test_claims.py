from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.barrier import Leaf
from cupel_core.domain.runs.claims import Claim, divide_slice

NOW = 1_000.0
offsets = st.frozensets(st.integers(0, 99))
claims = st.lists(st.builds(Claim, offsets, st.sampled_from([NOW - 1, NOW + 60]), st.just(NOW - 30)), max_size=4)


@given(offsets, offsets, claims, offsets)
def test_every_missing_probe_is_in_exactly_one_part(
    completed: frozenset[int], failed: frozenset[int], others: list[Claim], indexes: frozenset[int]
) -> None:
    division = divide_slice(Leaf(completed, failed - completed), others, sorted(indexes), NOW)
    parts = [*division.unclaimed, *division.expired, *division.claimed]
    assert sorted(parts) == sorted(indexes - completed - failed)


def test_a_probe_with_an_active_claim_is_claimed() -> None:
    assert divide_slice(Leaf(), [Claim(frozenset({1}), NOW + 1, NOW - 30)], [1, 2], NOW).claimed == (1,)


def test_a_probe_whose_claim_has_ended_is_expired() -> None:
    division = divide_slice(Leaf(), [Claim(frozenset({1}), NOW - 1, NOW - 30)], [1, 2], NOW)
    assert (division.expired, division.unclaimed) == ((1,), (2,))


def test_a_probe_with_an_outcome_is_in_no_part() -> None:
    division = divide_slice(Leaf(completed=frozenset({1})), [Claim(frozenset({1}), NOW - 1, NOW - 30)], [1], NOW)
    assert division.expired == division.unclaimed == division.claimed == ()
