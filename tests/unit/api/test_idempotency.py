"""Idempotency-Keys: whatever a request creates, repeating it with its key does not create it again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pynamodb.exceptions import TransactWriteError

from cupel_core.base.clock import utc_now
from cupel_core.contract.operation import Replay
from cupel_core.domain.access import AccessRole, Token
from cupel_core.interfaces.http import idempotency as api_idempotency
from cupel_core.interfaces.openapi import document
from cupel_core.store import idempotency_keys, tokens
from cupel_core.store.idempotency_keys import IdempotencyItem
from tests.operations import OPERATIONS
from tests.unit.api.client import Answer, Client
from tools.openapi_changes import resolve

PERSONA = {"name": "Ada", "description": "An engineer", "systemPrompt": "You are curt."}
CONNECTOR = {"name": "agent", "type": "langgraph", "baseUrl": "https://agent.test/"}
CONTENT = {"system": "Be brief.", "template": "Rate [thing]", "dimensions": []}
TONE = {"name": "tone", "levels": [{"score": 1, "label": "mild", "options": ["kind"]}]}
KEY = {"Idempotency-Key": "key-1"}


@pytest.fixture
def definition_id(client: Client) -> str:
    created = client.post("/v1/definitions", {"name": "facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{created['id']}/scenarios", {"items": [{"prompt": "hello"}]})
    return str(created["id"])


def requests_of(client: Client, definition_id: str) -> dict[str, tuple[str, dict[str, Any], str]]:
    """By operation: a path, a body, and the list that what it creates is in."""
    scenarios = f"/v1/definitions/{definition_id}/scenarios"
    scenario_id = client.get(scenarios).json()["items"][0]["id"]
    model = {"model": "sim/steady", "scenarioIds": [scenario_id]}
    run = {"definitionId": definition_id, "models": ["sim/steady"]}
    schedule = {"name": "nightly", "expression": "rate(1 day)", "run": run}
    return {
        "createDefinition": ("/v1/definitions", {"name": "new", "content": {"system": "x"}}, "/v1/definitions"),
        "forkDefinition": (f"/v1/definitions/{definition_id}/fork", {"name": "fork"}, "/v1/definitions"),
        "createScenarios": (scenarios, {"items": [{"prompt": "more"}]}, scenarios),
        "importScenarios": (f"{scenarios}/import", {"format": "jsonl", "content": '{"prompt": "more"}'}, scenarios),
        "importDataset": ("/v1/imports/csv", {"content": "input,ideal\nhi,ho\n", "name": "csv"}, "/v1/definitions"),
        "importPromptfoo": ("/v1/imports/promptfoo", {"config": "prompts: [hi]\ntests: [{}]"}, "/v1/definitions"),
        "createPersona": ("/v1/personas", PERSONA, "/v1/personas"),
        "createConnector": ("/v1/connectors", CONNECTOR, "/v1/connectors"),
        "createEval": ("/v1/evals", {"name": "eval", **model}, "/v1/evals"),
        "createSchedule": ("/v1/schedules", schedule, "/v1/schedules"),
        "createRun": ("/v1/runs", run, "/v1/runs"),
        "createScaleRun": ("/v1/scale-runs", {"models": ["sim/steady"], "userMessage": "hi", "count": 2}, "/v1/runs"),
    }


OPERATION_IDS = (
    "createDefinition",
    "forkDefinition",
    "createScenarios",
    "importScenarios",
    "importDataset",
    "importPromptfoo",
    "createPersona",
    "createConnector",
    "createEval",
    "createSchedule",
    "createRun",
    "createScaleRun",
)


@pytest.mark.parametrize("operation_id", OPERATION_IDS)
def test_a_repeated_request_creates_nothing_and_gets_the_same_response(
    client: Client, definition_id: str, operation_id: str
) -> None:
    path, body, listed_at = requests_of(client, definition_id)[operation_id]
    first = client.post(path, body, headers=KEY)
    count = len(client.get(listed_at).json()["items"])
    second = client.post(path, body, headers=KEY)
    assert (first.status, second.status) == (201, 201), first.text
    assert (second.json(), second.headers["Location"]) == (first.json(), first.headers["Location"])
    assert len(client.get(listed_at).json()["items"]) == count


def test_a_generation_is_repeated_by_its_key(client: Client) -> None:
    content = {"template": "Rate [tone]", "dimensions": [TONE]}
    created = client.post("/v1/definitions", {"name": "matrix", "content": content})
    path = f"{created.headers['Location']}/scenarios/generate"
    first, second = (client.post(path, {"mode": "matrix"}, headers=KEY) for _ in range(2))
    assert (first.status, first.json()) == (second.status, second.json())
    assert first.status == 201, first.text
    assert client.get(created.headers["Location"]).json()["scenarioCount"] == 1


def test_a_repeated_creation_of_a_token_does_not_return_its_secret(client: Client) -> None:
    body = {"name": "CI", "role": "viewer"}
    first, second = (client.post("/v1/tokens", body, headers=KEY) for _ in range(2))
    assert (first.status, second.status) == (201, 409)
    assert f"/v1/tokens/{first.json()['id']}" in second.json()["detail"]
    assert [one["name"] for one in client.get("/v1/tokens").json()["items"]].count("CI") == 1


def test_no_stored_answer_has_the_content_of_what_was_created(client: Client) -> None:
    """It would outlive the deletion of what was created."""
    client.post("/v1/personas", PERSONA, headers=KEY)
    client.post("/v1/tokens", {"name": "CI", "role": "viewer"}, headers={"Idempotency-Key": "key-2"})
    for key in ("key-1", "key-2"):
        item = IdempotencyItem.get(f"acme#start#{idempotency_keys.fingerprint(key)}", "start")
        assert item.answer
        assert not [text for text in ("curt", "cupel_", "CI") if text in item.answer]


def test_another_request_with_the_same_key_is_refused(client: Client) -> None:
    client.post("/v1/personas", PERSONA, headers=KEY)
    answer = client.post("/v1/connectors", CONNECTOR, headers=KEY)
    assert (answer.status, answer.fields()) == (422, ["Idempotency-Key"])


def test_a_refused_request_does_not_use_up_its_key(client: Client) -> None:
    assert client.post("/v1/personas", {**PERSONA, "name": ""}, headers=KEY).status == 422
    assert client.post("/v1/personas", PERSONA, headers=KEY).status == 201


def test_the_key_of_another_workspace_is_another_key(client: Client, stranger: str) -> None:
    ours, theirs = (client.post("/v1/personas", PERSONA, headers=KEY, token=token) for token in (None, stranger))
    assert (ours.status, theirs.status) == (201, 201)
    assert ours.json()["id"] != theirs.json()["id"]


def test_what_was_created_and_deleted_since_is_not_created_again(client: Client) -> None:
    location = client.post("/v1/personas", PERSONA, headers=KEY).headers["Location"]
    client.delete(location)
    assert client.post("/v1/personas", PERSONA, headers=KEY).status == 404
    assert client.get("/v1/personas").json()["items"] == []


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 256])
def test_a_bad_key_is_named(client: Client, key: str) -> None:
    answer = client.post("/v1/personas", PERSONA, headers={"Idempotency-Key": key})
    assert (answer.status, answer.fields()) == (422, ["Idempotency-Key"])


def test_a_response_that_is_too_large_is_not_stored(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_idempotency, "MAX_STORED_BYTES", 10)
    body = {"content": "input,ideal\nhi,ho\n", "name": "csv"}
    first, second = (client.post("/v1/imports/csv", body, headers=KEY) for _ in range(2))
    assert (first.status, second.status) == (201, 409)
    assert first.headers["Location"] in second.json()["detail"]


def test_the_name_of_an_earlier_system_is_accepted(client: Client) -> None:
    first, second = (client.post("/v1/personas", PERSONA, headers={"X-Idempotency-Key": "key-1"}) for _ in range(2))
    assert (first.status, second.status, second.json()["id"]) == (201, 201, first.json()["id"])
    assert client.post("/v1/personas", PERSONA, headers=KEY).json()["id"] == first.json()["id"]


def test_two_keys_that_differ_are_refused(client: Client) -> None:
    answer = client.post("/v1/personas", PERSONA, headers={**KEY, "X-Idempotency-Key": "key-2"})
    assert (answer.status, answer.fields()) == (422, ["x-idempotency-key"])


type Reserve = Callable[[datetime], IdempotencyItem]


@pytest.fixture
def reserve(client: Client) -> Reserve:
    """Reserve the key for a request that creates the token `CI`, at a time."""

    def reserved(at: datetime) -> IdempotencyItem:
        item = idempotency_keys.reserve(
            "acme", "key-1", 'createToken\n/v1/tokens\n{"name": "CI", "role": "viewer"}', "req_1", at
        )
        assert item is not None
        return item

    return reserved


def create_token(client: Client) -> Answer:
    return client.post("/v1/tokens", {"name": "CI", "role": "viewer"}, headers=KEY)


def carry_out(reservation: IdempotencyItem) -> None:
    """What the request that has the reservation writes."""
    token = Token("tok_1", "CI", AccessRole.VIEWER, datetime(2026, 1, 1, tzinfo=UTC))
    with idempotency_keys.applying(reservation):
        tokens.create("acme", token, "digest")


def test_a_request_is_not_carried_out_while_the_first_one_is_in_progress(client: Client, reserve: Reserve) -> None:
    reserve(utc_now())
    answer = create_token(client)
    assert (answer.status, answer.headers["Retry-After"]) == (409, "1")


def test_a_request_that_ended_before_it_wrote_anything_is_carried_out_when_repeated(
    client: Client, reserve: Reserve
) -> None:
    reserve(utc_now() - timedelta(minutes=1))
    assert create_token(client).status == 201


def test_a_request_that_ended_after_its_transaction_is_not_carried_out_again(client: Client, reserve: Reserve) -> None:
    carry_out(reserve(utc_now() - timedelta(minutes=1)))
    answer = create_token(client)
    assert (answer.status, "Retry-After" in answer.headers) == (409, False)
    assert "took effect" in answer.json()["detail"]
    assert [one["id"] for one in client.get("/v1/tokens").json()["items"] if one["name"] == "CI"] == ["tok_1"]


def test_a_slow_request_writes_nothing_once_another_has_taken_over_its_key(client: Client, reserve: Reserve) -> None:
    slow = reserve(utc_now() - timedelta(minutes=1))
    assert create_token(client).status == 201
    with pytest.raises(TransactWriteError):
        carry_out(slow)


def test_every_creating_operation_takes_a_key() -> None:
    asked_twice_is_one = {"analyzeRun", "createComparison", "createReport", "createTrial"}
    creating = {one.id for one in OPERATIONS.values() if one.location} - {"createEventTicket"} - asked_twice_is_one
    assert {one.id for one in OPERATIONS.values() if one.replay} == creating
    assert creating >= set(OPERATION_IDS)


def test_every_operation_with_a_key_documents_it_and_no_other() -> None:
    documented = {
        operation["operationId"]
        for item in resolve(document())["paths"].values()
        for operation in item.values()
        if any(one["name"] == "Idempotency-Key" for one in operation.get("parameters", ()))
    }
    assert documented == {one.id for one in OPERATIONS.values() if one.replay}


def test_what_is_read_again_has_a_path_that_can_be_read() -> None:
    from cupel_core.interfaces.routes import routes_at

    created = [one for one in OPERATIONS.values() if one.replay is Replay.CREATED]
    assert created
    assert [
        one.id for one in created if "GET" not in routes_at((one.location or "").replace("{", "").replace("}", ""))
    ] == []
