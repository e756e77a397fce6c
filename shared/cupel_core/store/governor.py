"""A provider account's governor: one item, which every worker of the account rewrites in turn under its version.

Paid once per slice and every two seconds, never per call: at 100 workers that is 50 writes/s of an item's 1,000.
"""

import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from cupel_core.clock import utc_now
from cupel_core.domain.limits.breaker import Breaker
from cupel_core.domain.limits.governor import Governor, Limits, Report, Seat, effective_limit, left, renewed
from cupel_core.domain.limits.token_bucket import Meter
from cupel_core.domain.runs.run import Priority
from cupel_core.errors import RetryableError
from cupel_core.settings import settings
from cupel_core.store import keys
from cupel_core.store.clients import dynamodb

_ROUNDS = 20
"""With n workers that write at the same time, the last of them is refused n - 1 times."""


class HeldModel(NamedTuple):
    """A model whose breaker is open: none of its probes begins before `until`, and then one may try."""

    model: str
    until: datetime
    reason: str


@dataclass(frozen=True)
class ProviderStanding:
    """How an account stands now. `limit` is None until a worker has come, `learned_limit` while none is learned."""

    paused: bool = False
    blocked_until: datetime | None = None
    limit: int | None = None
    learned_limit: int | None = None
    workers: int = 0
    held_models: tuple[HeldModel, ...] = ()


class Stored(NamedTuple):
    """The governor as it was last read or written; `version` 0 is not stored yet."""

    governor: Governor
    version: int = 0
    token: str = ""


def renew(
    workspace: str, provider: str, limits: Limits, report: Report, now: float, last: Stored | None = None
) -> Stored:
    """Takes a worker's report; its seat in the answer says what it may do. `last` saves the read when still true."""
    return _change(workspace, provider, lambda governor: renewed(governor, limits, report, now), last)


def leave(workspace: str, provider: str, limits: Limits, report: Report, now: float, last: Stored | None) -> None:
    """Takes a worker's last report and gives its part back."""
    _change(workspace, provider, lambda governor: left(governor, limits, report, now), last)


def set_paused(workspace: str, provider: str, paused: bool) -> None:
    """A paused account begins nothing new; what is in flight completes."""
    now = utc_now().timestamp()

    def change(governor: Governor) -> Governor:
        if paused is (governor.paused_at is not None):
            return governor
        return replace(governor, paused_at=now if paused else None)

    _change(workspace, provider, change)


def forget_faults(workspace: str, provider: str) -> None:
    """For an account that was set anew: what was learned of the old settings may not hold."""

    def change(governor: Governor) -> Governor:
        return replace(governor, breakers={}, learned=None, blocked_until=0.0)

    _change(workspace, provider, change)


def standing(workspace: str, provider: str) -> ProviderStanding:
    return _standing(_read(workspace, provider).governor, utc_now())


def _standing(governor: Governor, now: datetime) -> ProviderStanding:
    at = now.timestamp()
    held = [(model, breaker) for model, breaker in sorted(governor.breakers.items()) if breaker.is_open]
    learned = governor.limit and effective_limit(governor, governor.limit)
    return ProviderStanding(
        paused=governor.paused_at is not None,
        blocked_until=_moment(governor.blocked_until) if governor.blocked_until > at else None,
        limit=governor.limit,
        learned_limit=learned if learned != governor.limit else None,
        workers=len(governor.live(at)),
        held_models=tuple(HeldModel(model, _moment(breaker.until), breaker.reason) for model, breaker in held),
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _change(
    workspace: str, provider: str, change: Callable[[Governor], Governor], last: Stored | None = None
) -> Stored:
    """Applies `change` to what is there; when somebody else was faster, to what they wrote."""
    token = uuid.uuid4().hex
    found = last or _read(workspace, provider)
    for _ in range(_ROUNDS):
        changed = Stored(change(found.governor), found.version + 1, token)
        if changed.governor == found.governor:
            return found
        other = _write(workspace, provider, changed)
        if other is None or other.token == token:
            return changed
        found = other
    raise RetryableError("the governor is being changed by others; try again")


def _read(workspace: str, provider: str) -> Stored:
    answer = dynamodb().get_item(TableName=settings().table_name, Key=_key(workspace, provider), ConsistentRead=True)
    return _stored(answer.get("Item"))


def _write(workspace: str, provider: str, changed: Stored) -> Stored | None:
    """None when it was written; else what is there instead. A write whose reply was lost meets its own token."""
    client = dynamodb()
    try:
        client.put_item(
            TableName=settings().table_name,
            Item={
                **_key(workspace, provider),
                "version": {"N": str(changed.version)},
                "token": {"S": changed.token},
                "body": {"S": orjson.dumps(asdict(changed.governor)).decode()},
            },
            ConditionExpression="attribute_not_exists(pk) OR version = :before",
            ExpressionAttributeValues={":before": {"N": str(changed.version - 1)}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        item = error.response.get("Item")
        return _stored(item) if item else _read(workspace, provider)
    return None


def _key(workspace: str, provider: str) -> dict[str, Any]:
    return {"pk": {"S": keys.governor(workspace)}, "sk": {"S": provider}}


def _stored(item: Any) -> Stored:
    if not item:
        return Stored(Governor())
    return Stored(_governor(orjson.loads(item["body"]["S"])), int(item["version"]["N"]), item["token"]["S"])


def _governor(body: dict[str, Any]) -> Governor:
    seats = {
        worker_id: Seat(**{**seat, "priority": Priority(seat["priority"])}) for worker_id, seat in body["seats"].items()
    }
    breakers = {model: Breaker(**breaker) for model, breaker in body["breakers"].items()}
    meters = {name: Meter(**body[name]) if body[name] else None for name in ("requests", "tokens")}
    return Governor(**{**body, **meters, "seats": seats, "breakers": breakers})
