"""Schedules on the embedded cloud: they fire on time, and each firing starts exactly one run."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from tests.eval_api import Json, create_definition, wait_for_end, wait_until

MAX_FIRING_DELAY_SECONDS = 40
"""The embedded cloud checks for due schedules every ten seconds."""

type Deliver = Callable[[Json, str], Json]


@pytest.fixture
def deliver(stack: LocalStack, aws: Callable[[str], Any]) -> Deliver:
    """Invoke the function like EventBridge, with the scheduled time filled in."""

    def call(schedule: Json, time: str) -> Json:
        event = {"workspace": "default", "scheduleId": schedule["id"], "scheduledTime": time}
        answer = aws("lambda").invoke(FunctionName=f"{stack.stack_name}-schedule", Payload=json.dumps(event))
        response: Json = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, response
        return response

    return call


def schedule(api: Client, expression: str, definition_id: str | None = None) -> Json:
    run = {"definitionId": definition_id or create_definition(api, 2), "models": ["sim/steady"]}
    return api.create_schedule({"name": "end to end", "expression": expression, "run": run})


def runs(api: Client, of_schedule: Json) -> list[Json]:
    return list(api.list_runs(schedule_id=of_schedule["id"]))


def test_a_one_time_schedule_starts_one_run_and_ends(api: Client, stack: LocalStack, aws: Callable[[str], Any]) -> None:
    due = (datetime.now(UTC) + timedelta(seconds=2)).replace(microsecond=0)
    created = schedule(api, f"at({due:%Y-%m-%dT%H:%M:%S})")
    (firing,) = wait_until(lambda: api.get_schedule(created["id"])["firings"], MAX_FIRING_DELAY_SECONDS)
    (run,) = runs(api, created)
    assert datetime.fromisoformat(firing["scheduledTime"]) == due
    assert (firing["runId"], firing["error"]) == (run["id"], None)
    assert wait_for_end(api, run["id"])["status"] == "COMPLETED"
    assert api.get_schedule(created["id"])["status"] == "ENDED"
    groups = aws("scheduler").list_schedules(GroupName=stack.stack_name)["Schedules"]
    assert created["id"] not in [each["Name"] for each in groups]


def test_concurrent_deliveries_of_one_firing_start_one_run(api: Client, deliver: Deliver) -> None:
    created = schedule(api, "rate(1 day)")

    def attempt(_: int) -> Json | None:
        try:
            return deliver(created, "2027-01-31T09:30:00Z")
        except AssertionError:
            return None  # Another delivery was starting the run; EventBridge would retry.

    with ThreadPoolExecutor(3) as pool:
        answers = [answer for answer in pool.map(attempt, range(3)) if answer]
    (run,) = runs(api, created)
    assert {answer["runId"] for answer in answers} == {run["id"]}
    assert deliver(created, "2027-01-31T09:30:00Z")["runId"] == run["id"]
    assert [firing["runId"] for firing in api.get_schedule(created["id"])["firings"]] == [run["id"]]


def test_each_firing_starts_a_separate_run(api: Client, deliver: Deliver) -> None:
    created = schedule(api, "cron(0 9 ? * MON-FRI *)")
    started = [deliver(created, f"2027-02-0{day}T09:00:00Z")["runId"] for day in (1, 2)]
    assert {run["id"] for run in runs(api, created)} == set(started)
    assert [firing["runId"] for firing in api.get_schedule(created["id"])["firings"]] == started[::-1]


def test_a_failed_firing_records_its_error(api: Client, deliver: Deliver) -> None:
    definition_id = create_definition(api, 2)
    created = schedule(api, "rate(1 day)", definition_id)
    api.delete_definition(definition_id)
    deliver(created, "2027-01-31T09:30:00Z")
    (firing,) = api.get_schedule(created["id"])["firings"]
    assert (firing["runId"], firing["error"]) == (None, f"definitionId: there is no definition {definition_id}")
    assert runs(api, created) == []


def test_a_disabled_schedule_does_not_fire(api: Client, deliver: Deliver) -> None:
    created = schedule(api, "rate(1 day)")
    api.update_schedule(created["id"], {"enabled": False})
    assert deliver(created, "2027-01-31T09:30:00Z")["runId"] is None
    assert runs(api, created) == []


def test_a_deleted_schedule_is_removed_from_eventbridge(
    api: Client, stack: LocalStack, aws: Callable[[str], Any]
) -> None:
    created = schedule(api, "rate(1 day)")
    installed = aws("scheduler").get_schedule(GroupName=stack.stack_name, Name=created["id"])
    assert installed["State"] == "ENABLED"
    api.delete_schedule(created["id"])
    with pytest.raises(aws("scheduler").exceptions.ResourceNotFoundException):
        aws("scheduler").get_schedule(GroupName=stack.stack_name, Name=created["id"])
