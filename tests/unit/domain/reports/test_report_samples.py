"""Which conversations a report shows."""

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.reports.samples import MAX_CANDIDATES, CandidatePool, SampleCandidate, lowest_first, rank_of


def candidate(index: int, score: float = 0.0, scenario: str = "s", column: int = 0) -> SampleCandidate:
    return SampleCandidate(index, score, column, scenario, None, rank_of(1, index))


CANDIDATES = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from([0.0, 0.25, 0.5])), unique_by=lambda e: e[0])


@given(CANDIDATES, st.randoms())
def test_the_pool_keeps_the_lowest_scores_in_any_order(found: list[tuple[int, float]], rng: object) -> None:
    candidates = [candidate(*each) for each in found]
    pool = CandidatePool()
    for each in reversed(candidates):
        pool.add(each)
    assert pool.candidates == sorted(candidates, key=lambda each: each.order)[:MAX_CANDIDATES]


def test_a_large_run_has_bounded_candidates() -> None:
    pool = CandidatePool()
    for index in range(5_000):
        pool.add(candidate(index, score=1 - index / 5_000))
    assert [each.probe_index for each in pool.candidates] == list(range(4_999, 4_999 - MAX_CANDIDATES, -1))


def test_the_lowest_scores_come_first() -> None:
    chosen = lowest_first([candidate(1, 0.5), candidate(2, 0.0), candidate(3, 0.25)], 2)
    assert [each.probe_index for each in chosen] == [2, 3]


def test_equal_scores_are_spread_over_scenarios_and_targets() -> None:
    same = [candidate(index, scenario="a") for index in range(10)]
    other = [candidate(10, scenario="b"), candidate(11, scenario="c", column=1)]
    assert {each.scenario for each in lowest_first([*same, *other], 3)} == {"a", "b", "c"}
