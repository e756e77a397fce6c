"""Runs that wait for a provider or connector go on as soon as it is repaired."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.resources.connectors import ConnectorFields
from cupel_core.domain.runs.run import Action, PauseReason, Priority, Run, RunStatus
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.resources import connectors
from cupel_core.runs import control, repairs
from cupel_core.runs.probing.run_pauses import pause_refused_run
from cupel_core.store import governor, outbox, runs
from cupel_core.store import repairs as pending_repairs
from cupel_core.workspace.sweeping.interrupted_work import continue_repairs
from tests.started_runs import NOW, RunSetup, dispatch_request, ref_of

pytestmark = pytest.mark.usefixtures("cloud")


def refused_run(model: str = "openai/typo") -> Run:
    run = RunSetup(models=(model,)).start()
    pause_refused_run(run, model, "it refuses every call (auth): no such key")
    return runs.get(ref_of(run))


def suspend(model: str, code: ProbeErrorCode = ProbeErrorCode.TIMEOUT) -> None:
    calls = (CallRecord(model, code, time.time()),) * 20
    report = WorkerReport("w", Priority.NORMAL, demand=1, in_flight=0, calls=calls)
    governor.renew("ws_a", model.partition("/")[0], Limits(50), report, time.time())


def repair(name: str = "openai") -> None:
    repairs.update_provider("ws_a", name, {"max_parallel_requests": 10}, utc_now())


def test_a_refused_run_is_resumed_with_a_new_dispatch() -> None:
    run = refused_run()
    repair()
    resumed = runs.get(ref_of(run))
    assert (resumed.status, resumed.pause_reason, resumed.pause_cause) == (RunStatus.RUNNING, None, None)
    assert outbox.get(dispatch_request(resumed)) is not None


def test_a_run_that_waits_for_another_provider_stays_paused() -> None:
    run = refused_run()
    repair("anthropic")
    assert runs.get(ref_of(run)) == run


def test_a_run_that_a_user_paused_stays_paused() -> None:
    run = RunSetup(models=("openai/m",)).start()
    control.pause("ws_a", run.id, NOW)
    repair()
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED


def test_a_run_of_another_workspace_stays_paused() -> None:
    other = RunSetup(models=("openai/typo",), workspace="ws_ab").start()
    pause_refused_run(other, "openai/typo", "no")
    repair()
    assert runs.get(ref_of(other)).status is RunStatus.PAUSED


def test_the_delayed_messages_of_a_run_with_a_suspended_model_are_replaced() -> None:
    run = RunSetup(models=("openai/slow",)).start()
    runs.transition(ref_of(run), Action.START, NOW)
    suspend("openai/slow")
    repair()
    continued = runs.get(ref_of(run))
    assert (continued.status, continued.fencing_token) == (RunStatus.RUNNING, run.fencing_token + 2)
    assert outbox.get(dispatch_request(continued)) is not None


def test_a_run_with_a_suspended_judge_goes_on_at_once() -> None:
    run = RunSetup(judge_model="openai/slow").start()
    runs.transition(ref_of(run), Action.START, NOW)
    suspend("openai/slow")
    repair()
    assert runs.get(ref_of(run)).fencing_token == run.fencing_token + 2


def test_a_repair_that_stops_between_pause_and_resume_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunSetup(models=("openai/slow",)).start()
    runs.transition(ref_of(run), Action.START, NOW)
    suspend("openai/slow")
    with monkeypatch.context() as interrupted:
        interrupted.setattr(control, "resume_unchecked", _interrupt)
        with pytest.raises(InterruptedError):
            repair()
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED
    repair()
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


def _interrupt(*_: object, **options: object) -> None:
    raise InterruptedError


def test_a_users_pause_between_the_pause_and_the_resume_of_a_repair_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    run = running(RunSetup(models=("openai/slow",)))
    suspend("openai/slow")
    resume = control.resume_unchecked

    def resume_after_a_users_pause(run: Run, now: datetime, **options: Any) -> Run:
        control.pause(run.workspace, run.id, now)
        return resume(run, now, **options)

    monkeypatch.setattr(control, "resume_unchecked", resume_after_a_users_pause)
    repair()
    paused = runs.get(ref_of(run))
    assert (paused.status, paused.pause_reason) == (RunStatus.PAUSED, PauseReason.USER)


def test_a_refused_run_that_a_user_has_paused_too_stays_paused() -> None:
    run = refused_run()
    control.pause("ws_a", run.id, NOW)
    repair()
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED


def test_resuming_a_refused_run_that_a_user_has_paused_closes_its_breaker() -> None:
    run = refused_run("openai/slow")
    suspend("openai/slow", ProbeErrorCode.AUTH)
    control.pause("ws_a", run.id, NOW)
    control.resume("ws_a", run.id, NOW)
    assert governor.get_status("ws_a", "openai").suspended_models == ()


def test_a_request_lets_a_bounded_number_of_runs_go_on_and_the_sweeper_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repairs, "MAX_RUNS_PER_REQUEST", 2)
    refused = [refused_run() for _ in range(5)]
    repair()
    assert count_running(refused) == 2
    assert continue_repairs(utc_now(), lambda: True) == 1
    assert count_running(refused) == 5
    assert list(pending_repairs.list_due(utc_now() + timedelta(days=1))) == []


def test_without_time_the_sweeper_leaves_runs_to_its_next_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "MAX_RUNS_PER_REQUEST", 1)
    refused = [refused_run() for _ in range(5)]
    repair()
    has_time = iter([True, True, True, False])
    continue_repairs(utc_now(), lambda: next(has_time, False))
    assert count_running(refused) == 3
    continue_repairs(utc_now(), lambda: True)
    assert count_running(refused) == 5


def test_a_repair_interrupted_by_a_crash_is_continued_once_its_request_must_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = refused_run()
    with monkeypatch.context() as interrupted:
        interrupted.setattr(control, "resume_unchecked", _interrupt)
        with pytest.raises(InterruptedError):
            repair()
    assert continue_repairs(utc_now(), lambda: True) == 0
    assert continue_repairs(utc_now() + timedelta(seconds=31), lambda: True) == 1
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


def test_a_repair_that_cannot_be_continued_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "MAX_RUNS_PER_REQUEST", 0)
    first, second = refused_run(), RunSetup(models=("openai/typo",), workspace="ws_b").start()
    pause_refused_run(second, "openai/typo", "no")
    repair()
    repairs.update_provider("ws_b", "openai", {"max_parallel_requests": 10}, utc_now())
    get = runs.get

    def fail_for_first(ref: RunRef, **options: bool) -> Run:
        if ref == ref_of(first):
            raise RetryableError("throttled")
        return get(ref, **options)

    with monkeypatch.context() as failing:
        failing.setattr(runs, "get", fail_for_first)
        continue_repairs(utc_now(), lambda: True)
    assert [count_running([each]) for each in (first, second)] == [0, 1]
    continue_repairs(utc_now(), lambda: True)
    assert count_running([first]) == 1


def test_a_run_that_always_fails_keeps_no_other_run_of_its_repair_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    failing, *others = sorted((refused_run() for _ in range(3)), key=lambda run: run.id)
    get = runs.get

    def fail_for_one(ref: RunRef, **options: bool) -> Run:
        if ref == ref_of(failing):
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetItem")
        return get(ref, **options)

    with monkeypatch.context() as broken:
        broken.setattr(runs, "get", fail_for_one)
        repair()
        assert [get(ref_of(run)).status for run in others] == [RunStatus.RUNNING] * 2
        assert continue_repairs(utc_now(), lambda: True) == 0
    assert continue_repairs(utc_now(), lambda: True) == 1
    assert runs.get(ref_of(failing)).status is RunStatus.RUNNING
    assert list(pending_repairs.list_due(utc_now() + timedelta(days=1))) == []


JUDGED = Assertion("llm-rubric", value="polite", provider="openai/slow")


@pytest.mark.parametrize(
    "setup",
    [
        RunSetup(content={"assertions": [JUDGED.to_json()]}),
        RunSetup(assertions=(JUDGED,)),
        RunSetup(assertions=(Assertion("assert-set", parts=(JUDGED,)),)),
    ],
    ids=["of the definition", "of a scenario", "in a set"],
)
def test_a_run_with_a_suspended_judge_of_one_assertion_goes_on_at_once(setup: RunSetup) -> None:
    run = running(setup)
    suspend("openai/slow")
    repair()
    assert runs.get(ref_of(run)).fencing_token == run.fencing_token + 2


def running(setup: RunSetup) -> Run:
    run = setup.start()
    return runs.transition(ref_of(run), Action.START, NOW)


def count_running(started: Sequence[Run]) -> int:
    return [runs.get(ref_of(run)).status for run in started].count(RunStatus.RUNNING)


def test_a_run_without_a_suspended_model_is_left_alone() -> None:
    run = RunSetup(models=("openai/fast",)).start()
    runs.transition(ref_of(run), Action.START, NOW)
    suspend("openai/slow")
    repair()
    assert runs.get(ref_of(run)).fencing_token == run.fencing_token


def test_a_corrected_connector_resumes_its_runs_and_closes_its_breaker() -> None:
    fields: ConnectorFields = {
        "name": "Agent",
        "type": "openai",
        "base_url": "https://agent.example",
        "config": {"model": "m"},
    }
    connector = connectors.create("ws_a", {**fields, "config": {"model": "m"}}, NOW).item
    model = f"connector/{connector.id}"
    suspend(model, ProbeErrorCode.AUTH)
    run = refused_run(model)
    repairs.update_connector("ws_a", connector.id, {"base_url": "https://agent2.example"}, NOW)
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING
    assert governor.get_status("ws_a", "connector").suspended_models == ()


def test_a_cancelled_run_has_no_pause_reason() -> None:
    run = refused_run()
    cancelled = control.cancel("ws_a", run.id, NOW)
    assert (cancelled.pause_reason, cancelled.pause_cause) == (None, None)


def test_a_run_that_was_resumed_meanwhile_is_not_paused_by_a_late_worker() -> None:
    run = RunSetup(models=("openai/typo",)).start()
    control.pause("ws_a", run.id, NOW, PauseReason.USER)
    control.resume("ws_a", run.id, NOW)
    pause_refused_run(run, "openai/typo", "no")
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


def test_settings_of_a_provider_are_updated() -> None:
    repair()
    assert accounts.load_account("ws_a", "openai").max_parallel_requests == 10
