"""Where clients of MCP learn who issues tokens for the server."""

import json
from typing import Any

import pytest

from cupel_core.interfaces.mcp.authorization import METADATA_PATH
from cupel_core.store.settings import Settings, settings
from tests.unit.api.client import Answer, event
from tests.unit.mcpserver.conftest import McpClient, call
from tests.unit.mcpserver.test_protocol import PING

ISSUER = "https://id.example.com/tenant"
ADDRESS = "https://cupel.example.com/v1/mcp"


def configure(monkeypatch: pytest.MonkeyPatch, issuer: str, audience: str) -> None:
    monkeypatch.setenv("OIDC_ISSUER", issuer)
    monkeypatch.setenv("OIDC_AUDIENCE", audience)
    settings.cache_clear()


def metadata(method: str = "GET") -> Answer:
    return call(event(method, METADATA_PATH))


def challenge(client: McpClient) -> Any:
    answer = client.send(json.dumps(PING), token="cupel_unknown")
    assert answer.status == 401
    return answer.headers["WWW-Authenticate"]


def test_the_issuer_of_tokens_for_the_server_is_named(
    client: McpClient, cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, ISSUER, ADDRESS)
    answer = metadata()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json() == {
        "resource": ADDRESS,
        "authorization_servers": [ISSUER],
        "bearer_methods_supported": ["header"],
        "resource_name": "Cupel",
    }
    url = "https://cupel.example.com/.well-known/oauth-protected-resource/v1/mcp"
    assert challenge(client) == f'Bearer resource_metadata="{url}"'


@pytest.mark.parametrize(
    ("issuer", "audience"),
    [
        ("", ""),
        ("", ADDRESS),
        (ISSUER, "client-id"),
        (ISSUER, "https://cupel.example.com"),
        (ISSUER, "http://cupel.example.com/v1/mcp"),
        (ISSUER, f"{ADDRESS}?tools=read"),
    ],
)
def test_otherwise_there_is_none(
    client: McpClient, cloud: Settings, monkeypatch: pytest.MonkeyPatch, issuer: str, audience: str
) -> None:
    configure(monkeypatch, issuer, audience)
    assert metadata().status == 404
    assert challenge(client) == "Bearer"


def test_it_can_only_be_read(client: McpClient) -> None:
    assert metadata("POST").status == 404
