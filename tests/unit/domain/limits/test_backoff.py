from random import Random

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.backoff import BASE_SECONDS, CAP_SECONDS, GROWTH, delay_seconds

attempts = st.integers(min_value=1, max_value=100)
seeds = st.integers()
waits = st.floats(min_value=0, max_value=100_000)


@given(attempt=attempts, seed=seeds)
def test_a_wait_is_between_zero_and_a_growing_bound(attempt: int, seed: int) -> None:
    bound = min(CAP_SECONDS, BASE_SECONDS * GROWTH ** min(attempt - 1, 10))
    assert 0 <= delay_seconds(attempt, None, Random(seed)) <= bound


@given(attempt=attempts, seed=seeds, retry_after=waits)
def test_the_wait_requested_by_the_provider_is_kept_in_full(attempt: int, seed: int, retry_after: float) -> None:
    assert retry_after <= delay_seconds(attempt, retry_after, Random(seed)) <= retry_after + BASE_SECONDS


@given(attempt=attempts, seed=seeds)
def test_the_same_seed_waits_the_same_time(attempt: int, seed: int) -> None:
    assert delay_seconds(attempt, None, Random(seed)) == delay_seconds(attempt, None, Random(seed))


@given(attempt=attempts, seed=seeds, base=st.floats(min_value=0, max_value=60))
def test_a_run_may_set_the_first_wait(attempt: int, seed: int, base: float) -> None:
    bound = min(max(CAP_SECONDS, base), base * GROWTH ** min(attempt - 1, 10))
    assert 0 <= delay_seconds(attempt, None, Random(seed), base) <= bound
    assert delay_seconds(attempt, 5.0, Random(seed), base) == delay_seconds(attempt, 5.0, Random(seed))


def test_callers_that_failed_together_do_not_retry_together() -> None:
    rng = Random(1)
    assert len({delay_seconds(1, 5.0, rng) for _ in range(100)}) == 100


def test_a_short_wait_stays_short_and_is_spread() -> None:
    rng = Random(1)
    for asked, longest in ((0.0, 0.1), (0.2, 0.3), (1.0, 1.25), (60.0, 60.5)):
        waits = [delay_seconds(1, asked, rng) for _ in range(200)]
        assert asked <= min(waits) < max(waits) <= longest
        assert max(waits) - min(waits) > 0.9 * (longest - asked)
