"""What the headers of an answer say about the account's rate limits, before the first 429.

OpenAI and those who copied it: `x-ratelimit-remaining-requests: 0`, `x-ratelimit-reset-requests: 6m0s`; Anthropic:
`anthropic-ratelimit-requests-remaining: 0`, `anthropic-ratelimit-requests-reset: 2026-11-20T12:00:00Z`. Both say when
the allowance will be *full* again; it comes back evenly, so a tenth of the time brings a tenth of it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from cupel_core.domain.turns.model_request import RateLimits
from cupel_core.providers.retry_after import duration_seconds

ENOUGH = 0.1
_OPENAI = tuple((f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens"))
_ANTHROPIC = tuple(
    (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
    for kind in ("requests", "tokens", "input-tokens", "output-tokens")
)


def read_limits(headers: Mapping[str, str], now: datetime) -> RateLimits | None:
    """None while something is left of every allowance; header names are lower case or case-insensitive."""
    spent = [reset for left, reset in (*_OPENAI, *_ANTHROPIC) if headers.get(left, "").strip() == "0"]
    full_in = [_seconds(headers.get(reset, ""), now) for reset in spent]
    waits = [seconds for seconds in full_in if seconds is not None and seconds > 0]
    return RateLimits(max(waits) * ENOUGH) if waits else None


def _seconds(text: str, now: datetime) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return duration_seconds(text)
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
