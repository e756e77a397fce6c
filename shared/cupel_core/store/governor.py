"""A provider account's governor: one item, which all workers of the account rewrite with optimistic locking.

It is written once per slice and every two seconds, not per call: 100 workers make 50 writes/s; an item allows 1,000.
"""

import uuid
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from cupel_core.clock import utc_now
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
from cupel_core.errors import RetryableError
from cupel_core.settings import settings
from cupel_core.store import keys
from cupel_core.store.clients import dynamodb

_MAX_ATTEMPTS = 20
"""If n workers write at the same time, the last one is rejected n - 1 times."""


class StoredGovernor(NamedTuple):
    """The governor as last read or written; `version` is 0 if it is not stored yet."""

    governor: Governor
    version: int = 0
    token: str = ""


def renew(
    workspace: str, provider: str, limits: Limits, report: WorkerReport, now: float, last: StoredGovernor | None = None
) -> StoredGovernor:
    """Apply a worker's report; its lease in the result says what it may do. `last`, if still current, saves a read."""
    return _change(workspace, provider, lambda governor: after_report(governor, limits, report, now), last)


def leave(
    workspace: str, provider: str, limits: Limits, report: WorkerReport, now: float, last: StoredGovernor | None
) -> None:
    """Apply a worker's last report and end its lease."""
    _change(workspace, provider, lambda governor: after_leave(governor, limits, report, now), last)


def set_paused(workspace: str, provider: str, paused: bool) -> None:
    """Pause or resume an account. While it is paused no call starts; those in flight complete."""
    now = utc_now().timestamp()

    def change(governor: Governor) -> Governor:
        if paused is (governor.paused_at is not None):
            return governor
        return replace(governor, paused_at=now if paused else None)

    _change(workspace, provider, change)


def reset_learned_state(workspace: str, provider: str) -> None:
    """Reset breakers, the learned limit and any block, after the account's settings were changed."""

    def change(governor: Governor) -> Governor:
        return replace(governor, breakers={}, learned=None, blocked_until=0.0)

    _change(workspace, provider, change)


def get_status(workspace: str, provider: str) -> ProviderStatus:
    """The account's current status."""
    return _status(_read(workspace, provider).governor, utc_now())


def _status(governor: Governor, now: datetime) -> ProviderStatus:
    seconds = now.timestamp()
    suspended = [(model, breaker) for model, breaker in sorted(governor.breakers.items()) if breaker.is_open]
    learned = governor.limit and effective_limit(governor, governor.limit)
    return ProviderStatus(
        paused=governor.paused_at is not None,
        blocked_until=_moment(governor.blocked_until) if governor.blocked_until > seconds else None,
        limit=governor.limit,
        learned_limit=learned if learned != governor.limit else None,
        workers=len(governor.live_leases(seconds)),
        suspended_models=tuple(
            SuspendedModel(model, _moment(breaker.until), breaker.reason) for model, breaker in suspended
        ),
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _change(
    workspace: str, provider: str, change: Callable[[Governor], Governor], last: StoredGovernor | None = None
) -> StoredGovernor:
    """Apply `change` to the current governor; if another worker wrote first, to what that worker wrote."""
    token = uuid.uuid4().hex
    current = last or _read(workspace, provider)
    for _ in range(_MAX_ATTEMPTS):
        changed = StoredGovernor(change(current.governor), current.version + 1, token)
        if changed.governor == current.governor:
            return current
        newer = _write(workspace, provider, changed)
        if newer is None or newer.token == token:
            return changed
        current = newer
    raise RetryableError("the governor is being changed by other workers; try again")


def _read(workspace: str, provider: str) -> StoredGovernor:
    response = dynamodb().get_item(TableName=settings().table_name, Key=_key(workspace, provider), ConsistentRead=True)
    return _from_item(response.get("Item"))


def _write(workspace: str, provider: str, changed: StoredGovernor) -> StoredGovernor | None:
    """None if it was written, else the stored governor. A retry after a lost response finds its own token there."""
    client = dynamodb()
    try:
        client.put_item(
            TableName=settings().table_name,
            Item={
                **_key(workspace, provider),
                "version": {"N": str(changed.version)},
                "token": {"S": changed.token},
                "body": {"S": orjson.dumps(_to_json(changed.governor)).decode()},
            },
            ConditionExpression="attribute_not_exists(pk) OR version = :before",
            ExpressionAttributeValues={":before": {"N": str(changed.version - 1)}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        item = error.response.get("Item")
        return _from_item(item) if item else _read(workspace, provider)
    return None


def _key(workspace: str, provider: str) -> dict[str, Any]:
    return {"pk": {"S": keys.governor(workspace)}, "sk": {"S": provider}}


def _from_item(item: Any) -> StoredGovernor:
    if not item:
        return StoredGovernor(Governor())
    return StoredGovernor(_from_json(orjson.loads(item["body"]["S"])), int(item["version"]["N"]), item["token"]["S"])


def _to_json(governor: Governor) -> dict[str, Any]:
    """The stored names are those of the first version: `seats` are leases, `wanted` is demand, `held` is reserved."""
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
        "seats": {worker_id: _lease_to_json(lease) for worker_id, lease in governor.leases.items()},
        "breakers": {model: asdict(breaker) for model, breaker in governor.breakers.items()},
    }


def _lease_to_json(lease: WorkerLease) -> dict[str, Any]:
    return {
        "priority": lease.priority,
        "wanted": lease.demand,
        "until": lease.until,
        "share": lease.share,
        "granted": lease.granted,
        "held": lease.reserved,
        "requests": lease.requests,
        "tokens": lease.tokens,
    }


def _from_json(body: dict[str, Any]) -> Governor:
    return Governor(
        limit=body["limit"],
        learned=body["learned"],
        recent=RecentCalls(**body.get("recent", {})),
        lowered_at=body["lowered_at"],
        raised_at=body["raised_at"],
        blocked_until=body["blocked_until"],
        paused_at=body["paused_at"],
        requests=TokenBucket(**body["requests"]) if body["requests"] else None,
        tokens=TokenBucket(**body["tokens"]) if body["tokens"] else None,
        leases={worker_id: _lease_from_json(lease) for worker_id, lease in body["seats"].items()},
        breakers={model: Breaker(**breaker) for model, breaker in body["breakers"].items()},
    )


def _lease_from_json(body: dict[str, Any]) -> WorkerLease:
    return WorkerLease(
        priority=Priority(body["priority"]),
        demand=body["wanted"],
        until=body["until"],
        share=body["share"],
        granted=body["granted"],
        reserved=body["held"],
        requests=body["requests"],
        tokens=body["tokens"],
    )
