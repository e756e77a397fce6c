"""Runs that wait for a provider or connector go on as soon as it is repaired."""

import time

import pytest

from cupel_core import accounts
from cupel_core.clock import utc_now
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.resources.connectors import ConnectorFields
from cupel_core.domain.runs.run import Action, PauseReason, Priority, Run, RunStatus
from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.probing.refusals import pause_refused_run
from cupel_core.resources import connectors
from cupel_core.runs import control, repairs
from cupel_core.store import governor, outbox, runs
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
        interrupted.setattr(control, "resume", _interrupt)
        with pytest.raises(InterruptedError):
            repair()
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED
    repair()
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


def _interrupt(*_: object) -> None:
    raise InterruptedError


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
