"""Creation of workspaces by an operator, who has no access to what is in them."""

import pytest

from cupel_core.domain.access import AccessRole
from cupel_core.store import keys, partitions, tokens
from tests.operations import OPERATIONS
from tests.unit.api.client import Client
from tests.unit.conflicting_transactions import conflicting_transactions


@pytest.fixture
def operator(client: Client) -> str:
    return client.issue("operators", AccessRole.OPERATOR)


def test_a_new_workspace_comes_with_an_admin_token(client: Client, operator: str) -> None:
    created = client.post("/v1/workspaces", {"name": "team-a"}, token=operator)
    assert (created.status, created.json()["name"]) == (201, "team-a")
    admin = created.json()["token"]["token"]
    assert client.post("/v1/personas", {"name": "Ada", "systemPrompt": "x"}, token=admin).status == 201
    found = [client.get(f"/v1/workspaces/{name}", token=operator).status for name in ("team-a", "team-b")]
    assert found == [200, 404]


def test_a_workspace_that_exists_is_refused(client: Client, operator: str) -> None:
    assert client.post("/v1/workspaces", {"name": "team-a"}, token=operator).status == 201
    assert client.post("/v1/workspaces", {"name": "team-a"}, token=operator).status == 409
    assert client.post("/v1/workspaces", {"name": "acme"}, token=operator).status == 409  # from before operators


def test_a_creation_that_conflicts_with_other_writes_may_be_repeated(client: Client, operator: str) -> None:
    with conflicting_transactions():
        refused = client.post("/v1/workspaces", {"name": "team-a"}, token=operator)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert client.post("/v1/workspaces", {"name": "team-a"}, token=operator).status == 201


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/providers/openai", {"enabled": True}),
        ("POST", "/v1/personas", {"name": "Ada", "systemPrompt": "x"}),
        ("POST", "/v1/definitions", {"name": "x", "content": {"system": "s"}}),
    ],
)
def test_what_users_with_jwts_have_stored_is_not_given_to_an_operator(
    client: Client, operator: str, method: str, path: str, body: dict[str, object]
) -> None:
    """JWTs leave no token, and records of the audit log end after a year."""
    user = client.issue("team-a")
    made = client.request(method, path, json=body, token=user).json()
    if path == "/v1/definitions":  # runs and forks still read it
        client.delete(f"{path}/{made['id']}", token=user)
    tokens.erase_all("team-a", lambda: True)
    partitions.erase(keys.audit_log("team-a"))
    assert client.post("/v1/workspaces", {"name": "team-a"}, token=operator).status == 409


@pytest.mark.parametrize("name", ["", "Team", "a#b", "-a", "x" * 64])
def test_a_bad_name_is_named(client: Client, operator: str, name: str) -> None:
    assert client.post("/v1/workspaces", {"name": name}, token=operator).fields() == ["name"]


def test_an_operator_may_do_nothing_else() -> None:
    permitted = {one.id for one in OPERATIONS.values() if not one.is_public and one.permits(AccessRole.OPERATOR)}
    assert permitted == {"createWorkspace", "eraseWorkspace", "getWorkspace", "listWorkspaces"}


def test_nobody_else_creates_workspaces_and_no_admin_issues_an_operators_token(client: Client) -> None:
    assert client.post("/v1/workspaces", {"name": "team-a"}).status == 403
    refused = client.post("/v1/tokens", {"name": "x", "role": "operator"})
    assert (refused.status, refused.fields()) == (422, ["role"])
