"""The governor of a provider account or of a run that limits its own concurrency: one item, rewritten by all its
workers.

Workers use optimistic locking. They write when a slice arrives and every one to four seconds, not per call. A write of
the whole item is charged even when its condition fails. Therefore leases are stored compactly (100 of them take about 3
KB), and a worker that is not alone reads the item before it writes.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from math import floor
from typing import Any

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.domain.limits.breaker import Breaker
from cupel_core.domain.limits.governor import (
    Governor,
    Limits,
    WorkerLease,
    WorkerReport,
    after_leave,
    after_report,
    effective_limit,
)
from cupel_core.domain.limits.provider_status import ProviderStatus, SuspendedModel
from cupel_core.domain.limits.throttling import RecentCalls
from cupel_core.domain.limits.token_bucket import TokenBucket
from cupel_core.domain.runs.run import Priority
from cupel_core.store import keys, versioned_items
from cupel_core.store.batches import get_batch
from cupel_core.store.versioned_items import Versioned

_PRIORITY_BY_INITIAL = {priority[0]: priority for priority in Priority}


type StoredGovernor = Versioned[Governor]
_RUN_SORT_KEY = "concurrency"


def renew(
    workspace: str,
    limited: str | RunRef,
    limits: Limits,
    report: WorkerReport,
    now: float,
    last: StoredGovernor | None = None,
) -> StoredGovernor:
    """Apply a worker's report on a provider's account or on a run. Its lease in the result says what it may do. `last`
    saves a read if no other worker has written since."""
    return _change(workspace, limited, lambda governor: after_report(governor, limits, report, now), last)


def leave(
    workspace: str,
    limited: str | RunRef,
    limits: Limits,
    report: WorkerReport,
    now: float,
    last: StoredGovernor | None,
) -> None:
    _change(workspace, limited, lambda governor: after_leave(governor, limits, report, now), last)


def set_paused(workspace: str, provider: str, paused: bool) -> None:
    """Pause or resume an account. While it is paused no call starts; those in flight complete."""
    now = utc_now().timestamp()

    def change(governor: Governor) -> Governor:
        if paused is (governor.paused_at is not None):
            return governor
        return replace(governor, paused_at=now if paused else None)

    _change(workspace, provider, change)


def reset_learned_state(workspace: str, provider: str) -> None:
    """Reset breakers, the learned limit and any block, because the account's settings were changed."""

    def change(governor: Governor) -> Governor:
        return replace(governor, breakers={}, learned=None, blocked_until=0.0)

    _change(workspace, provider, change)


def reset_breaker(workspace: str, provider: str, model: str) -> None:
    """Close the breaker of one model, because its address or key was changed."""

    def change(governor: Governor) -> Governor:
        others = {name: breaker for name, breaker in governor.breakers.items() if name != model}
        return replace(governor, breakers=others)

    _change(workspace, provider, change)


def get_status(workspace: str, provider: str) -> ProviderStatus:
    return _status(versioned_items.read(_key(workspace, provider), _CODEC).value, utc_now())


def get_statuses(workspace: str, providers: Iterable[str]) -> dict[str, ProviderStatus]:
    names, now = list(dict.fromkeys(providers)), utc_now()
    items = {item["sk"]["S"]: item for item in get_batch(_key(workspace, name) for name in names)}
    return {name: _status(versioned_items.from_item(items.get(name), _CODEC).value, now) for name in names}


