"""Admits the requests of a caller up to its limit. Each instance of the authorizer keeps its own part in memory."""

from contextlib import suppress

from cupel_core.access.tokens import digest_of
from cupel_core.domain.access import Caller
from cupel_core.domain.limits.request_rate import LocalPermits, RequestLimit
from cupel_core.store import request_rates
from cupel_core.store.clients import AWS_ERRORS

_MAX_CALLERS = 1_000
_permits: dict[str, LocalPermits] = {}


def admit(caller: Caller, limit: RequestLimit, now: float) -> bool:
    """Whether the caller, a token or a user, may send a request now. If the limit cannot be checked, it may."""
    key = key_of(caller)
    if len(_permits) >= _MAX_CALLERS:
        _permits.clear()  # Costs each caller at most one draw.
    permits = _permits.get(key, LocalPermits(now)).refilled(now)
    if now < permits.refused_until:
        return False
    after = permits.after_request()
    if after is None and _draw(key, limit, now):
        after = permits.after_draw(limit, now).after_request()
    _permits[key] = after or permits.after_refusal(limit, now)
    return after is not None


def key_of(caller: Caller) -> str:
    return digest_of(f"{caller.workspace} {caller.token_id}")


def forget() -> None:
    """Forget the permits of this process."""
    _permits.clear()


def _draw(key: str, limit: RequestLimit, now: float) -> bool:
    with suppress(*AWS_ERRORS):
        return request_rates.draw(key, limit, now)
    return True
