"""Secrets, signatures and back-off of webhooks."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from cupel_core.domain.resources.webhooks import read_secret, retry_delay, sign, suspension, write_secret

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of https://github.com/standard-webhooks/standard-webhooks, also in its libraries' tests."""
    now = datetime.fromtimestamp(1614265330, UTC)
    headers = sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", now, b'{"test": 2432232314}')
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_a_written_secret_is_read_as_the_same_key() -> None:
    assert read_secret(write_secret(bytes(range(32)))) == bytes(range(32))


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAEC", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%%%"])
def test_other_texts_are_no_secrets(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        read_secret(secret)


def test_a_call_is_repeated_after_growing_delays_of_at_most_15_minutes() -> None:
    delays = [retry_delay(attempts) for attempts in range(1, 30)]
    assert delays[:3] == [timedelta(seconds=5), timedelta(seconds=10), timedelta(seconds=20)]
    assert all(one <= next_one for one, next_one in pairwise(delays))
    assert delays[-1] == timedelta(minutes=15)


def test_a_webhook_is_suspended_from_the_fifth_failure_in_a_row() -> None:
    assert [suspension(failures) for failures in (1, 4, 5, 6, 50)] == [
        None,
        None,
        timedelta(seconds=30),
        timedelta(seconds=60),
        timedelta(minutes=15),
    ]