def _status(governor: Governor, now: datetime) -> ProviderStatus:
    seconds = now.timestamp()
    breakers = sorted(governor.breakers.items())
    suspended = [
        (model, until, breaker.reason) for model, breaker in breakers if (until := breaker.suspended_until(seconds))
    ]
    learned = governor.limit and effective_limit(governor, governor.limit)
    slots = governor.run_slots(governor.limit, seconds) if governor.limit else 0
    return ProviderStatus(
        paused=governor.paused_at is not None,
        blocked_until=_moment(governor.blocked_until) if governor.blocked_until > seconds else None,
        limit=governor.limit,
        learned_limit=learned if learned != governor.limit else None,
        workers=len(governor.live_leases(seconds)),
        granted=sum(lease.granted for lease in governor.live_leases(seconds).values()),
        suspended_models=tuple(SuspendedModel(model, _moment(until), reason) for model, until, reason in suspended),
        slots=slots,
        reserved_slots=(learned or 0) - slots,
        demands=governor.demands(seconds),
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _change(
    workspace: str,
    limited: str | RunRef,
    change: Callable[[Governor], Governor],
    last: StoredGovernor | None = None,
) -> StoredGovernor:
    is_alone = last is not None and len(last.value.leases) < 2
    return versioned_items.change(_key(workspace, limited), _CODEC, change, last if is_alone else None)


def _key(workspace: str, limited: str | RunRef) -> dict[str, Any]:
    """Return the key. The governor of a run is in the run's partition, so that it is erased with the run."""
    if isinstance(limited, RunRef):
        return {"pk": {"S": keys.run(limited)}, "sk": {"S": _RUN_SORT_KEY}}
    return {"pk": {"S": keys.governor(workspace)}, "sk": {"S": limited}}


def _to_json(governor: Governor) -> dict[str, Any]:
    base_time = floor(min((lease.until for lease in governor.leases.values()), default=0.0))
    return {
        "limit": governor.limit,
        "learned": governor.learned,
        "recent": asdict(governor.recent),
        "lowered_at": governor.lowered_at,
        "raised_at": governor.raised_at,
        "blocked_until": governor.blocked_until,
        "paused_at": governor.paused_at,
        "requests": governor.requests and asdict(governor.requests),
        "tokens": governor.tokens and asdict(governor.tokens),
        "base_time": base_time,
        "leases": {worker_id: _lease_to_text(lease, base_time) for worker_id, lease in governor.leases.items()},
        "breakers": {model: _breaker_to_json(breaker) for model, breaker in governor.breakers.items()},
        **_interactive_to_json(governor),
    }


def _interactive_to_json(governor: Governor) -> dict[str, Any]:
    """Encode the state of interactive calls. An account without chats stores nothing."""
    if not governor.interactive_until:
        return {}
    return {"interactive": sorted(governor.interactive), "interactive_until": governor.interactive_until}


def _breaker_to_json(breaker: Breaker) -> dict[str, Any]:
    """Encode a breaker. Fields about waits are omitted if empty, because most models never ask to wait."""
    body = asdict(breaker)
    return {name: value for name, value in body.items() if value or name not in _WAITS}


_WAITS = frozenset({"waits_in_row", "asked_since", "steps"})


def _lease_to_text(lease: WorkerLease, base_time: int) -> str:
    """Return a text such as `N,50,61,2,2,,`. It has the initial of the priority, the demand, the tenths of a second
    from `base_time` to the lease's end, and the requests and tokens that are granted, reserved and lent."""
    tenths = round((lease.until - base_time) * 10)
    fields = (lease.priority[0], lease.demand, tenths, lease.granted, lease.reserved, lease.requests, lease.tokens)
    return ",".join("" if field is None else str(field) for field in fields)


def _lease_from_text(text: str, base_time: int) -> WorkerLease:
    initial, demand, tenths, granted, reserved, requests, tokens = text.split(",")
    return WorkerLease(
        priority=_PRIORITY_BY_INITIAL[initial],
        demand=int(demand),
        until=base_time + int(tenths) / 10,
        granted=int(granted),
        reserved=int(reserved),
        requests=int(requests) if requests else None,
        tokens=int(tokens) if tokens else None,
    )


def _from_json(body: dict[str, Any]) -> Governor:
    return Governor(
        limit=body["limit"],
        learned=body["learned"],
        recent=RecentCalls(**body["recent"]),
        lowered_at=body["lowered_at"],
        raised_at=body["raised_at"],
        blocked_until=body["blocked_until"],
        paused_at=body["paused_at"],
        requests=TokenBucket(**body["requests"]) if body["requests"] else None,
        tokens=TokenBucket(**body["tokens"]) if body["tokens"] else None,
        leases={name: _lease_from_text(text, body["base_time"]) for name, text in body["leases"].items()},
        breakers={model: Breaker(**breaker) for model, breaker in body["breakers"].items()},
        interactive=frozenset(body.get("interactive", ())),
        interactive_until=body.get("interactive_until", 0.0),
    )


class _GovernorCodec:
    name = "the governor"
    default = Governor
    encode = staticmethod(_to_json)
    decode = staticmethod(_from_json)


_CODEC = _GovernorCodec()
