"""A limit per minute, lent in parts."""

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.limits.token_bucket import capacity, full_bucket


def test_a_bucket_refills_with_time_up_to_two_seconds_of_its_rate() -> None:
    empty = full_bucket(600, 0.0).after_loan(20)
    assert empty.refilled(600, 1.0).level == 10
    assert empty.refilled(600, 60.0).level == 20


def test_a_slow_limit_still_lets_one_through() -> None:
    assert full_bucket(6, 0.0).level == 1
    assert full_bucket(6, 0.0).after_loan(1).seconds_until(1, 6) == 10


def test_what_was_used_beyond_the_loan_is_paid_off_first() -> None:
    lent = full_bucket(600, 0.0).after_loan(20)
    overdrawn = lent.after_return(20, 50, 600)
    assert overdrawn.level == -30
    assert overdrawn.seconds_until(1, 600) == 3.1


@given(
    st.integers(1, 10_000),
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=50),
)
def test_what_is_used_never_exceeds_the_rate_and_one_burst(
    per_minute: int, steps: list[tuple[float, float, float]]
) -> None:
    bucket, now, used = full_bucket(per_minute, 0.0), 0.0, 0.0
    for wait, lent_share, used_share in steps:
        now += wait
        bucket = bucket.refilled(per_minute, now)
        lent = max(0.0, bucket.level) * lent_share
        bucket = bucket.after_loan(lent).after_return(lent, lent * used_share, per_minute)
        used += lent * used_share
    assert used <= capacity(per_minute) + now * per_minute / 60 + 1e-6
