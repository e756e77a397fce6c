"""Calls of webhooks: what is sent, in which order, and what becomes of calls that fail."""

from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from botocore.exceptions import ClientError

from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.messages import ProbeCallback, RunCallback, parse_callback
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.resources.webhooks import CallbackRecord, CallbackScope, CallbackStatus
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Run, RunEventType
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.runs.record_outcomes import record, record_unreported
from cupel_core.store import callback_log, callbacks, outcomes, queues, runs, webhooks
from cupel_core.store.callbacks import CallbackItem
from cupel_core.store.settings import settings
from cupel_core.workspace.sweeping.callback_recovery import resend_lost_callbacks
from cupel_core.workspace.webhooks import calls
from cupel_core.workspace.webhooks.delivery import Step, deliver_events, deliver_probes
from tests.started_runs import NOW, RunSetup, receive_bodies, ref_of
from tests.unit.workspace.webhooks.conftest import SECRET, WORKSPACE, set_webhook
from tests.unit.workspace.webhooks.receivers import Receiver


def start_run(scope: CallbackScope = CallbackScope.RUNS) -> Run:
    """A run that calls the webhook; started now, because calls about what is a day old are not repeated."""
    return RunSetup(callbacks=scope, created_at=utc_now()).start()


def seconds_left() -> float:
    return 60.0


def message(run: Run) -> RunCallback:
    return RunCallback(workspace=run.workspace, run_id=run.id)


async def deliver(run: Run) -> Step:
    return await deliver_events(message(run), seconds_left)


def make_due(run: Run) -> None:
    """As if the time until the next attempt had passed."""
    CallbackItem.of_run(ref_of(run)).update(actions=[CallbackItem.due_at.set(to_iso(NOW))])
    webhook = webhooks.find(WORKSPACE)
    assert webhook is not None
    webhooks.set_failures(WORKSPACE, webhook, webhook.failures, None)


def log() -> list[CallbackRecord]:
    return list(callback_log.list_records(WORKSPACE, 100, None, utc_now()).items)


def sent_messages() -> list[RunCallback | ProbeCallback]:
    return [parse_callback(body) for body in receive_bodies(settings().notify_queue_url)]


def probe_errors(run: Run, indexes: list[int]) -> list[ProbeError]:
    now, code = utc_now(), ProbeErrorCode.TIMEOUT
    return [ProbeError(index, f"scn_{index}", "sim/steady", code, "PRIVATE", 1, now) for index in indexes]


async def test_the_status_changes_of_a_run_arrive_in_order(receiver: Receiver) -> None:
    run = start_run()
    runs.transition(ref_of(run), Action.START, NOW)
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    assert await deliver(run) is Step.DELIVERED
    assert receiver.types == ["run.created", "run.started", "run.cancelled"]
    assert [each.body["data"]["seq"] for each in receiver.received] == [1, 2, 3]  # type: ignore[index]


async def test_every_call_is_signed(receiver: Receiver) -> None:
    await deliver(start_run())
    assert [each.is_signed_with(SECRET) for each in receiver.received] == [True]
    assert abs(int(receiver.received[0].headers["webhook-timestamp"]) - utc_now().timestamp()) < 60


async def test_what_was_delivered_is_not_sent_again(receiver: Receiver) -> None:
    run = start_run()
    await deliver(run)
    assert await deliver(run) is Step.NOTHING
    runs.transition(ref_of(run), Action.START, NOW)
    await deliver(run)
    assert receiver.types == ["run.created", "run.started"]


async def test_events_that_are_no_status_changes_are_not_sent(receiver: Receiver) -> None:
    run = start_run()
    runs.append_event(ref_of(run), RunEventType.RECOVERED, NOW, {"action": "redispatched"})
    assert await deliver(run) is Step.DELIVERED
    assert receiver.types == ["run.created"]


async def test_a_transition_sends_a_message(receiver: Receiver) -> None:
    run = start_run()
    runs.transition(ref_of(run), Action.START, NOW)
    assert sent_messages() == [message(run), message(run)]


async def test_a_run_without_callbacks_sends_no_message_and_writes_no_row(receiver: Receiver) -> None:
    run = RunSetup().start()
    runs.transition(ref_of(run), Action.START, NOW)
    assert sent_messages() == []
    assert list(callbacks.list_due_before(utc_now())) == []


async def test_after_an_outage_everything_arrives_in_order(receiver: Receiver) -> None:
    run = start_run()
    receiver.respond(503)
    assert await deliver(run) is Step.POSTPONED
    runs.transition(ref_of(run), Action.START, NOW)
    assert await deliver(run) is Step.NOTHING  # Not due yet, so the new message starts no call.
    receiver.received.clear()
    receiver.respond(200)
    make_due(run)
    assert await deliver(run) is Step.DELIVERED
    assert receiver.types == ["run.created", "run.started"]


