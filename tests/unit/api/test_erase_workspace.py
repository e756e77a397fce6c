"""Erasing a workspace with everything in it."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import chain, repeat

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.access import AccessRole
from cupel_core.runs import workspace_erasure
from cupel_core.store import clients, resources, workspaces
from cupel_core.store.resources import ResourceKind
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import tokens
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.profiles import operation, profile
from tests.stored_text import places_with
from tests.unit.api.client import Client

MARKER = "zanzibar"
LEFT = {"operators#audit", "workspaces acme"}
"""Where the name of an erased workspace stays."""
HEADERS = {"headers": {"X-Key": MARKER}}
CONNECTOR = {"name": MARKER, "type": "http", "baseUrl": "https://agent.example", **HEADERS}
CONNECTOR_CONFIG = {"config": {"request": "{text: message}", "reply": "text"}}


@pytest.fixture
def operator(client: Client) -> str:
    return client.issue("operators", AccessRole.OPERATOR)


@pytest.fixture
def with_run(client: Client) -> Client:
    """The workspace `acme` has a run."""
    items = [{"messages": [{"role": "user", "content": f"Where is {MARKER}?"}]}]
    definition_id = _create(client, "/v1/definitions", {"name": "x", "content": {"system": "x"}, "scenarios": items})
    assert client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"]}).status == 201
    return client


@pytest.fixture
def filled(client: Client) -> Client:
    """The workspace `acme` has one of everything, and one deleted one of each kind that can be deleted."""
    content = {"system": f"You live in {MARKER}."}
    items = [{"name": MARKER, "messages": [{"role": "user", "content": f"Where is {MARKER}?"}]}]
    definition = {"name": MARKER, "content": content, "scenarios": items}
    definition_id = _create(client, "/v1/definitions", definition)
    client.delete(f"/v1/definitions/{_create(client, '/v1/definitions', definition)}")
    run = {"definitionId": definition_id, "models": ["sim/steady"]}
    client.delete(f"/v1/runs/{client.post('/v1/runs', run).json()['run']['id']}")
    assert client.post("/v1/runs", {**run, "name": MARKER}).status == 201
    made = {
        "personas": {"name": MARKER, "systemPrompt": MARKER, **HEADERS, "connectorUrls": ["https://agent.example"]},
        "connectors": CONNECTOR | CONNECTOR_CONFIG,
        "evals": {"name": MARKER, "model": "sim/steady", "scenarioIds": [_scenario_id(client, definition_id)]},
        "profiles": profile(operation(params={"template": MARKER}), name=MARKER),
        "chats": {"title": MARKER, "system": MARKER, "target": {"model": "sim/steady"}},
        "schedules": {"name": MARKER, "expression": "rate(1 day)", "run": run},
    }
    for path, body in made.items():
        client.delete(f"/v1/{path}/{_create(client, f'/v1/{path}', body)}")
        _create(client, f"/v1/{path}", body)
    assert client.put("/v1/providers/openai", {"apiKey": MARKER}).status == 200
    evaluator = {"url": "https://judge.example", **HEADERS}
    assert client.put("/v1/settings", {"evaluator": evaluator}).status == 200
    assert client.put("/v1/webhook", {"url": f"https://{MARKER}.example"}).status == 200
    return client


def _create(client: Client, path: str, body: dict[str, object]) -> str:
    answer = client.post(path, body)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


def _scenario_id(client: Client, definition_id: str) -> str:
    return str(client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"])


def erase(client: Client, operator: str, name: str = "acme", confirm: str = "acme") -> int:
    return client.post(f"/v1/workspaces/{name}/erase", {"confirm": confirm}, token=operator).status


def sweep(after: timedelta, seconds_left: Callable[[], float] = lambda: 900.0) -> None:
    erase_due(utc_now() + after, seconds_left)


def sweep_to_the_end() -> None:
    """Runs are erased one by one, then the rest, and the rest once more."""
    for hours in range(1, 4):
        sweep(timedelta(hours=hours))


def state(client: Client, operator: str) -> dict[str, object]:
    found: dict[str, object] = client.get("/v1/workspaces/acme", token=operator).json()
    return found


def left() -> list[str]:
    """Names of what other services than the table and the bucket still have."""
    secrets = clients.secretsmanager().list_secrets()["SecretList"]
    schedules = clients.scheduler().list_schedules(GroupName="cupel-test")["Schedules"]
    return [each["Name"] for each in (*secrets, *schedules)]


def is_short_lived(place: str) -> bool:
    """Ids that expire or are dropped when their turn comes: messages, and records of keys, deletions and dispatches;
    and the counts of the barrier's inner nodes."""
    partitions = ("erasures ", "outbox ", "deletions/", "https://")
    return place.startswith(partitions) or "#start#" in place or "#nodes#" in place


def test_nothing_of_an_erased_workspace_is_left(filled: Client, operator: str, cloud: Settings) -> None:
    assert len(places_with(MARKER, cloud)) > 15
    assert len(left()) == 8
    assert erase(filled, operator) == 204
    sweep_to_the_end()
    assert places_with(MARKER, cloud) == []
    assert {place.partition(" 2")[0] for place in places_with("acme", cloud) if not is_short_lived(place)} == LEFT
    assert left() == []


