"""Rescores that stand still after a crash are restarted."""

from datetime import timedelta

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig, RescoreStatus
from cupel_core.store import executions, rescores, runs
from cupel_core.store.executions import RestartResult
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.interrupted_work import recover_rescores
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW, ref_of

LATER = NOW + timedelta(minutes=2)


@pytest.fixture
def run(cloud: Settings) -> Run:
    """With a stored rescore whose execution was never started."""
    run = AnsweredRun().completed()
    rescores.create(Rescore(run.workspace, run.id, "rsc_1", RescoreConfig(), 2, 2, 1, NOW))
    return run


def fake_executions(monkeypatch: pytest.MonkeyPatch, revival: RestartResult) -> list[tuple[RunRef, str]]:
    """The rescores whose execution was checked."""
    asked: list[tuple[RunRef, str]] = []

    def fake(ref: RunRef, scoring_id: str) -> RestartResult:
        asked.append((ref, scoring_id))
        return revival

    monkeypatch.setattr(executions, "ensure_rescore_running", fake)
    return asked


def test_a_rescore_that_was_never_started_is_started(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake_executions(monkeypatch, RestartResult.STARTED)
    assert recover_rescores(LATER, lambda: 60.0) == 1
    assert asked == [(ref_of(run), "rsc_1")]


def test_a_rescore_with_a_running_execution_is_left_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_executions(monkeypatch, RestartResult.ALREADY_RUNNING)
    assert recover_rescores(LATER, lambda: 60.0) == 0


def test_a_new_rescore_is_left_to_its_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake_executions(monkeypatch, RestartResult.STARTED)
    assert recover_rescores(NOW + timedelta(seconds=30), lambda: 60.0) == 0
    assert asked == []


def test_a_rescore_whose_executions_keep_dying_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_executions(monkeypatch, RestartResult.GIVEN_UP)
    assert recover_rescores(LATER, lambda: 60.0) == 1
    ended = rescores.get(ref_of(run), "rsc_1")
    assert ended.status is RescoreStatus.FAILED
    assert ended.failure is not None
    assert "5 executions" in ended.failure.why


def test_a_rescore_of_a_deleted_run_is_removed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake_executions(monkeypatch, RestartResult.STARTED)
    runs.delete(ref_of(run), NOW, erase_from=NOW)
    assert recover_rescores(LATER, lambda: 60.0) == 0
    assert (asked, list(rescores.list_open_rescores())) == ([], [])


def test_without_time_no_rescore_is_checked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake_executions(monkeypatch, RestartResult.STARTED)
    assert recover_rescores(LATER, lambda: 1.0) == 0
    assert asked == []
