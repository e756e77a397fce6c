"""Quotas limit what one workspace may have; its tokens, sessions and chats do not multiply them."""

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.limits.quotas import Quota
from cupel_core.store import quotas
from cupel_core.store.settings import settings
from tests.unit.api.client import Answer, Client
from tests.unit.api.test_sessions import create_code, redeem

DEFINITION = {"name": "d", "content": {"system": "s"}}
CONNECTOR = {
    "type": "http",
    "baseUrl": "https://agent.example",
    "config": {"request": "{text: message}", "reply": "text"},
}


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch, client: Client) -> Callable[[str], None]:
    def set_quotas(text: str) -> None:
        monkeypatch.setenv("WORKSPACE_QUOTAS", text)
        settings.cache_clear()

    del client
    return set_quotas


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that moves the clock to when deleted items make room."""

    def pass_by() -> None:
        now = utc_now() + timedelta(seconds=quotas.RECOUNT_SECONDS)
        monkeypatch.setattr(quotas, "utc_now", lambda: now)

    return pass_by


def statuses(answers: list[Answer]) -> list[int]:
    return [answer.status for answer in answers]


def new_file(client: Client, number: int, size: int = 1_000) -> Answer:
    digest = sha256(str(number).encode()).hexdigest()
    return client.post("/v1/files", {"name": "a.png", "type": "image/png", "size": size, "sha256": digest})


def body_of(path: str, number: int) -> dict[str, Any]:
    name = {"name": f"thing {number}"}
    return {
        "/v1/tokens": name | {"role": "viewer"},
        "/v1/definitions": name | {"content": {"system": "s"}},
        "/v1/personas": name | {"systemPrompt": "p"},
        "/v1/connectors": name | CONNECTOR,
        "/v1/experiments": name | {"hypothesis": "h"},
        "/v1/profiles": name | {"operations": []},
        "/v1/chats": {"target": {"model": "sim/steady"}},
    }[path]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/tokens",
        "/v1/definitions",
        "/v1/personas",
        "/v1/connectors",
        "/v1/experiments",
        "/v1/profiles",
        "/v1/chats",
    ],
)
def test_a_workspace_creates_no_more_than_its_quota(client: Client, limit: Callable[[str], None], path: str) -> None:
    quota = path.rpartition("/")[2]
    before = 1 if quota == Quota.TOKENS else 0  # That of the client.
    limit(f"{quota}={3 + before}")
    answers = [client.post(path, body_of(path, number)) for number in range(5)]
    assert statuses(answers) == [201] * 3 + [409] * 2
    assert answers[-1].json()["title"] == "Quota exceeded"
    assert f"quota {quota}" in answers[-1].json()["detail"]
    assert "Retry-After" not in answers[-1].headers  # The client would repeat it.


def test_evals_and_schedules_have_quotas(client: Client, limit: Callable[[str], None]) -> None:
    created = client.post("/v1/definitions", DEFINITION | {"scenarios": [{"name": "s", "prompt": "p"}]}).json()
    scenarios = client.get(f"/v1/definitions/{created['id']}/scenarios").json()["items"]
    limit("evals=1,schedules=1")
    spec = {"scenarioIds": [scenarios[0]["id"]], "model": "sim/steady"}
    assert statuses([client.post("/v1/evals", spec | {"name": f"e{number}"}) for number in range(2)]) == [201, 409]
    run = {"definitionId": created["id"], "models": ["sim/steady"]}
    schedule = {"name": "s", "expression": "rate(1 hour)", "run": run}
    assert statuses([client.post("/v1/schedules", schedule) for _ in range(2)]) == [201, 409]


def test_a_token_created_by_another_token_uses_the_same_quota(client: Client, limit: Callable[[str], None]) -> None:
    limit("tokens=4")
    made = client.post("/v1/tokens", {"name": "a", "role": "admin"}).json()
    again = client.post("/v1/tokens", {"name": "b", "role": "admin"}, token=made["token"]).json()
    answers = [client.post("/v1/tokens", {"name": "c", "role": "admin"}, token=again["token"]) for _ in range(3)]
    assert statuses(answers) == [201, 409, 409]


def test_a_revoked_token_makes_room(client: Client, limit: Callable[[str], None], later: Callable[[], None]) -> None:
    limit("tokens=2")
    made = client.post("/v1/tokens", {"name": "a", "role": "viewer"}).json()
    assert client.post("/v1/tokens", {"name": "b", "role": "viewer"}).status == 409
    assert client.delete(f"/v1/tokens/{made['id']}").status == 204
    later()
    assert client.post("/v1/tokens", {"name": "b", "role": "viewer"}).status == 201


def test_sessions_have_a_quota_beside_that_of_tokens(client: Client, limit: Callable[[str], None]) -> None:
    limit("sessions=2,tokens=1")
    assert statuses([redeem(create_code(client)) for _ in range(3)]) == [200, 200, 409]


def test_imports_and_forks_use_the_quota_of_definitions(client: Client, limit: Callable[[str], None]) -> None:
    limit("definitions=2")
    created = client.post("/v1/definitions", DEFINITION).json()
    assert client.post(f"/v1/definitions/{created['id']}/fork", {"name": "f"}).status == 201
    assert client.post(f"/v1/definitions/{created['id']}/fork", {"name": "g"}).status == 409
    config = "prompts: ['{{q}}']\nproviders: [openai:gpt-4o]\ntests: [{vars: {q: a}}]\n"
    assert client.post("/v1/imports/promptfoo", {"config": config}).status == 409


def test_a_deleted_definition_makes_no_room_until_it_is_erased(
    client: Client, limit: Callable[[str], None], later: Callable[[], None]
) -> None:
    limit("definitions=1")
    created = client.post("/v1/definitions", DEFINITION).json()
    assert client.delete(f"/v1/definitions/{created['id']}").status == 204
    later()
    refused = client.post("/v1/definitions", DEFINITION)
    assert (refused.status, "erase some" in refused.json()["detail"]) == (409, True)


def test_files_are_bounded_by_number_and_bytes(
    client: Client, limit: Callable[[str], None], later: Callable[[], None]
) -> None:
    limit("files=3,fileBytes=2500")
    assert statuses([new_file(client, number) for number in range(3)]) == [200, 200, 409]
    later()  # The refused file was counted, too.
    assert new_file(client, 4, size=400).status == 200
    refused = new_file(client, 5, size=1)
    assert "at most 3 files" in refused.json()["detail"]


def test_announcing_the_same_file_again_uses_no_further_quota(
    client: Client, limit: Callable[[str], None], later: Callable[[], None]
) -> None:
    limit("files=2,fileBytes=2000")
    assert set(statuses([new_file(client, 1) for _ in range(2)])) == {200}
    later()
    assert new_file(client, 2).status == 200


def test_uploads_in_parts_are_counted_as_announced(client: Client, limit: Callable[[str], None]) -> None:
    limit("fileBytes=2000")
    upload = {"filename": "a.jsonl", "purpose": "evals", "bytes": 1_500, "mime_type": "text/jsonl"}
    assert statuses([client.post("/openai/v1/uploads", upload) for _ in range(2)]) == [200, 409]


def test_other_workspaces_are_not_refused(client: Client, stranger: str, limit: Callable[[str], None]) -> None:
    limit("chats=1")
    chat = {"target": {"model": "sim/steady"}}
    assert statuses([client.post("/v1/chats", chat) for _ in range(2)]) == [201, 409]
    assert client.post("/v1/chats", chat, token=stranger).status == 201


def test_further_tokens_do_not_multiply_the_requests_of_a_workspace(
    client: Client, stranger: str, limit: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from authorize import app as authorizer

    limit("requestsPerSecond=20")
    further = [client.issue() for _ in range(12)]
    monkeypatch.setattr(authorizer, "time", lambda: 1_800_000_000.0)
    answers = [client.get("/v1/settings", token=token) for token in further * 10]
    assert statuses(answers).count(200) == 45  # Twice as many at once, and five per instance without a draw.
    assert answers[-1].headers["RateLimit-Policy"] == '"workspace";q=40;w=2'
    assert "20 requests per second of this workspace" in answers[-1].json()["detail"]
    assert client.get("/v1/settings", token=stranger).status == 200