def test_its_tokens_and_runs_end_at_once(with_run: Client, operator: str) -> None:
    erase(with_run, operator)
    assert with_run.get("/v1/runs").status == 401
    assert with_run.get("/v1/runs", token=with_run.issue()).json()["items"] == []


def test_another_workspace_stays(client: Client, operator: str, stranger: str) -> None:
    kept = client.post("/v1/definitions", {"name": "kept", "content": {"system": "Be brief."}}, token=stranger)
    erase(client, operator)
    sweep_to_the_end()
    assert client.get(f"/v1/definitions/{kept.json()['id']}", token=stranger).status == 200


def test_the_operator_sees_when_it_is_complete(client: Client, operator: str) -> None:
    erase(client, operator)
    begun = state(client, operator)
    assert (begun["erasedAt"] is None, begun["erasureCompletedAt"]) == (False, None)
    sweep_to_the_end()
    assert state(client, operator)["erasureCompletedAt"]
    listed = client.get("/v1/workspaces", token=operator).json()["items"]
    assert [each["name"] for each in listed] == ["acme"]


def test_what_was_written_meanwhile_is_erased_by_the_second_pass(client: Client, operator: str) -> None:
    erase(client, operator)
    sweep(timedelta(hours=1))
    sweep(timedelta(hours=2))
    late = client.issue()
    assert client.post("/v1/personas", {"name": "late"}, token=late).status == 201
    sweep(timedelta(hours=3))
    assert list(resources.list_ids("acme", ResourceKind.PERSONA)) == []


def test_an_erasure_takes_as_many_sweeps_as_it_needs(filled: Client, operator: str) -> None:
    erase(filled, operator)
    for minutes in range(30, 600, 5):
        seconds = chain([900.0] * 6, repeat(1.0))  # For the check of the erasure, and for a few steps.
        sweep(timedelta(minutes=minutes), partial(next, seconds))
        if state(filled, operator)["erasureCompletedAt"]:
            break
    assert (left(), state(filled, operator)["erasureCompletedAt"] is None) == ([], False)


def test_what_the_request_leaves_is_closed_by_the_sweeper(client: Client, operator: str) -> None:
    workspace_erasure.erase_workspace("acme", utc_now(), lambda: False)
    assert client.get("/v1/runs").status == 200
    sweep(timedelta(minutes=1))
    assert client.get("/v1/runs").status == 401


def test_a_repeated_request_continues(client: Client, operator: str) -> None:
    workspace_erasure.erase_workspace("acme", utc_now(), lambda: False)
    began = state(client, operator)["erasedAt"]
    assert erase(client, operator) == 204
    assert client.get("/v1/runs").status == 401
    assert state(client, operator)["erasedAt"] == began


def test_the_name_is_free_once_nothing_is_left(client: Client, operator: str) -> None:
    erase(client, operator)
    refused = client.post("/v1/workspaces", {"name": "acme"}, token=operator)
    assert (refused.status, "is being erased" in refused.text) == (409, True)
    sweep_to_the_end()
    assert client.post("/v1/workspaces", {"name": "acme"}, token=operator).status == 201
    assert state(client, operator)["erasedAt"] is None


def test_a_new_workspace_of_the_name_is_not_erased(client: Client, operator: str) -> None:
    erase(client, operator)
    sweep_to_the_end()
    admin = client.post("/v1/workspaces", {"name": "acme"}, token=operator).json()["token"]["token"]
    workspace_erasure.reapply_deletions(utc_now())
    sweep_to_the_end()
    assert client.get("/v1/runs", token=admin).status == 200


def test_an_erasure_is_repeated_in_a_restored_table(with_run: Client, operator: str, cloud: Settings) -> None:
    erase(with_run, operator)
    workspaces.WorkspaceItem("workspaces", "acme").delete()  # As in a table from before the erasure.
    tokens.issue("acme", AccessRole.ADMIN, "restored", utc_now())
    workspace_erasure.reapply_deletions(utc_now())
    sweep_to_the_end()
    assert places_with(MARKER, cloud) == []


def test_it_must_be_confirmed_by_its_name(client: Client, operator: str) -> None:
    answer = client.post("/v1/workspaces/acme/erase", {"confirm": "acme2"}, token=operator)
    assert (answer.status, answer.fields()) == (422, ["confirm"])
    assert client.get("/v1/runs").status == 200


@pytest.mark.usefixtures("cloud")
def test_an_operator_cannot_erase_their_own_token_nor_an_unknown_workspace(client: Client, operator: str) -> None:
    assert erase(client, operator, "operators", "operators") == 409
    assert erase(client, operator, "nowhere", "nowhere") == 404


def test_only_an_operator_may_erase_a_workspace(client: Client, member: str) -> None:
    assert [erase(client, token) for token in (member, client.token or "")] == [403, 403]


def test_the_workspace_named_like_the_partition_of_all_tokens_keeps_those_of_others(
    client: Client, operator: str
) -> None:
    client.issue("token")
    assert erase(client, operator, "token", "token") == 204
    sweep_to_the_end()
    assert client.get("/v1/runs").status == 200


def test_the_erasure_is_in_the_audit_log_of_the_operator(client: Client, operator: str) -> None:
    erase(client, operator)
    admin = client.issue("operators")
    records = client.get("/v1/audit", token=admin).json()["items"]
    assert [(each["operation"], each["path"]) for each in records] == [("eraseWorkspace", "/v1/workspaces/acme/erase")]
