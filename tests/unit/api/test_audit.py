"""The audit log: who did what."""

from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from cupel_core.interfaces.gateway import auditing, locations
from cupel_core.store import audit_log
from cupel_core.store.settings import Settings
from tests.operations import OPERATIONS
from tests.unit.api.client import Client

PERSONA = {"name": "Ada", "systemPrompt": "You are Ada."}


def records(client: Client, **query: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get("/v1/audit", query=query).json()["items"]
    return items


def test_a_change_is_recorded_with_its_caller_and_what_it_created(client: Client) -> None:
    made = client.post("/v1/personas", PERSONA).json()["id"]
    (record,) = records(client)
    assert (record["operation"], record["path"], record["status"]) == ("createPersona", f"/v1/personas/{made}", 201)
    assert (record["role"], record["requestId"]) == ("admin", "request-1")
    assert record["tokenId"].startswith("tok_")


def test_reading_and_refused_input_are_not_recorded(client: Client) -> None:
    client.get("/v1/personas")
    client.post("/v1/personas", {})
    client.delete("/v1/personas/per_none")
    assert records(client) == []


def test_a_request_that_its_role_does_not_permit_is_recorded(client: Client, viewer: str) -> None:
    client.post("/v1/personas", PERSONA, token=viewer)
    assert [(each["operation"], each["status"], each["role"]) for each in records(client)] == [
        ("createPersona", 403, "viewer")
    ]


def test_a_bulk_deletion_is_recorded_with_what_it_deleted(client: Client) -> None:
    made = client.post("/v1/definitions", {"name": "x", "content": {"system": "s"}}).json()["id"]
    client.post("/v1/definitions/bulk-delete", {"ids": [made, "def_none"]})
    deletion, creation = records(client)
    assert (deletion["operation"], deletion["deletedIds"]) == ("deleteDefinitions", [made])
    assert creation["deletedIds"] is None


def test_an_import_is_recorded_with_every_definition_that_it_created(client: Client) -> None:
    config = "prompts: [one, two]\nproviders: [echo, {id: echo, label: b, prompts: [two]}]\ntests: [{vars: {x: 1}}]"
    made = client.post("/v1/imports/promptfoo", {"config": config}).json()["definitions"]
    client.post("/v1/imports/promptfoo", {"config": config, "dryRun": True})
    dry_run, real = records(client)
    assert real["createdIds"] == [each["id"] for each in made]
    assert (len(made), dry_run["createdIds"]) == (2, [])


def test_every_import_is_recorded_with_what_it_created() -> None:
    assert {each.id for each in OPERATIONS.values() if "/imports/" in each.path} == set(auditing.IMPORTS)


def test_a_request_that_failed_after_its_change_is_recorded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://dynamodb.example")

    monkeypatch.setattr(locations, "add_location", fail)
    failed = client.post("/v1/personas", PERSONA)
    monkeypatch.undo()
    assert len(client.get("/v1/personas").json()["items"]) == 1
    (record,) = records(client)
    assert (record["operation"], record["path"]) == ("createPersona", "/v1/personas")
    assert record["status"] == failed.status >= 500


def test_every_bulk_deletion_is_recorded_with_what_it_deleted() -> None:
    assert {each.id for each in OPERATIONS.values() if "/bulk-delete" in each.path} == set(auditing.BULK_DELETIONS)


def test_records_have_no_content_and_no_secrets(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-secret"})
    assert "sk-secret" not in client.get("/v1/audit").text


@pytest.mark.parametrize(("query", "count"), [({"operation": "updateProvider"}, 1), ({"tokenId": "tok_none"}, 0)])
def test_records_are_filtered(client: Client, query: dict[str, str], count: int) -> None:
    client.post("/v1/personas", PERSONA)
    client.put("/v1/providers/openai", {"enabled": True})
    assert len(records(client, **query)) == count


def test_pages_are_newest_first_and_continue(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        client.post("/v1/personas", PERSONA | {"name": name})
    first = client.get("/v1/audit", query={"limit": 2}).json()
    second = client.get("/v1/audit", query={"limit": 2, "cursor": first["nextCursor"]}).json()
    times = [each["at"] for each in (*first["items"], *second["items"])]
    assert (len(times), second["nextCursor"]) == (3, None)
    assert times == sorted(times, reverse=True)


def test_only_admins_read_it_and_only_of_their_workspace(client: Client, member: str, stranger: str) -> None:
    client.post("/v1/personas", PERSONA)
    assert client.get("/v1/audit", token=member).status == 403
    assert client.get("/v1/audit", token=stranger).json()["items"] == []


def test_a_record_that_cannot_be_stored_fails_no_request(
    cloud: Settings, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://dynamodb.example")

    monkeypatch.setattr(audit_log, "append", refuse)
    assert client.post("/v1/personas", PERSONA).status == 201
    assert "an audit record could not be stored" in caplog.text
