"""Waits that the headers of a response ask for: retry delays, and rate limits before the first 429.

Rate limits of OpenAI and compatible servers: `x-ratelimit-remaining-requests: 0`, `x-ratelimit-reset-requests: 6m0s`;
Anthropic: `anthropic-ratelimit-requests-remaining: 0`, `anthropic-ratelimit-requests-reset: 2026-11-20T12:00:00Z`;
Together AI and OpenRouter: `x-ratelimit-remaining: 0`, `x-ratelimit-reset` in seconds or as a time in milliseconds. All
give the time until the limit is *fully* restored; it refills evenly, so a tenth of that time restores a tenth of it.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from cupel_core.domain.conversations.model_request import ExhaustedAllowance

MAX_SECONDS = 86_400.0
_MAX_TEXT_LENGTH = 100
_KINDS = ("-requests", "-tokens", "")
_MIN_EPOCH_SECONDS = 1e9
_MIN_EPOCH_MILLISECONDS = 1e12
REFILL_FRACTION = 0.1
_OPENAI = tuple((f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens"))
_UNNAMED = (("x-ratelimit-remaining", "x-ratelimit-reset"),)
_ANTHROPIC = tuple(
    (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
    for kind in ("requests", "tokens", "input-tokens", "output-tokens")
)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the delay the response asks for, if any, at most a day. Header names are lower case or
    case-insensitive."""
    seconds = _requested_seconds(headers, now)
    return None if seconds is None else min(max(0.0, seconds), MAX_SECONDS)


def _requested_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if value := headers.get("retry-after"):
        seconds = _number(value)
        return _seconds_until(value, now) if seconds is None else seconds
    # OpenAI, xAI and others: the time until the exhausted rate limit is fully restored, e.g. `6m0s`.
    exhausted = [kind for kind in _KINDS if _number(headers.get(f"x-ratelimit-remaining{kind}")) == 0]
    resets = [seconds_until_reset(headers.get(f"x-ratelimit-reset{kind}", ""), now) for kind in exhausted]
    return max((reset for reset in resets if reset is not None), default=None)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None


def _seconds_until(http_date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(http_date[:_MAX_TEXT_LENGTH])
    except (ValueError, OverflowError):
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()


def seconds_until_reset(text: str, now: datetime) -> float | None:
    """Return the seconds until a limit is restored, from a duration, an ISO time, or a Unix time (seconds or
    milliseconds)."""
    number = _number(text[:_MAX_TEXT_LENGTH])
    if number is not None and number >= _MIN_EPOCH_SECONDS:
        return (number / 1_000 if number >= _MIN_EPOCH_MILLISECONDS else number) - now.timestamp()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return duration_seconds(text)
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def duration_seconds(text: str) -> float | None:
    """Convert `1m30.5s` to 90.5; a bare number is seconds. The result is at most a day, and None for a very long
    text."""
    if len(text) > _MAX_TEXT_LENGTH:
        return None
    parts = _DURATION.findall(text)
    seconds = sum(float(amount) * _UNITS[unit] for amount, unit in parts) if parts else _number(text)
    return None if seconds is None else min(seconds, MAX_SECONDS)


def parse_exhausted_allowance(headers: Mapping[str, str], now: datetime) -> ExhaustedAllowance | None:
    """Return the wait until an exhausted limit is usable again, or None while every limit has something left. Header
    names are lower case or case-insensitive."""
    exhausted = [
        reset for remaining, reset in (*_OPENAI, *_UNNAMED, *_ANTHROPIC) if headers.get(remaining, "").strip() == "0"
    ]
    seconds_to_full = [seconds_until_reset(headers.get(reset, ""), now) for reset in exhausted]
    waits = [seconds for seconds in seconds_to_full if seconds is not None and seconds > 0]
    return ExhaustedAllowance(min(max(waits), MAX_SECONDS) * REFILL_FRACTION) if waits else None
