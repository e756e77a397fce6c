"""Schedules on the embedded cloud: they fire by themselves, and each firing starts exactly one run."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cupel.client import Client
from cupel.stack.address import Local
from tests.eval_api import Json, define, finished, until

FIRES_WITHIN_SECONDS = 40
"""The embedded cloud looks for schedules that are due every ten."""

type Deliver = Callable[[Json, str], Json]


@pytest.fixture
def deliver(stack: Local, aws: Callable[[str], Any]) -> Deliver:
    """Calls the function as EventBridge does, with the scheduled time filled in."""

    def call(schedule: Json, time: str) -> Json:
        event = {"workspace": "default", "scheduleId": schedule["id"], "scheduledTime": time}
        answer = aws("lambda").invoke(FunctionName=f"{stack.stack_name}-schedule", Payload=json.dumps(event))
        told: Json = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, told
        return told

    return call


def schedule(api: Client, expression: str, definition_id: str | None = None) -> Json:
    run = {"definitionId": definition_id or define(api, 2), "models": ["sim/steady"]}
    return api.create_schedule({"name": "whole way", "expression": expression, "run": run})


def runs(api: Client, of: Json) -> list[Json]:
    return list(api.runs(schedule_id=of["id"]))


def test_a_single_time_starts_one_run_and_ends(api: Client, stack: Local, aws: Callable[[str], Any]) -> None:
    due = (datetime.now(UTC) + timedelta(seconds=2)).replace(microsecond=0)
    made = schedule(api, f"at({due:%Y-%m-%dT%H:%M:%S})")
    (firing,) = until(lambda: api.schedule(made["id"])["firings"], FIRES_WITHIN_SECONDS)
    (run,) = runs(api, made)
    assert datetime.fromisoformat(firing["scheduledTime"]) == due
    assert (firing["runId"], firing["error"]) == (run["id"], None)
    assert finished(api, run["id"])["status"] == "COMPLETED"
    assert api.schedule(made["id"])["status"] == "ENDED"
    groups = aws("scheduler").list_schedules(GroupName=stack.stack_name)["Schedules"]
    assert made["id"] not in [each["Name"] for each in groups]


def test_deliveries_of_one_firing_at_the_same_time_start_one_run(api: Client, deliver: Deliver) -> None:
    made = schedule(api, "rate(1 day)")

    def attempt(_: int) -> Json | None:
        try:
            return deliver(made, "2027-01-31T09:30:00Z")
        except AssertionError:
            return None  # Another one was starting the run; EventBridge would call again.

    with ThreadPoolExecutor(3) as pool:
        answers = [answer for answer in pool.map(attempt, range(3)) if answer]
    (run,) = runs(api, made)
    assert {answer["runId"] for answer in answers} == {run["id"]}
    assert deliver(made, "2027-01-31T09:30:00Z")["runId"] == run["id"]
    assert [firing["runId"] for firing in api.schedule(made["id"])["firings"]] == [run["id"]]


def test_each_firing_starts_its_own_run(api: Client, deliver: Deliver) -> None:
    made = schedule(api, "cron(0 9 ? * MON-FRI *)")
    started = [deliver(made, f"2027-02-0{day}T09:00:00Z")["runId"] for day in (1, 2)]
    assert {run["id"] for run in runs(api, made)} == set(started)
    assert [firing["runId"] for firing in api.schedule(made["id"])["firings"]] == started[::-1]


def test_a_firing_that_cannot_start_tells_why(api: Client, deliver: Deliver) -> None:
    definition_id = define(api, 2)
    made = schedule(api, "rate(1 day)", definition_id)
    api.delete_definition(definition_id)
    deliver(made, "2027-01-31T09:30:00Z")
    (firing,) = api.schedule(made["id"])["firings"]
    assert (firing["runId"], firing["error"]) == (None, f"there is no definition {definition_id}")
    assert runs(api, made) == []


def test_a_disabled_schedule_does_not_fire(api: Client, deliver: Deliver) -> None:
    made = schedule(api, "rate(1 day)")
    api.change_schedule(made["id"], {"enabled": False})
    assert deliver(made, "2027-01-31T09:30:00Z")["runId"] is None
    assert runs(api, made) == []


def test_a_deleted_schedule_leaves_eventbridge(api: Client, stack: Local, aws: Callable[[str], Any]) -> None:
    made = schedule(api, "rate(1 day)")
    known = aws("scheduler").get_schedule(GroupName=stack.stack_name, Name=made["id"])
    assert known["State"] == "ENABLED"
    api.delete_schedule(made["id"])
    with pytest.raises(aws("scheduler").exceptions.ResourceNotFoundException):
        aws("scheduler").get_schedule(GroupName=stack.stack_name, Name=made["id"])
