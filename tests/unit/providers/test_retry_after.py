from datetime import UTC, datetime

import pytest

from cupel_core.providers.retry_after import duration_seconds, retry_after_seconds

NOW = datetime(2026, 1, 15, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "Thu, 15 Jan 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Thu, 15 Jan 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.5s"}, 1.5),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1.5s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "20ms",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            360,
        ),
        ({}, None),
    ],
)
def test_the_retry_delay_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("34s", 34), ("34.07s", 34.07), ("1h2m3s", 3723), ("20ms", 0.02), ("12", 12), ("", None)]
)
def test_a_duration_is_read(text: str, seconds: float | None) -> None:
    assert duration_seconds(text) == seconds
