from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.barrier import Leaf
from cupel_core.domain.runs.claims import Claim, divide

NOW = 1_000.0
offsets = st.frozensets(st.integers(0, 99))
claims = st.lists(st.builds(Claim, offsets, st.sampled_from([NOW - 1, NOW + 60])), max_size=4)


@given(offsets, offsets, claims, offsets)
def test_every_missing_probe_is_in_exactly_one_part(
    completed: frozenset[int], failed: frozenset[int], others: list[Claim], wanted: frozenset[int]
) -> None:
    division = divide(Leaf(completed, failed - completed), others, sorted(wanted), NOW)
    parts = [*division.fresh, *division.doubtful, *division.taken]
    assert sorted(parts) == sorted(wanted - completed - failed)


def test_a_probe_somebody_works_on_is_taken() -> None:
    assert divide(Leaf(), [Claim(frozenset({1}), NOW + 1)], [1, 2], NOW).taken == (1,)


def test_a_probe_of_a_claimant_that_is_gone_is_doubtful() -> None:
    division = divide(Leaf(), [Claim(frozenset({1}), NOW - 1)], [1, 2], NOW)
    assert (division.doubtful, division.fresh) == ((1,), (2,))


def test_a_probe_with_an_outcome_is_nobodys() -> None:
    division = divide(Leaf(completed=frozenset({1})), [Claim(frozenset({1}), NOW - 1)], [1], NOW)
    assert division.doubtful == division.fresh == division.taken == ()
