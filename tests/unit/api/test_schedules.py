"""Schedules over HTTP: creating and refusing them, reading them, and isolation of workspaces."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import DueSchedule
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.runs.schedules.schedules import fire
from tests.added_scenarios import add_scenarios
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DUE = "2026-11-20T13:00:00.000Z"


@pytest.fixture
def definition_id(client: Client) -> str:
    made = catalog.create("acme", Labels(name="dilemma"), {"system": "Be brief."}, NOW)
    add_scenarios(
        "acme", made.head.id, [Scenario("", f"case {n}", (Message(MessageRole.USER, "?"),)) for n in range(4)]
    )
    return made.head.id


def create(client: Client, definition_id: str, run: dict[str, Any] | None = None, **changes: Any) -> Answer:
    started = {"definitionId": definition_id, "models": ["sim/steady"], **(run or {})}
    body = {"name": "nightly", "expression": "cron(0 9 ? * MON-FRI *)", "run": started, **changes}
    return client.post("/v1/schedules", {name: value for name, value in body.items() if value is not None})


@pytest.fixture
def schedule_id(client: Client, definition_id: str) -> str:
    answer = create(client, definition_id)
    assert answer.status == 201, answer.text
    identity: str = answer.json()["id"]
    return identity


def test_a_schedule_returns_which_graders_it_disables(client: Client, definition_id: str, eval_id: str) -> None:
    config = {"temperature": None, "maxTurns": 2, "evaluatorUrl": None}
    identity = create(client, definition_id, {"config": config}).json()["id"]
    shown = {**config, "params": {"temperature": None}, "maxAttempts": None, "callTimeoutSeconds": None}
    shown |= {
        "profileId": None,
        "profileVersion": None,
        "maxConcurrency": None,
        "staggerMs": None,
        "retryDelaySeconds": None,
    }
    assert client.get(f"/v1/schedules/{identity}").json()["run"]["config"] == shown
    body = {"evalRun": {"evalId": eval_id, "config": config}, "name": "x", "expression": "rate(1 day)"}
    assert client.post("/v1/schedules", body).json()["evalRun"]["config"] == shown


def test_what_a_schedule_starts_can_be_sent_back_as_it_was_returned(client: Client, definition_id: str) -> None:
    config = {"params": {"temperature": 0.5}, "maxTurns": 2, "judgeModel": "sim/bold", "evaluatorUrl": None}
    run = {"samplePercentage": 50, "sampleSeed": 7, "repeats": 3, "report": True, "maxBudgetUsd": 2.5, "config": config}
    identity = create(client, definition_id, {**run, "tags": ["nightly"]}).json()["id"]
    before = client.get(f"/v1/schedules/{identity}").json()["run"]
    assert before["report"] is True
    sent = {name: value for name, value in before.items() if name != "models"}
    sent["config"] = {name: value for name, value in before["config"].items() if name != "temperature"}
    sent["targets"] = [{"model": each["model"]} for each in before["targets"]]
    assert client.patch(f"/v1/schedules/{identity}", {"run": sent}).status == 200
    assert client.get(f"/v1/schedules/{identity}").json()["run"] == before


def test_a_schedule_is_created_and_returned(client: Client, definition_id: str) -> None:
    run = {"samplePercentage": 50, "repeats": 3, "config": {"maxTurns": 2, "judgeModel": "sim/bold"}}
    answer = create(client, definition_id, run, timezone="Europe/Berlin")
    assert answer.status == 201
    told = answer.json()
    assert (told["name"], told["expression"], told["timezone"]) == (
        "nightly",
        "cron(0 9 ? * MON-FRI *)",
        "Europe/Berlin",
    )
    assert (told["enabled"], told["status"], told["firings"]) == (True, "ENABLED", [])
    [target] = told["run"].pop("targets")
    assert (target["id"], target["model"], target["params"]) == ("sim/steady", "sim/steady", {})
    assert told["run"] == {
        "definitionId": definition_id,
        "definitionVersion": None,
        "name": None,
        "tags": [],
        "metadata": {},
        "models": ["sim/steady"],
        "samplePercentage": 50,
        "sampleSeed": None,
        "priority": "NORMAL",
        "experimentId": None,
        "repeats": 3,
        "maxBudgetUsd": None,
        "allowUnpriced": False,
        "report": False,
        "confirmedUsd": None,
        "config": {
            "temperature": None,
            "params": {},
            "maxAttempts": None,
            "callTimeoutSeconds": None,
            "maxTurns": 2,
            "maxConcurrency": None,
            "retryDelaySeconds": None,
            "staggerMs": None,
            "profileId": None,
            "profileVersion": None,
            "judgeModel": "sim/bold",
        },
    }


def test_a_schedule_is_the_same_in_a_list_and_by_itself(client: Client, schedule_id: str) -> None:
    told = client.get(f"/v1/schedules/{schedule_id}").json()
    assert client.get("/v1/schedules").json() == {"items": [told], "nextCursor": None}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"expression": "daily"}, "expression"),
        ({"expression": "at(2020-01-01T00:00:00)"}, "expression"),
        ({"expression": None}, "expression"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"enabled": "yes"}, "enabled"),
        ({"colour": "blue"}, "colour"),
        ({"run": None}, "run"),
        ({"run": {}}, "run.definitionId"),
    ],
)
def test_a_wrong_field_is_named(client: Client, definition_id: str, changes: dict[str, Any], field: str) -> None:
    started = {"definitionId": definition_id, "models": ["sim/steady"]}
    body = {"name": "nightly", "expression": "rate(1 hour)", "run": started, **changes}
    answer = client.post("/v1/schedules", {name: value for name, value in body.items() if value is not None})
    assert answer.status == 422
    assert answer.fields()[0] == field


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"models": []}, "run.models"),
        ({"models": ["sim/steady", "acme/large"]}, "run.models.1"),
        ({"models": ["openai/gpt-5-mini"]}, "run.models.0"),
        ({"samplePercentage": 0}, "run.samplePercentage"),
        ({"config": {"temperature": 3}}, "run.config.temperature"),
        ({"colour": "blue"}, "run.colour"),
    ],
)
def test_a_wrong_field_of_its_run_is_named(
    client: Client, definition_id: str, changes: dict[str, Any], field: str
) -> None:
    answer = create(client, definition_id, changes)
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_schedule_of_an_unknown_definition_is_refused(client: Client) -> None:
    assert create(client, "def_none").status == 422


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_schedule_of_an_unknown_eval_is_refused(client: Client, schedule_id: str, method: str) -> None:
    path, timing = "/v1/schedules", {"name": "often", "expression": "rate(6 hours)"}
    body = {"evalRun": {"evalId": "eval_none"}}
    answer = client.post(path, {**timing, **body}) if method == "POST" else client.patch(f"{path}/{schedule_id}", body)
    assert (answer.status, answer.fields()) == (422, ["evalRun.evalId"])


def test_a_schedule_is_disabled(client: Client, schedule_id: str) -> None:
    answer = client.patch(f"/v1/schedules/{schedule_id}", {"enabled": False})
    assert (answer.status, answer.json()["enabled"], answer.json()["status"]) == (200, False, "DISABLED")


def test_a_deleted_schedule_is_not_found(client: Client, schedule_id: str) -> None:
    assert client.delete(f"/v1/schedules/{schedule_id}").status == 204
    assert client.get(f"/v1/schedules/{schedule_id}").status == 404
    assert client.get("/v1/schedules").json()["items"] == []


def test_a_strangers_schedule_is_not_found(client: Client, schedule_id: str, stranger: str) -> None:
    path = f"/v1/schedules/{schedule_id}"
    answers = [
        client.get(path, token=stranger),
        client.patch(path, {"enabled": False}, token=stranger),
        client.delete(path, token=stranger),
    ]
    assert [answer.status for answer in answers] == [404, 404, 404]
    assert client.get(path).json()["enabled"]


def test_a_viewer_reads_schedules_and_changes_none(client: Client, schedule_id: str, viewer: str) -> None:
    path = f"/v1/schedules/{schedule_id}"
    assert client.get(path, token=viewer).status == 200
    assert client.delete(path, token=viewer).status == 403


def test_a_run_names_the_schedule_that_started_it(client: Client, definition_id: str, schedule_id: str) -> None:
    client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/bold"]})
    fire(DueSchedule(workspace="acme", schedule_id=schedule_id, scheduled_time=DUE), NOW)
    (run,) = client.get("/v1/runs", query={"scheduleId": schedule_id}).json()["items"]
    (firing,) = client.get(f"/v1/schedules/{schedule_id}").json()["firings"]
    assert run["scheduleId"] == schedule_id
    assert (firing["runId"], firing["scheduledTime"], firing["error"]) == (run["id"], DUE, None)


def test_a_firing_that_started_nothing_has_the_reason(client: Client, definition_id: str, schedule_id: str) -> None:
    client.delete(f"/v1/definitions/{definition_id}")
    fire(DueSchedule(workspace="acme", schedule_id=schedule_id, scheduled_time=DUE), NOW)
    (firing,) = client.get(f"/v1/schedules/{schedule_id}").json()["firings"]
    assert (firing["runId"], firing["error"]) == (None, f"definitionId: there is no definition {definition_id}")


@pytest.fixture
def eval_id(client: Client, definition_id: str) -> str:
    (scenario, *_) = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"]
    made = client.post("/v1/evals", {"name": "smoke", "scenarioIds": [scenario["id"]], "model": "sim/steady"})
    name: str = made.json()["id"]
    return name


def test_an_eval_is_scheduled_and_run_as_it_is_when_it_is_due(client: Client, eval_id: str) -> None:
    run = {"evalId": eval_id, "repeats": 2, "config": {"temperature": 0.5}}
    made = client.post("/v1/schedules", {"name": "nightly", "expression": "rate(6 hours)", "evalRun": run})
    assert (made.status, made.json()["run"], made.json()["evalRun"]["repeats"]) == (201, None, 2)
    client.patch(f"/v1/evals/{eval_id}", {"model": "sim/bold"})
    due = DueSchedule(workspace="acme", schedule_id=made.json()["id"], scheduled_time="2026-11-22T13:00:00Z")
    firing = fire(due, utc_now())
    assert firing is not None
    started = client.get(f"/v1/runs/{firing.run_id}").json()
    assert (started["evalId"], started["config"]["models"], started["config"]["temperature"]) == (
        eval_id, ["sim/bold"], 0.5,
    )  # fmt: skip
    assert (started["startedBy"]["type"], started["startedBy"]["name"]) == ("schedule", "nightly")


BOTH = {"run": {"definitionId": "x", "models": ["sim/steady"]}, "evalRun": {"evalId": "x"}}


@pytest.mark.parametrize("runs", [{}, BOTH])
def test_a_schedule_starts_a_run_or_an_eval(client: Client, runs: dict[str, object]) -> None:
    answer = client.post("/v1/schedules", {"name": "x", "expression": "rate(6 hours)", **runs})
    assert (answer.status, "exactly one of run and evalRun" in answer.json()["detail"]) == (422, True)


def test_an_invalid_scheduled_eval_run_names_the_field(client: Client, eval_id: str) -> None:
    run = {"evalId": eval_id, "config": {"judgeModel": "nobody/x"}}
    answer = client.post("/v1/schedules", {"name": "x", "expression": "rate(6 hours)", "evalRun": run})
    assert (answer.status, answer.fields()) == (422, ["evalRun.config.judgeModel"])


def test_the_time_and_the_run_of_a_schedule_are_changed(client: Client, eval_id: str) -> None:
    body = {"name": "x", "expression": "rate(6 hours)", "evalRun": {"evalId": eval_id}}
    path = client.post("/v1/schedules", body).headers["Location"]
    changes = {"name": "y", "expression": "rate(12 hours)", "evalRun": {"evalId": eval_id, "repeats": 3}}
    changed = client.patch(path, changes)
    assert changed.status == 200
    read = client.get(path).json()
    assert (read["name"], read["expression"], read["evalRun"]["repeats"]) == ("y", "rate(12 hours)", 3)
    refused = client.patch(path, {"expression": "sometimes"})
    assert (refused.status, refused.fields()) == (422, ["expression"])