async def test_every_attempt_of_a_call_has_the_same_id(receiver: Receiver) -> None:
    run = start_run()
    receiver.respond(500)
    await deliver(run)
    make_due(run)
    await deliver(run)
    assert [each.id for each in receiver.received] == [f"{run.id}.1", f"{run.id}.1"]


async def test_the_log_says_why_a_call_failed_and_when_the_next_follows(receiver: Receiver) -> None:
    run = start_run()
    receiver.respond(500)
    await deliver(run)
    (entry,) = log()
    assert (entry.status, entry.attempts, entry.http_status) == (CallbackStatus.RETRYING, 1, 500)
    assert entry.error == "the receiver answered 500"
    assert entry.next_attempt_at is not None
    assert entry.next_attempt_at > entry.attempted_at


async def test_a_later_success_replaces_the_failure_in_the_log(receiver: Receiver) -> None:
    run = start_run()
    receiver.respond(500)
    await deliver(run)
    make_due(run)
    receiver.respond(200)
    await deliver(run)
    (entry,) = log()
    assert (entry.status, entry.attempts, entry.error) == (CallbackStatus.DELIVERED, 2, None)


async def test_an_event_that_is_a_day_old_is_given_up_and_the_next_follows(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cupel_core.workspace.webhooks.delivery.GIVE_UP_AFTER", timedelta(0))
    run = start_run()
    runs.transition(ref_of(run), Action.START, NOW)
    receiver.respond(500)
    assert await deliver(run) is Step.DELIVERED
    assert receiver.types == ["run.created", "run.started"]
    assert {entry.status for entry in log()} == {CallbackStatus.GIVEN_UP}


async def test_five_failures_in_a_row_suspend_the_webhook(receiver: Receiver) -> None:
    receiver.respond(500)
    for run in [start_run() for _ in range(6)]:
        assert await deliver(run) is Step.POSTPONED
    assert len(receiver.received) == 5
    webhook = webhooks.find(WORKSPACE)
    assert webhook is not None
    assert webhook.is_suspended(utc_now())


async def test_a_success_ends_the_count_of_failures(receiver: Receiver) -> None:
    receiver.respond(500)
    run = start_run()
    await deliver(run)
    receiver.respond(200)
    make_due(run)
    await deliver(run)
    webhook = webhooks.find(WORKSPACE)
    assert webhook is not None
    assert webhook.failures == 0


async def test_410_disables_the_webhook(receiver: Receiver) -> None:
    run, other = start_run(), start_run()
    receiver.respond(410)
    await deliver(run)
    await deliver(other)
    webhook = webhooks.find(WORKSPACE)
    assert webhook is not None
    assert (webhook.enabled, webhook.disabled_reason) == (False, "the receiver answered 410 (gone)")
    assert len(receiver.received) == 1


async def test_a_redirect_is_not_followed_and_counts_as_a_failure(receiver: Receiver) -> None:
    receiver.respond(307, {"location": receiver.url})
    assert await deliver(start_run()) is Step.POSTPONED
    assert len(receiver.received) == 1
    assert log()[0].http_status == 307


async def test_a_receiver_that_does_not_answer_is_a_failure(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "TIMEOUT_SECONDS", 0.0)
    assert await deliver(start_run()) is Step.POSTPONED
    assert log()[0].error == "no response from 127.0.0.1 within 0 s"


async def test_the_body_of_an_answer_is_not_read(receiver: Receiver) -> None:
    receiver.answer = lambda _: web.Response(body=b"x" * 50_000_000)
    assert await deliver(start_run()) is Step.DELIVERED


async def test_a_private_address_is_refused(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_ENDPOINTS", "false")
    settings.cache_clear()
    assert await deliver(start_run()) is Step.POSTPONED
    assert receiver.received == []
    assert "private network" in (log()[0].error or "")


async def test_runs_of_a_disabled_webhook_are_not_reported(receiver: Receiver) -> None:
    run = start_run()
    set_webhook(receiver.url, enabled=False)
    assert await deliver(run) is Step.NOTHING
    assert receiver.received == []


async def test_a_deleted_run_is_not_reported(receiver: Receiver) -> None:
    run = start_run()
    runs.delete(ref_of(run), NOW, erase_from=NOW)
    assert await deliver(run) is Step.NOTHING
    assert list(callbacks.list_due_before(utc_now())) == []


async def test_near_the_end_of_the_invocation_the_rest_is_requeued(receiver: Receiver) -> None:
    run = start_run()
    sent_messages()
    assert await deliver_events(message(run), lambda: 1.0) is Step.POSTPONED
    assert receiver.received == []
    assert queues.get_depth(settings().notify_queue_url).delayed == 1


async def test_an_event_during_delivery_is_delivered_too(receiver: Receiver) -> None:
    run = start_run()

    def answer(received: Any) -> Any:
        if received.body["type"] == "run.created":
            runs.transition(ref_of(run), Action.START, NOW)
        return web.Response()

    receiver.answer = answer
    assert await deliver(run) is Step.DELIVERED
    assert receiver.types == ["run.created", "run.started"]


async def test_the_sweeper_sends_a_lost_message_again(receiver: Receiver) -> None:
    run = start_run()
    sent_messages()
    assert resend_lost_callbacks(utc_now() + timedelta(minutes=3), seconds_left) == 1
    assert sent_messages() == [message(run)]


async def test_a_lost_message_that_cannot_be_sent_keeps_no_other_waiting(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = [start_run(), start_run()]
    sent_messages()
    send, refused = callbacks.send, ref_of(min(started, key=lambda run: run.id))

    def fail_for_one(message: RunCallback, delay_seconds: int = 0) -> None:
        if message.run_id == refused.run_id:
            raise ClientError({"Error": {"Code": "ServiceUnavailable"}}, "SendMessageBatch")
        send(message, delay_seconds)

    monkeypatch.setattr(callbacks, "send", fail_for_one)
    assert resend_lost_callbacks(utc_now() + timedelta(minutes=3), seconds_left) == 1


async def test_the_sweeper_leaves_a_claimed_row_alone(receiver: Receiver) -> None:
    run = start_run()
    now = utc_now()
    callbacks.claim(ref_of(run), now, now + timedelta(seconds=60))
    assert resend_lost_callbacks(now + timedelta(minutes=2), seconds_left) == 0


async def test_of_two_concurrent_consumers_one_claims_the_row(receiver: Receiver) -> None:
    run = start_run()
    now = utc_now()
    assert callbacks.claim(ref_of(run), now, now + timedelta(seconds=60)) is not None
    assert callbacks.claim(ref_of(run), now, now + timedelta(seconds=60)) is None


async def test_finished_probes_are_reported_in_one_call(receiver: Receiver) -> None:
    run = start_run(CallbackScope.PROBES)
    sent_messages()
    record(run, 1, probe_errors(run, [0, 1, 2]))
    (callback,) = sent_messages()
    assert isinstance(callback, ProbeCallback)
    assert await deliver_probes(callback) is Step.DELIVERED
    (received,) = receiver.received
    assert received.is_signed_with(SECRET)
    data: Any = received.body["data"]
    assert [(probe["id"], probe["status"], probe["errorCode"]) for probe in data["probes"]] == [
        (f"{run.id}-{index}", "ERROR", "timeout") for index in range(3)
    ]
    assert b"PRIVATE" not in received.content


async def test_probes_are_reported_once_their_leaf_names_them(receiver: Receiver) -> None:
    run = start_run(CallbackScope.PROBES)
    sent_messages()
    callbacks.request_for_probes(ref_of(run), [0], utc_now())
    (callback,) = sent_messages()
    assert isinstance(callback, ProbeCallback)
    assert await deliver_probes(callback) is Step.POSTPONED
    assert receiver.received == []
    record(run, 1, probe_errors(run, [0]))
    assert await deliver_probes(callback) is Step.DELIVERED


async def test_probes_are_not_reported_unless_requested(receiver: Receiver) -> None:
    run = start_run(CallbackScope.RUNS)
    sent_messages()
    record(run, 1, probe_errors(run, [0]))
    assert sent_messages() == []


async def test_outcomes_found_by_a_redelivery_are_reported_again(receiver: Receiver) -> None:
    """The worker that recorded them may have died before it requested the call."""
    run = start_run(CallbackScope.PROBES)
    outcomes.write(ref_of(run), 1, probe_errors(run, [0]))
    sent_messages()
    record_unreported(run, 1, Node(0, 0))
    (callback,) = sent_messages()
    assert isinstance(callback, ProbeCallback)
    assert callback.indexes == [0]


async def test_a_failed_call_for_probes_is_requeued_with_the_same_id(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(CallbackScope.PROBES)
    record(run, 1, probe_errors(run, [0]))
    callback = next(each for each in sent_messages() if isinstance(each, ProbeCallback))
    sent: list[tuple[RunCallback, int]] = []
    monkeypatch.setattr(callbacks, "send", lambda message, delay=0: sent.append((message, delay)))
    receiver.respond(500)
    assert await deliver_probes(callback) is Step.POSTPONED
    ((requeued, delay),) = sent
    assert requeued == callback.model_copy(update={"attempts": 1})
    assert 5 <= delay <= 7
