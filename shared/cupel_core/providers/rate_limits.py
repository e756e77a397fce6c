"""Rate limits in response headers, read before the first 429.

OpenAI and compatible servers: `x-ratelimit-remaining-requests: 0`, `x-ratelimit-reset-requests: 6m0s`; Anthropic:
`anthropic-ratelimit-requests-remaining: 0`, `anthropic-ratelimit-requests-reset: 2026-11-20T12:00:00Z`; Together AI and
OpenRouter: `x-ratelimit-remaining: 0`, `x-ratelimit-reset` in seconds or as a time in milliseconds. All give the time
until the limit is *fully* restored; it refills evenly, so a tenth of that time restores a tenth of it.
"""

from collections.abc import Mapping
from datetime import datetime

from cupel_core.domain.conversations.model_request import ExhaustedAllowance
from cupel_core.providers.retry_after import MAX_SECONDS, seconds_until_reset

REFILL_FRACTION = 0.1
_OPENAI = tuple((f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens"))
_UNNAMED = (("x-ratelimit-remaining", "x-ratelimit-reset"),)
_ANTHROPIC = tuple(
    (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
    for kind in ("requests", "tokens", "input-tokens", "output-tokens")
)


def parse_exhausted_allowance(headers: Mapping[str, str], now: datetime) -> ExhaustedAllowance | None:
    """The wait until an exhausted limit is usable again; None while every limit has something left.

    Header names are lower case or case-insensitive.
    """
    exhausted = [
        reset for remaining, reset in (*_OPENAI, *_UNNAMED, *_ANTHROPIC) if headers.get(remaining, "").strip() == "0"
    ]
    seconds_to_full = [seconds_until_reset(headers.get(reset, ""), now) for reset in exhausted]
    waits = [seconds for seconds in seconds_to_full if seconds is not None and seconds > 0]
    return ExhaustedAllowance(min(max(waits), MAX_SECONDS) * REFILL_FRACTION) if waits else None
