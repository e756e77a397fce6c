"""The models of a workspace's own servers over HTTP."""

from collections.abc import Iterator

import pytest

from cupel_core.accounts import served_models
from cupel_core.providers.account import Account
from cupel_core.providers.served_models import ServedModels
from tests.unit.api.client import Client

PATH = "/v1/served-models"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The addresses of the servers that were asked. One of them does not answer."""
    addresses: list[str] = []

    async def fetch(account: Account) -> ServedModels:
        addresses.append(account.base_url)
        if account.provider == "custom-down":
            return ServedModels(account.provider, problem="no connection to down.example.com")
        return ServedModels(account.provider, (f"{account.provider}/fast",))

    monkeypatch.setattr(served_models, "fetch_models", fetch)
    served_models.forget()
    yield addresses
    served_models.forget()


def own_server(client: Client, name: str, host: str) -> None:
    assert client.put(f"/v1/providers/{name}", {"baseUrl": f"https://{host}.example.com/v1"}).status == 200


def test_each_own_server_is_asked_once_a_minute(client: Client, asked: list[str]) -> None:
    own_server(client, "custom", "llm")
    own_server(client, "custom-down", "down")
    client.put("/v1/providers/openai", {"apiKey": "sk-" + "x" * 20})
    expected = [
        {"provider": "custom", "models": ["custom/fast"], "problem": None},
        {"provider": "custom-down", "models": [], "problem": "no connection to down.example.com"},
    ]
    for _ in range(2):
        assert client.get(PATH).json() == {"items": expected}
    assert sorted(asked) == ["https://down.example.com/v1", "https://llm.example.com/v1"]


def test_a_new_address_is_asked_at_once(client: Client, asked: list[str]) -> None:
    own_server(client, "custom", "old")
    client.get(PATH)
    own_server(client, "custom", "new")
    client.get(PATH)
    assert asked == ["https://old.example.com/v1", "https://new.example.com/v1"]


def test_a_disabled_server_is_not_asked(client: Client, asked: list[str]) -> None:
    own_server(client, "custom", "llm")
    client.put("/v1/providers/custom", {"enabled": False})
    assert client.get(PATH).json() == {"items": []}
    assert asked == []


def test_answers_of_one_workspace_are_not_those_of_another(client: Client, asked: list[str], stranger: str) -> None:
    own_server(client, "custom", "llm")
    client.get(PATH)
    assert client.get(PATH, token=stranger).json() == {"items": []}


def test_a_viewer_does_not_have_servers_asked(client: Client, asked: list[str], viewer: str) -> None:
    own_server(client, "custom", "llm")
    assert client.get(PATH, token=viewer).status == 403
    assert asked == []
