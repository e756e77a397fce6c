"""Rate limits of requests: a caller's own limit, and that of its workspace, which all its tokens share.

Each instance of the authorizer has its own part of the permits in memory.
"""

from contextlib import suppress

from cupel_core.domain.access import Caller
from cupel_core.domain.limits.request_rate import LimitScope, LocalPermits, RequestLimit
from cupel_core.store import request_rates
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.workspace.access.tokens import digest_of

_MAX_KEYS = 2_000
_permits: dict[str, LocalPermits] = {}


def exceeded_limit(
    caller: Caller, token_limit: RequestLimit, workspace_limit: RequestLimit, now: float
) -> LimitScope | None:
    """Return which limit a request of the caller exceeds now: its token's (or user's) or its workspace's. None means
    that it is admitted, also if a limit cannot be checked."""
    if not _admit(key_of(caller), token_limit, now):
        return LimitScope.TOKEN
    if not _admit(_workspace_key(caller.workspace), workspace_limit, now):
        return LimitScope.WORKSPACE
    return None


def key_of(caller: Caller) -> str:
    return digest_of(f"{caller.workspace} {caller.token_id}")


def forget() -> None:
    _permits.clear()


def _workspace_key(workspace: str) -> str:
    return digest_of(f"workspace {workspace}")


def _admit(key: str, limit: RequestLimit, now: float) -> bool:
    if len(_permits) >= _MAX_KEYS:
        _permits.clear()  # This costs each caller at most one draw.
    permits = _permits.get(key, LocalPermits(now)).refilled(now)
    if now < permits.refused_until:
        return False
    after = permits.after_request()
    if after is None and _draw(key, limit, now):
        after = permits.after_draw(limit, now).after_request()
    _permits[key] = after or permits.after_refusal(limit, now)
    return after is not None


def _draw(key: str, limit: RequestLimit, now: float) -> bool:
    with suppress(*AWS_ERRORS):
        return request_rates.draw(key, limit, now)
    return True
