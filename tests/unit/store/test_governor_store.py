"""The governor's item: who wins when several write, and what an API may show of it."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from cupel_core import accounts
from cupel_core.domain.limits.breaker import Call
from cupel_core.domain.limits.governor import Limits, Report
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.settings import Settings
from cupel_core.store import clients, governor
from cupel_core.store.governor import ProviderStanding, Stored

LIMITS = Limits(50, requests_per_minute=6_000, tokens_per_minute=100_000)


def report(worker_id: str, wanted: int = 25, calls: tuple[Call, ...] = ()) -> Report:
    return Report(worker_id, Priority.NORMAL, wanted, 0, calls=calls)


def renew(worker_id: str, last: Stored | None = None, calls: tuple[Call, ...] = ()) -> Stored:
    return governor.renew("ws_a", "openai", LIMITS, report(worker_id, calls=calls), time.time(), last)


def refused(model: str = "openai/typo") -> tuple[Call, ...]:
    return (Call(model, ErrorCode.AUTH, 1.0),) * 5


def test_what_is_written_is_read(cloud: Settings) -> None:
    written = renew("a", calls=refused())
    assert renew("b").governor.seats["a"] == written.governor.seats["a"]
    assert renew("b").governor.breakers == written.governor.breakers


def test_a_worker_whose_sight_is_old_applies_its_report_to_the_new(cloud: Settings) -> None:
    first = renew("a")
    renew("b")
    third = renew("a", last=first)
    assert third.governor.seats.keys() == {"a", "b"}
    assert third.version == 3


def test_accounts_of_two_workspaces_share_nothing(cloud: Settings) -> None:
    renew("a")
    other = governor.renew("ws_b", "openai", LIMITS, report("b", wanted=50), time.time())
    assert other.governor.seats["b"].granted == 50


def test_a_write_whose_reply_was_lost_counts_once(cloud: Settings) -> None:
    """botocore sends the same request again, which meets what it wrote itself."""
    events, sent = clients.dynamodb().meta.events, list[dict[str, Any]]()

    def write_before(params: dict[str, Any], **_: object) -> None:
        sent.append(params)
        if len(sent) == 1:
            clients.dynamodb().put_item(**params)

    events.register("provide-client-params.dynamodb.PutItem", write_before)
    try:
        stored = renew("a", calls=(Call("openai/m", ErrorCode.AUTH, 1.0),) * 4)
    finally:
        events.unregister("provide-client-params.dynamodb.PutItem", write_before)
    assert (len(sent), stored.version) == (2, 1)
    assert not stored.governor.breakers["openai/m"].is_open


def test_a_call_that_fails_changes_nothing(cloud: Settings) -> None:
    meta = clients.dynamodb().meta.events

    def fail(**_: object) -> None:
        raise ConnectionClosedError(endpoint_url="http://localhost")

    meta.register("before-call.dynamodb.PutItem", fail)
    try:
        with pytest.raises(ConnectionClosedError):
            renew("a")
    finally:
        meta.unregister("before-call.dynamodb.PutItem", fail)
    assert governor.standing("ws_a", "openai") == ProviderStanding()


def test_an_account_nobody_used_stands_idle(cloud: Settings) -> None:
    assert governor.standing("ws_a", "openai") == ProviderStanding()


def test_pausing_is_seen_and_taken_back(cloud: Settings) -> None:
    governor.set_paused("ws_a", "openai", True)
    governor.set_paused("ws_a", "openai", True)
    assert governor.standing("ws_a", "openai").paused
    assert renew("a").governor.paused_at is not None
    governor.set_paused("ws_a", "openai", False)
    assert not governor.standing("ws_a", "openai").paused


def test_a_standing_tells_limits_workers_and_held_models(cloud: Settings) -> None:
    throttled = (Call("openai/m", ErrorCode.RATE_LIMITED, 1.0),) * 5
    renew("a", calls=(*refused(), *throttled))
    standing = governor.standing("ws_a", "openai")
    assert (standing.limit, standing.workers) == (50, 1)
    assert standing.learned_limit is not None
    assert [(held.model, "auth" in held.reason) for held in standing.held_models] == [("openai/typo", True)]
    assert standing.held_models[0].until > datetime.now(UTC)


def test_setting_the_account_anew_forgets_its_faults(cloud: Settings) -> None:
    renew("a", calls=refused())
    accounts.configure("ws_a", "openai", {"max_parallel_requests": 10})
    assert governor.standing("ws_a", "openai").held_models == ()


def test_a_worker_that_leaves_takes_its_seat_along(cloud: Settings) -> None:
    stored = renew("a")
    governor.leave("ws_a", "openai", LIMITS, report("a"), time.time(), stored)
    assert governor.standing("ws_a", "openai").workers == 0
