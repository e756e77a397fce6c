"""A run's name, tags and metadata over HTTP: at its start, by a schedule, changed later, and as filters."""

from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import DueSchedule, RunRef
from cupel_core.contract.run_labels import MAX_METADATA_BYTES
from cupel_core.domain.runs.run import Action
from cupel_core.runs.schedules.schedules import fire
from cupel_core.store import runs
from tests.unit.api.client import Client

LABELS = {"name": "Release 2", "tags": ["nightly", "a b"], "metadata": {"commit": "6f1b", "build": 812, "ok": True}}
STORED = LABELS | {"tags": ["a b", "nightly"]}


@pytest.fixture
def definition_id(client: Client) -> str:
    path = client.post("/v1/definitions", {"name": "one", "content": {"system": "Be brief."}}).headers["Location"]
    client.post(f"{path}/scenarios", {"items": [{"prompt": "one"}]})
    return path.rpartition("/")[2]


def start(client: Client, definition_id: str, **labels: Any) -> dict[str, Any]:
    answer = client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"], **labels})
    assert answer.status == 201, answer.text
    run: dict[str, Any] = answer.json()["run"]
    return run


def labels_of(run: dict[str, Any]) -> dict[str, Any]:
    return {name: run[name] for name in LABELS}


def test_a_run_has_the_labels_it_was_started_with(client: Client, definition_id: str) -> None:
    run = start(client, definition_id, **LABELS)
    assert labels_of(run) == STORED
    assert labels_of(client.get(f"/v1/runs/{run['id']}").json()) == STORED
    assert labels_of(client.get("/v1/runs").json()["items"][0]) == STORED


def test_a_run_needs_no_labels(client: Client, definition_id: str) -> None:
    assert labels_of(start(client, definition_id)) == {"name": None, "tags": [], "metadata": {}}


def test_a_rerun_has_the_labels_of_its_run_except_for_those_given(client: Client, definition_id: str) -> None:
    path = f"/v1/runs/{start(client, definition_id, **LABELS)['id']}/rerun"
    assert labels_of(client.post(path).json()["run"]) == STORED
    changed = client.post(path, {"name": "again", "tags": []}).json()["run"]
    assert labels_of(changed) == STORED | {"name": "again", "tags": []}
    assert labels_of(client.post(path, {"name": None}).json()["run"]) == STORED | {"name": None}


def test_a_repeated_rerun_is_the_same_although_the_labels_of_its_run_changed(
    client: Client, definition_id: str
) -> None:
    path = f"/v1/runs/{start(client, definition_id, **LABELS)['id']}"
    first = client.post(f"{path}/rerun", headers={"Idempotency-Key": "once"})
    client.patch(path, {"name": "other"})
    assert client.post(f"{path}/rerun", headers={"Idempotency-Key": "once"}).json() == first.json()


def test_runs_of_an_eval_and_of_the_playground_have_labels(client: Client, definition_id: str) -> None:
    scenario = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"]
    body = {"name": "smoke", "scenarioIds": [scenario], "model": "sim/steady"}
    path = client.post("/v1/evals", body).headers["Location"]
    assert labels_of(client.post(f"{path}/runs", LABELS).json()["run"]) == STORED
    playground = {"scenarioId": scenario, "model": "sim/steady", **LABELS}
    assert labels_of(client.post("/v1/playground/runs", playground).json()["run"]) == STORED


def test_the_runs_of_a_schedule_have_its_labels(client: Client, definition_id: str) -> None:
    run = {"definitionId": definition_id, "models": ["sim/steady"], **LABELS}
    schedule = client.post("/v1/schedules", {"name": "x", "expression": "rate(1 hour)", "run": run}).json()
    assert labels_of(schedule["run"]) == STORED
    firing = fire(
        DueSchedule(workspace="acme", schedule_id=schedule["id"], scheduled_time="2026-11-20T13:00:00.000Z"), utc_now()
    )
    assert firing
    assert labels_of(client.get(f"/v1/runs/{firing.run_id}").json()) == STORED


def test_a_schedule_of_an_eval_returns_its_labels(client: Client, definition_id: str) -> None:
    scenario = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"]
    body = {"name": "smoke", "scenarioIds": [scenario], "model": "sim/steady"}
    eval_id = client.post("/v1/evals", body).json()["id"]
    body = {"name": "x", "expression": "rate(1 hour)", "evalRun": {"evalId": eval_id, **LABELS}}
    schedule = client.post("/v1/schedules", body).json()
    assert labels_of(schedule["evalRun"]) == STORED
    firing = fire(
        DueSchedule(workspace="acme", schedule_id=schedule["id"], scheduled_time="2026-11-20T13:00:00.000Z"), utc_now()
    )
    assert firing
    assert labels_of(client.get(f"/v1/runs/{firing.run_id}").json()) == STORED


def test_labels_are_changed_one_by_one_whatever_the_status(client: Client, definition_id: str) -> None:
    run_id = start(client, definition_id, **LABELS)["id"]
    runs.transition(RunRef("acme", run_id), Action.CANCEL, utc_now())
    path = f"/v1/runs/{run_id}"
    assert labels_of(client.patch(path, {"tags": ["weekly"]}).json()) == STORED | {"tags": ["weekly"]}
    cleared = client.patch(path, {"name": None, "metadata": {}})
    assert labels_of(cleared.json()) == {"name": None, "tags": ["weekly"], "metadata": {}}
    assert cleared.json()["status"] == "CANCELLED"
    assert labels_of(client.get(path).json()) == labels_of(cleared.json())


