"""The governor's item: concurrent writes, and the status the API shows."""

import time
import uuid
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import TRIAL_SECONDS, CallRecord
from cupel_core.domain.limits.governor import INTERACTIVE_SECONDS, Limits, WorkerReport, renew_interval_seconds
from cupel_core.domain.limits.provider_status import ProviderStatus
from cupel_core.domain.runs.run import Priority
from cupel_core.store import clients, governor
from cupel_core.store.governor import StoredGovernor
from cupel_core.store.settings import Settings

LIMITS = Limits(50, requests_per_minute=6_000, tokens_per_minute=100_000)


def report(worker_id: str, demand: int = 25, calls: tuple[CallRecord, ...] = ()) -> WorkerReport:
    return WorkerReport(worker_id, Priority.NORMAL, demand, 0, calls=calls)


def renew(worker_id: str, last: StoredGovernor | None = None, calls: tuple[CallRecord, ...] = ()) -> StoredGovernor:
    return governor.renew("ws_a", "openai", LIMITS, report(worker_id, calls=calls), time.time(), last)


def refused(model: str = "openai/typo") -> tuple[CallRecord, ...]:
    return (CallRecord(model, ProbeErrorCode.AUTH, 1.0),) * 5


def test_what_is_written_is_read(cloud: Settings) -> None:
    written = renew("a", calls=refused())
    assert renew("b").value.leases["a"] == replace(written.value.leases["a"], share=0)
    assert renew("b").value.breakers == written.value.breakers


def test_interactive_workers_are_stored_while_there_are_some(cloud: Settings) -> None:
    assert renew("a").value.interactive_until == 0
    person, now = replace(report("b"), is_interactive=True), time.time()
    governor.renew("ws_a", "openai", LIMITS, person, now)
    read = renew("a").value
    assert (read.interactive, read.interactive_until) == ({"b"}, now + INTERACTIVE_SECONDS)


def test_a_worker_with_a_stale_copy_applies_its_report_to_the_current_one(cloud: Settings) -> None:
    first = renew("a")
    renew("b")
    third = renew("a", last=first)
    assert third.value.leases.keys() == {"a", "b"}
    assert third.version == 3


