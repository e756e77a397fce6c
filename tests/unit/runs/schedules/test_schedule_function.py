"""The samples of events/ for the function that EventBridge calls."""

import json
from dataclasses import replace
from typing import Any

import pytest

from cupel_core.store import schedules as stored
from cupel_core.store.settings import Settings
from schedule import app
from tests.conftest import ROOT
from tests.lambda_context import Context
from tests.unit.runs.schedules.conftest import WORKSPACE, Make


def sample(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "events" / f"{name}.json").read_text())
    return found


def test_a_deleted_schedule_is_answered_with_nothing(cloud: Settings) -> None:
    answer = app.handler(sample("schedule-deleted"), Context())
    assert (answer["runId"], answer["error"]) == (None, None)


def test_a_due_schedule_is_answered_with_its_run(make: Make) -> None:
    event = sample("schedule-due")
    sampled = replace(make(), id=event["scheduleId"], workspace=WORKSPACE)
    stored.create(sampled)
    answer = app.handler(event | {"workspace": WORKSPACE}, Context())
    assert answer["runId"].startswith("run_")
    assert answer["scheduledTime"] == "2026-11-20T12:00:00.000Z"


def test_an_event_of_another_shape_is_an_error(cloud: Settings) -> None:
    with pytest.raises(ValueError, match="scheduleId"):
        app.handler({"workspace": WORKSPACE}, Context())
