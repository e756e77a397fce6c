"""Limits of the runs that have not ended."""

from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action
from cupel_core.store import active_runs, runs
from tests.added_scenarios import add_scenarios
from tests.started_runs import NOW
from tests.unit.api.client import Answer, Client


@pytest.fixture
def definition_id(client: Client) -> str:
    created = catalog.create("acme", Labels(name="hello"), {"system": "s"}, NOW)
    add_scenarios("acme", created.head.id, [Scenario("", "one", (Message(MessageRole.USER, "Hi"),))])
    return created.head.id


@pytest.fixture
def two(client: Client) -> None:
    """Each owner may have two open runs."""
    assert client.put("/v1/settings", {"openRunsPerOwner": 2}).json()["openRunsPerOwner"] == 2


def start(client: Client, definition_id: str, **options: Any) -> Answer:
    return client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"]}, **options)


def started(client: Client, definition_id: str) -> str:
    return str(start(client, definition_id).json()["run"]["id"])


@pytest.mark.usefixtures("two")
def test_a_start_beyond_the_limit_is_refused_and_writes_nothing(client: Client, definition_id: str) -> None:
    ids = {started(client, definition_id) for _ in range(2)}
    refused = start(client, definition_id, headers={"Idempotency-Key": "k"})
    assert (refused.status, refused.json()["type"]) == (429, "urn:cupel:problem:too-many-runs")
    assert refused.headers["Retry-After"] == "30"
    assert "openRunsPerOwner" in refused.json()["detail"]
    assert {run["id"] for run in client.get("/v1/runs").json()["items"]} == ids


@pytest.mark.usefixtures("two")
def test_a_scale_run_beyond_the_limit_leaves_no_definition(client: Client, definition_id: str) -> None:
    for _ in range(2):
        started(client, definition_id)
    scale_run = {"models": ["sim/steady"], "userMessage": "Hi", "count": 2}
    assert client.post("/v1/scale-runs", {**scale_run, "systemPrompt": "s"}).status == 429
    assert [each["id"] for each in client.get("/v1/definitions").json()["items"]] == [definition_id]


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("end", ["cancel", "delete", "complete"])
def test_a_run_that_has_ended_makes_room(client: Client, definition_id: str, end: str) -> None:
    first, _ = started(client, definition_id), started(client, definition_id)
    if end == "complete":
        for action in (Action.START, Action.SUMMARIZE, Action.COMPLETE):
            runs.transition(RunRef("acme", first), action, NOW)
    else:
        client.post(f"/v1/runs/{first}/cancel")
    if end == "delete":
        client.delete(f"/v1/runs/{first}")
    assert start(client, definition_id).status == 201
    assert start(client, definition_id).status == 429


@pytest.mark.usefixtures("two")
def test_a_paused_run_is_open(client: Client, definition_id: str) -> None:
    for _ in range(2):
        client.post(f"/v1/runs/{started(client, definition_id)}/pause")
    assert start(client, definition_id).status == 429


@pytest.mark.usefixtures("two")
def test_each_token_has_runs_of_its_own(client: Client, definition_id: str) -> None:
    for _ in range(2):
        start(client, definition_id)
    assert start(client, definition_id, token=client.issue()).status == 201


def test_the_runs_of_all_owners_are_limited_together(client: Client, definition_id: str) -> None:
    client.put("/v1/settings", {"openRuns": 1})
    start(client, definition_id)
    refused = start(client, definition_id, token=client.issue())
    assert (refused.status, "openRuns of the settings" in refused.json()["detail"]) == (429, True)


@pytest.mark.usefixtures("two")
def test_a_start_that_was_interrupted_does_not_count_for_long(client: Client, definition_id: str) -> None:
    run = runs.get(RunRef("acme", started(client, definition_id)))
    assert run.started_by is not None
    assert run.started_by.id is not None
    active_runs.add_open("acme", run.started_by.id, "run_never_created", 2)
    assert start(client, definition_id).status == 201


@pytest.mark.usefixtures("two")
def test_a_repeated_start_is_answered_at_the_limit(client: Client, definition_id: str) -> None:
    key = {"headers": {"Idempotency-Key": "k"}}
    first = start(client, definition_id, **key)
    start(client, definition_id)
    assert start(client, definition_id, **key).json()["run"]["id"] == first.json()["run"]["id"]


@pytest.mark.parametrize("limit", [0, 1_001, "2", True])
def test_an_impossible_limit_is_refused(client: Client, limit: Any) -> None:
    refused = client.put("/v1/settings", {"openRunsPerOwner": limit})
    assert (refused.status, refused.fields()) == (422, ["openRunsPerOwner"])


def test_null_restores_the_default(client: Client) -> None:
    client.put("/v1/settings", {"openRunsPerOwner": 2, "openRuns": 3})
    told = client.put("/v1/settings", {"openRunsPerOwner": None, "openRuns": None}).json()
    assert (told["openRunsPerOwner"], told["openRuns"]) == (50, 200)
