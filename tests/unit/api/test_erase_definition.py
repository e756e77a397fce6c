"""Erasing a definition with its scenarios, its runs and everything said in them."""

from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.definitions import forks
from cupel_core.runs import erasure, workspace_erasure
from cupel_core.store import clients
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.stored_text import places_with
from tests.unit.api.client import Client

MARKER = "zanzibar"
LATER = timedelta(minutes=30)


@pytest.fixture
def definition_id(client: Client) -> str:
    """With scenarios and a run, each of which has the marker."""
    content = {"system": f"You live in {MARKER}."}
    made: str = client.post("/v1/definitions", {"name": MARKER, "content": content}).json()["id"]
    items = [{"name": MARKER, "messages": [{"role": "user", "content": f"Where is {MARKER}?"}]}]
    assert client.post(f"/v1/definitions/{made}/scenarios", {"items": items}).status == 201
    assert client.post("/v1/runs", {"definitionId": made, "models": ["sim/steady"]}).status == 201
    return made


def erase(client: Client, definition_id: str) -> int:
    return client.post(f"/v1/definitions/{definition_id}/erase").status


def run_ids(client: Client) -> list[str]:
    return [run["id"] for run in client.get("/v1/runs").json()["items"]]


def test_nothing_of_an_erased_definition_is_stored(client: Client, definition_id: str, cloud: Settings) -> None:
    assert len(places_with(MARKER, cloud)) > 3
    assert erase(client, definition_id) == 204
    erase_due(utc_now() + LATER, lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_it_is_unreadable_at_once_with_its_runs(client: Client, definition_id: str) -> None:
    (run_id,) = run_ids(client)
    erase(client, definition_id)
    assert run_ids(client) == []
    paths = (f"/v1/runs/{run_id}", f"/v1/definitions/{definition_id}")
    assert [client.get(path).status for path in paths] == [404, 404]


def test_a_definition_that_was_deleted_before_is_erased(client: Client, definition_id: str, cloud: Settings) -> None:
    client.delete(f"/v1/definitions/{definition_id}")
    assert erase(client, definition_id) == 204
    erase_due(utc_now() + LATER, lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_another_definition_stays(client: Client, definition_id: str) -> None:
    other = client.post("/v1/definitions", {"name": "other", "content": {"system": "Be brief."}}).json()["id"]
    erase(client, definition_id)
    erase_due(utc_now() + LATER, lambda: 900.0)
    assert client.get(f"/v1/definitions/{other}").status == 200


def test_forks_are_erased_first(client: Client, definition_id: str) -> None:
    fork_id = client.post(f"/v1/definitions/{definition_id}/fork", {"name": "fork"}).json()["id"]
    answer = client.post(f"/v1/definitions/{definition_id}/erase")
    assert (answer.status, fork_id in answer.text) == (409, True)
    assert erase(client, fork_id) == 204
    erase_due(utc_now() + LATER, lambda: 900.0)
    assert erase(client, definition_id) == 204


def test_runs_that_the_request_leaves_are_deleted_by_the_sweeper(client: Client, definition_id: str) -> None:
    erasure.erase_definition("acme", definition_id, utc_now(), lambda: False)
    assert len(run_ids(client)) == 1
    erase_due(utc_now() + timedelta(minutes=1), lambda: 900.0)
    assert run_ids(client) == []


def test_only_an_admin_may_erase_and_only_in_the_own_workspace(
    client: Client, definition_id: str, member: str, stranger: str
) -> None:
    path = f"/v1/definitions/{definition_id}/erase"
    assert [client.post(path, token=token).status for token in (member, stranger)] == [403, 404]


def test_an_erasure_is_repeated_in_a_restored_table(client: Client, definition_id: str, cloud: Settings) -> None:
    """The record of the deletion is in the bucket; here, the table is as before because the sweeper has not run."""
    erase(client, definition_id)
    assert workspace_erasure.reapply_deletions(utc_now()) == 2  # the run and its definition
    erase_due(utc_now() + LATER, lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def restore(items: list[Any], cloud: Settings) -> None:
    """The table as it was when `items` were read."""
    for item in items:
        clients.dynamodb().put_item(TableName=cloud.table_name, Item=item)


def test_a_definition_and_its_fork_are_erased_again_in_a_restored_table(
    client: Client, definition_id: str, cloud: Settings
) -> None:
    fork_id = client.post(f"/v1/definitions/{definition_id}/fork", {"name": MARKER}).json()["id"]
    backup = clients.dynamodb().scan(TableName=cloud.table_name)["Items"]
    for each in (fork_id, definition_id):
        assert erase(client, each) == 204
        erase_due(utc_now() + LATER, lambda: 900.0)
    restore(backup, cloud)
    workspace_erasure.reapply_deletions(utc_now())
    erase_due(utc_now() + LATER, lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_a_run_that_is_deleted_meanwhile_does_not_keep_the_others_readable(
    client: Client, definition_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"]}).status == 201
    newest, _ = run_ids(client)
    list_runs = erasure.runs.list_runs

    def list_before_deletion(workspace: str, **options: Any) -> Any:
        listed = list_runs(workspace, **options)
        erasure.runs.delete(RunRef(workspace, newest), utc_now(), erase_from=utc_now())
        return listed

    monkeypatch.setattr(erasure.runs, "list_runs", list_before_deletion)
    assert erase(client, definition_id) == 204
    monkeypatch.undo()
    assert run_ids(client) == []


def test_a_fork_that_is_made_meanwhile_keeps_what_it_uses(
    client: Client, definition_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete = erasure.definitions.delete

    def delete_after_fork(*arguments: Any) -> None:
        assert client.post(f"/v1/definitions/{definition_id}/fork", {"name": "fork"}).status == 201
        delete(*arguments)

    monkeypatch.setattr(erasure.definitions, "delete", delete_after_fork)
    assert erase(client, definition_id) == 409
    monkeypatch.undo()
    erase_due(utc_now() + LATER, lambda: 900.0)
    (fork,) = client.get("/v1/definitions").json()["items"]
    assert client.get(f"/v1/definitions/{fork['id']}").json()["content"]["system"] == f"You live in {MARKER}."


def test_no_fork_is_made_of_a_definition_that_is_erased_meanwhile(
    client: Client, definition_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = forks.definitions.create

    def create_after_erasure(*arguments: Any) -> None:
        assert erase(client, definition_id) == 204
        create(*arguments)

    monkeypatch.setattr(forks.definitions, "create", create_after_erasure)
    assert client.post(f"/v1/definitions/{definition_id}/fork", {"name": "fork"}).status == 404
    monkeypatch.undo()
    assert client.get("/v1/definitions").json()["items"] == []
