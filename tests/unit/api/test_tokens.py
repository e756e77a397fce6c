from typing import Any

import pytest

from tests.unit.api.client import Client


def make(client: Client, **changes: Any) -> Any:
    answer = client.post("/v1/tokens", {"name": "ci", "role": "member", **changes})
    assert answer.status == 201
    return answer.json()


def test_a_new_token_works_with_its_role(client: Client) -> None:
    token = make(client)["token"]
    assert client.get("/v1/providers", token=token).status == 200
    assert client.get("/v1/tokens", token=token).status == 403


def test_a_list_contains_no_secret(client: Client) -> None:
    token = make(client)["token"]
    answer = client.get("/v1/tokens")
    assert [item["name"] for item in answer.json()["items"]] == ["ci", "test"]
    assert token not in answer.text
    assert "digest" not in answer.text


def test_a_revoked_token_is_refused_at_once(client: Client) -> None:
    made = make(client)
    assert client.delete(f"/v1/tokens/{made['id']}").status == 204
    assert client.get("/v1/providers", token=made["token"]).status == 401


def test_revoking_twice_is_as_good_as_once(client: Client) -> None:
    made = make(client)
    assert [client.delete(f"/v1/tokens/{made['id']}").status for _ in range(2)] == [204, 204]


def test_a_revoked_token_stays_listed_with_its_time(client: Client) -> None:
    client.delete(f"/v1/tokens/{make(client)['id']}")
    assert client.get("/v1/tokens").json()["items"][0]["revokedAt"].endswith("Z")


def test_a_token_of_another_workspace_is_not_found(client: Client, stranger: str) -> None:
    made = make(client)
    assert client.delete(f"/v1/tokens/{made['id']}", token=stranger).status == 404
    assert client.get("/v1/providers", token=made["token"]).status == 200


def test_a_list_is_paged(client: Client) -> None:
    for name in ("one", "two"):
        make(client, name=name)
    first = client.get("/v1/tokens", query={"limit": 2}).json()
    second = client.get("/v1/tokens", query={"limit": 2, "cursor": first["nextCursor"]}).json()
    assert [item["name"] for item in first["items"] + second["items"]] == ["two", "one", "test"]
    assert second["nextCursor"] is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"role": "owner"}, "role"), ({"name": ""}, "name"), ({"name": 7}, "name"), ({"colour": "blue"}, "colour")],
)
def test_a_wrong_field_is_named(client: Client, changes: dict[str, Any], field: str) -> None:
    answer = client.post("/v1/tokens", {"name": "ci", "role": "member"} | changes)
    assert (answer.status, answer.fields()) == (422, [field])


def test_missing_fields_are_named(client: Client) -> None:
    assert client.post("/v1/tokens", {}).fields() == ["name", "role"]


def test_a_list_says_when_a_token_expires_and_was_last_used(client: Client) -> None:
    created = make(client, expiresAt="2099-01-01T00:00:00Z")
    assert (created["expiresAt"], created["lastUsedAt"]) == ("2099-01-01T00:00:00.000Z", None)
    client.get("/v1/providers", token=created["token"])
    listed = client.get("/v1/tokens").json()["items"][0]
    assert (listed["expiresAt"], listed["lastUsedAt"][-1]) == (created["expiresAt"], "Z")


@pytest.mark.parametrize(
    "expires_at",
    [
        "2020-01-01T00:00:00Z",
        "2099-01-01T00:00:00",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "tomorrow",
    ],
)
def test_a_time_in_the_past_or_without_offset_is_refused(client: Client, expires_at: str) -> None:
    answer = client.post("/v1/tokens", {"name": "ci", "role": "member", "expiresAt": expires_at})
    assert (answer.status, answer.fields()) == (422, ["expiresAt"])


def test_a_role_that_a_token_cannot_have_is_refused_with_those_that_it_can(client: Client) -> None:
    refused = client.post("/v1/tokens", {"name": "ops", "role": "operator"})
    assert refused.json()["errors"] == [
        {"field": "role", "message": "must be 'admin', 'member', 'viewer' or 'labeller', not 'operator'"}
    ]
