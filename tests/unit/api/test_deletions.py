"""Deletion of many runs, definitions or conversations by one request."""

import pytest

from tests.unit.api.client import Client


def create_definition(client: Client) -> str:
    created = client.post("/v1/definitions", {"name": "facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{created['id']}/scenarios", {"items": [{"prompt": "hello"}]})
    return str(created["id"])


@pytest.fixture
def run_ids(client: Client) -> list[str]:
    run = {"definitionId": create_definition(client), "models": ["sim/steady"]}
    return [client.post("/v1/runs", run).json()["run"]["id"] for _ in range(3)]


def test_runs_are_deleted_and_each_has_its_own_result(client: Client, run_ids: list[str]) -> None:
    answer = client.post("/v1/runs/bulk-delete", {"ids": [run_ids[2], "run_none", run_ids[0], run_ids[2]]})
    assert answer.status == 200
    items = answer.json()["items"]
    assert [(one["id"], one["deleted"]) for one in items] == [
        (run_ids[2], True),
        ("run_none", False),
        (run_ids[0], True),
    ]
    assert items[1]["problem"] == {"status": 404, "title": "Not found", "detail": "there is no run run_none"}
    assert [one["id"] for one in client.get("/v1/runs").json()["items"]] == [run_ids[1]]


def test_definitions_are_deleted(client: Client) -> None:
    ids = [create_definition(client) for _ in range(2)]
    answer = client.post("/v1/definitions/bulk-delete", {"ids": ids})
    assert [one["deleted"] for one in answer.json()["items"]] == [True, True]
    assert client.get("/v1/definitions").json()["items"] == []


def test_the_content_of_a_probe_that_may_still_be_run_is_not_deleted(client: Client, run_ids: list[str]) -> None:
    client.post(f"/v1/runs/{run_ids[0]}/cancel")
    ids = [f"{run_ids[0]}-0", f"{run_ids[1]}-0"]
    items = client.post("/v1/probes/bulk-delete-content", {"ids": ids}).json()["items"]
    assert [one["deleted"] for one in items] == [True, False]
    assert items[1]["problem"]["status"] == 409


def test_runs_of_another_workspace_are_not_found(client: Client, run_ids: list[str], stranger: str) -> None:
    items = client.post("/v1/runs/bulk-delete", {"ids": run_ids}, token=stranger).json()["items"]
    assert [one["problem"]["status"] for one in items] == [404, 404, 404]
    assert len(client.get("/v1/runs").json()["items"]) == 3


def test_a_viewer_may_not_delete(client: Client, run_ids: list[str], viewer: str) -> None:
    assert client.post("/v1/runs/bulk-delete", {"ids": run_ids}, token=viewer).status == 403


@pytest.mark.parametrize("count", [0, 101])
def test_no_ids_and_too_many_are_refused(client: Client, count: int) -> None:
    answer = client.post("/v1/runs/bulk-delete", {"ids": ["run_x"] * count})
    assert (answer.status, answer.fields()) == (422, ["ids"])