def test_a_change_of_labels_is_an_event_that_does_not_repeat_them(client: Client, definition_id: str) -> None:
    path = f"/v1/runs/{start(client, definition_id, **LABELS)['id']}"
    client.patch(path, {"name": "Release 2", "tags": ["x"]})
    client.patch(path, {"tags": ["x"]})
    events = client.get(f"{path}/events").json()["items"]
    assert [(each["seq"], each["type"], each["data"]) for each in events[1:]] == [
        (2, "run.updated", {"changed": ["tags"]})
    ]


def test_a_change_based_on_outdated_labels_is_refused(client: Client, definition_id: str) -> None:
    path = f"/v1/runs/{start(client, definition_id)['id']}"
    tag = client.get(path).headers["ETag"]
    runs.transition(RunRef("acme", path.rpartition("/")[2]), Action.START, utc_now())  # Not a change of the labels.
    changed = client.patch(path, {"name": "a"}, headers={"If-Match": tag})
    assert (changed.status, changed.headers["ETag"] != tag) == (200, True)
    refused = client.patch(path, {"name": "b"}, headers={"If-Match": tag})
    assert (refused.status, refused.headers["ETag"]) == (412, changed.headers["ETag"])
    assert client.get(path).json()["name"] == "a"


def test_labels_of_another_workspace_and_by_a_viewer_are_not_changed(
    client: Client, definition_id: str, stranger: str, viewer: str
) -> None:
    path = f"/v1/runs/{start(client, definition_id)['id']}"
    assert client.patch(path, {"name": "x"}, token=stranger).status == 404
    assert client.patch(path, {"name": "x"}, token=viewer).status == 403
    assert client.get(path).json()["name"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({}, "body"),
        ({"tags": None}, "tags"),
        ({"metadata": None}, "metadata"),
        ({"name": ""}, "name"),
        ({"name": " "}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"tags": ["x"] * 21}, "tags"),
        ({"tags": ["x", ""]}, "tags.1"),
        ({"tags": ["x" * 101]}, "tags.0"),
        ({"tags": ["a\tb"]}, "tags.0"),
        ({"metadata": {"k": ["x"]}}, "metadata.k"),
        ({"metadata": {"k": None}}, "metadata.k"),
        ({"metadata": {"k": "x" * 501}}, "metadata.k"),
        ({"metadata": {"k": 2**63}}, "metadata.k"),
        ({"metadata": {str(n): n for n in range(51)}}, "metadata"),
        ({"metadata": {str(n): "x" * (MAX_METADATA_BYTES // 20) for n in range(20)}}, "metadata"),
        ({"status": "CANCELLED"}, "status"),
    ],
)
def test_labels_beyond_their_limits_are_refused(
    client: Client, definition_id: str, change: dict[str, Any], field: str
) -> None:
    answer = client.patch(f"/v1/runs/{start(client, definition_id)['id']}", change)
    assert (answer.status, answer.fields()) == (422, [field])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"name": "RELEASE"}, ["release 2", "Release 1"]),
        ({"name": "ß"}, ["Straße"]),
        ({"tag": "nightly"}, ["Release 1"]),
        ({"tag": "night"}, []),
        ({"name": "release", "tag": "weekly"}, ["release 2"]),
    ],
)
def test_runs_are_found_by_a_part_of_their_name_and_by_tag(
    client: Client, definition_id: str, query: dict[str, str], names: list[str]
) -> None:
    start(client, definition_id)
    start(client, definition_id, name="Release 1", tags=["nightly"])
    start(client, definition_id, name="release 2", tags=["weekly"])
    start(client, definition_id, name="Straße", tags=["weekly", "nightly!"])
    assert [run["name"] for run in client.get("/v1/runs", query=query).json()["items"]] == names


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        (["team=search"], ["b", "a"]),
        (["team=search", "build=812"], ["a"]),
        (["build=812"], ["c", "a"]),
        (["final=true"], ["a"]),
        (["note=x,y=z"], ["b"]),
        (["team="], []),
        (["team=sea"], []),
    ],
)
def test_runs_are_found_by_metadata(client: Client, definition_id: str, entries: list[str], names: list[str]) -> None:
    start(client, definition_id, name="a", metadata={"team": "search", "build": 812, "final": True})
    start(client, definition_id, name="b", metadata={"team": "search", "note": "x,y=z"})
    start(client, definition_id, name="c", metadata={"build": "812"})
    found = client.get("/v1/runs", query={"metadata": entries}).json()["items"]
    assert [run["name"] for run in found] == names


def test_runs_are_found_by_changed_metadata(client: Client, definition_id: str) -> None:
    path = f"/v1/runs/{start(client, definition_id, metadata={'team': 'a'})['id']}"
    client.patch(path, {"metadata": {"team": "b"}})
    found = [len(client.get("/v1/runs", query={"metadata": [f"team={team}"]}).json()["items"]) for team in "ab"]
    assert found == [0, 1]


@pytest.mark.parametrize("entries", [["team"], ["=x"], [f"k{n}=v" for n in range(6)]])
def test_filters_by_metadata_are_entries(client: Client, entries: list[str]) -> None:
    answer = client.get("/v1/runs", query={"metadata": entries})
    assert (answer.status, answer.fields()) == (422, ["metadata"])