def test_a_hundred_workers_use_fewer_than_200_write_units_a_second(cloud: Settings) -> None:
    """Every third write is refused, because another worker writes between this one's read and its write."""
    events, units, is_nested = clients.dynamodb().meta.events, list[int](), list[bool]()
    limits, workers = Limits(200, 6_000, 1_000_000), [uuid.uuid4().hex[:12] for _ in range(100)]

    def write_in_between(params: dict[str, Any], **_: object) -> None:
        units.append(-(-item_bytes(params["Item"]) // 1_024))
        if len(units) % 3 == 0 and not is_nested:
            is_nested.append(True)
            governor.set_paused("ws_a", "openai", governor.get_status("ws_a", "openai").paused is False)
            is_nested.clear()
            units.pop()  # The write in between is a renewal that is counted itself.

    now = 1_800_000_000.0
    for worker_id in workers:
        governor.renew("ws_a", "openai", limits, report(worker_id, demand=2), now)
    events.register("provide-client-params.dynamodb.PutItem", write_in_between)
    try:
        for worker_id in workers:
            now += renew_interval_seconds(len(workers)) / len(workers)
            stored = governor.renew("ws_a", "openai", limits, report(worker_id, demand=2, calls=refused()), now)
    finally:
        events.unregister("provide-client-params.dynamodb.PutItem", write_in_between)
    assert len(stored.value.live_leases(now)) == len(workers)
    assert len(units) > 1.2 * len(workers)
    assert sum(units) / renew_interval_seconds(len(workers)) < 200


def item_bytes(item: dict[str, Any]) -> int:
    return sum(len(name) + len(str(next(iter(value.values()))).encode()) for name, value in item.items())


def test_a_worker_that_is_alone_needs_no_read(cloud: Settings) -> None:
    first, reads, events = renew("a"), list[object](), clients.dynamodb().meta.events

    def count_read(**_: object) -> None:
        reads.append(1)

    events.register("provide-client-params.dynamodb.GetItem", count_read)
    try:
        renew("a", last=first)
    finally:
        events.unregister("provide-client-params.dynamodb.GetItem", count_read)
    assert reads == []


def test_accounts_of_two_workspaces_share_nothing(cloud: Settings) -> None:
    renew("a")
    other = governor.renew("ws_b", "openai", LIMITS, report("b", demand=50), time.time())
    assert other.value.leases["b"].granted == 50


def test_a_write_whose_response_was_lost_counts_once(cloud: Settings) -> None:
    """botocore retries the request, which finds its own write."""
    events, sent = clients.dynamodb().meta.events, list[dict[str, Any]]()

    def write_before(params: dict[str, Any], **_: object) -> None:
        sent.append(params)
        if len(sent) == 1:
            clients.dynamodb().put_item(**params)

    events.register("provide-client-params.dynamodb.PutItem", write_before)
    try:
        stored = renew("a", calls=(CallRecord("openai/m", ProbeErrorCode.AUTH, 1.0),) * 4)
    finally:
        events.unregister("provide-client-params.dynamodb.PutItem", write_before)
    assert (len(sent), stored.version) == (2, 1)
    assert not stored.value.breakers["openai/m"].is_open


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
    assert governor.get_status("ws_a", "openai") == ProviderStatus()


def test_an_unused_account_is_idle(cloud: Settings) -> None:
    assert governor.get_status("ws_a", "openai") == ProviderStatus()


def test_an_account_is_paused_and_resumed(cloud: Settings) -> None:
    governor.set_paused("ws_a", "openai", True)
    governor.set_paused("ws_a", "openai", True)
    assert governor.get_status("ws_a", "openai").paused
    assert renew("a").value.paused_at is not None
    governor.set_paused("ws_a", "openai", False)
    assert not governor.get_status("ws_a", "openai").paused


def test_a_status_has_what_each_priority_demands_and_what_chats_leave(cloud: Settings) -> None:
    renew("a")
    renew("b")
    high = replace(report("c", 30), priority=Priority.HIGH)
    governor.renew("ws_a", "openai", LIMITS, high, time.time())
    status = governor.get_status("ws_a", "openai")
    assert (status.slots, status.demands) == (50, {Priority.NORMAL: 50, Priority.HIGH: 30})
    governor.renew("ws_a", "openai", LIMITS, replace(high, worker_id="d", demand=2, is_interactive=True), time.time())
    assert governor.get_status("ws_a", "openai").slots == 47, "of five reserved slots, chats demand two"


def test_the_demand_of_a_dead_worker_is_not_counted(cloud: Settings) -> None:
    governor.renew("ws_a", "openai", LIMITS, report("a"), time.time() - 60)
    assert governor.get_status("ws_a", "openai").demands == {}


def test_a_status_has_limits_workers_and_suspended_models(cloud: Settings) -> None:
    throttled = (CallRecord("openai/m", ProbeErrorCode.RATE_LIMITED, 1.0),) * 5
    renew("a", calls=(*refused(), *throttled))
    status = governor.get_status("ws_a", "openai")
    assert (status.limit, status.workers) == (50, 1)
    assert status.learned_limit is not None
    assert [(suspended.model, "auth" in suspended.reason) for suspended in status.suspended_models] == [
        ("openai/m", False),
        ("openai/typo", True),
    ]


def test_a_model_is_not_suspended_once_its_next_call_is_let_through(cloud: Settings) -> None:
    renew("a", calls=refused())
    [suspended] = governor.get_status("ws_a", "openai").suspended_models
    assert suspended.until > utc_now()
    governor.renew("ws_a", "openai", LIMITS, report("a", calls=refused("openai/older")), time.time() - 3_600)
    assert governor.get_status("ws_a", "openai").suspended_models == (suspended,)


def test_a_model_is_suspended_for_others_while_a_worker_tries_it(cloud: Settings) -> None:
    now = time.time()
    governor.renew("ws_a", "openai", LIMITS, report("a", calls=refused()), now - 3_600)
    assert governor.get_status("ws_a", "openai").suspended_models == ()
    asking = replace(report("a"), models=frozenset({"openai/typo"}))
    governor.renew("ws_a", "openai", LIMITS, asking, now)
    [trial] = governor.get_status("ws_a", "openai").suspended_models
    assert trial.until.timestamp() == pytest.approx(now + TRIAL_SECONDS)


def test_new_settings_reset_the_breakers(cloud: Settings) -> None:
    renew("a", calls=refused())
    accounts.update_provider("ws_a", "openai", {"max_parallel_requests": 10})
    assert governor.get_status("ws_a", "openai").suspended_models == ()


def test_a_worker_that_leaves_ends_its_lease(cloud: Settings) -> None:
    stored = renew("a")
    governor.leave("ws_a", "openai", LIMITS, report("a"), time.time(), stored)
    assert governor.get_status("ws_a", "openai").workers == 0
