"""Scorings that a crash has left standing are set going again."""

from datetime import timedelta

import pytest

from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import Rescoring, RescoringConfig, RescoringStatus
from cupel_core.messages import RunRef
from cupel_core.rescoring.recovery import revive
from cupel_core.settings import Settings
from cupel_core.store import executions, rescores, runs
from cupel_core.store.executions import Revival
from tests.answered_runs import Answered
from tests.started_runs import NOW, ref_of

LATER = NOW + timedelta(minutes=2)


@pytest.fixture
def run(cloud: Settings) -> Run:
    """With a scoring that was written, and whose execution nobody knows of."""
    run = Answered().completed()
    rescores.create(Rescoring(run.workspace, run.id, "scr_1", RescoringConfig(), 2, 2, 1, NOW))
    return run


def answering(monkeypatch: pytest.MonkeyPatch, revival: Revival) -> list[tuple[RunRef, str]]:
    """What is asked after."""
    asked: list[tuple[RunRef, str]] = []

    def fake(ref: RunRef, scoring_id: str) -> Revival:
        asked.append((ref, scoring_id))
        return revival

    monkeypatch.setattr(executions, "revive_scoring", fake)
    return asked


def test_one_that_was_never_begun_is_begun(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Revival.STARTED)
    assert revive(LATER, lambda: 60.0) == 1
    assert asked == [(ref_of(run), "scr_1")]


def test_one_whose_execution_lives_is_left(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, Revival.ALIVE)
    assert revive(LATER, lambda: 60.0) == 0


def test_one_that_was_just_written_is_left_to_its_writer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Revival.STARTED)
    assert revive(NOW + timedelta(seconds=30), lambda: 60.0) == 0
    assert asked == []


def test_one_whose_executions_die_again_and_again_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, Revival.GIVEN_UP)
    assert revive(LATER, lambda: 60.0) == 1
    ended = rescores.get(ref_of(run), "scr_1")
    assert ended.status is RescoringStatus.FAILED
    assert ended.failure is not None
    assert "5 executions" in ended.failure.why


def test_one_of_a_run_that_was_deleted_is_forgotten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Revival.STARTED)
    runs.delete(ref_of(run), NOW)
    assert revive(LATER, lambda: 60.0) == 0
    assert (asked, list(rescores.every_open())) == ([], [])


def test_without_time_nobody_is_looked_at(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Revival.STARTED)
    assert revive(LATER, lambda: 1.0) == 0
    assert asked == []
