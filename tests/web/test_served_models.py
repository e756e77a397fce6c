"""The models of a workspace's own servers, where models are chosen."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from cupel_core.accounts import served_models
from cupel_core.providers.account import Account
from cupel_core.providers.served_models import ServedModels
from tests.unit.api.client import Client
from tests.web.conftest import Open, settled


@pytest.fixture(autouse=True)
def _servers(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server `custom` offers a model, and `custom-down` does not answer."""

    async def fetch(account: Account) -> ServedModels:
        if account.provider == "custom":
            return ServedModels("custom", ("custom/llama3.2:latest",))
        return ServedModels(account.provider, problem="no connection to down.example.com")

    monkeypatch.setattr(served_models, "fetch_models", fetch)
    for name, host in (("custom", "llm"), ("custom-down", "down")):
        assert client.put(f"/v1/providers/{name}", {"baseUrl": f"https://{host}.example.com/v1"}).status == 200
    served_models.forget()
    yield
    served_models.forget()


def test_models_of_own_servers_are_offered_and_others_may_be_typed(open_page: Open, client: Client) -> None:
    made = client.post("/v1/definitions", {"name": "Facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{made['id']}/scenarios", {"items": [{"prompt": "hello"}]})
    page = settled(open_page("/new"))
    models = page.get_by_role("region", name="Models")
    page.get_by_label("Search models").fill("llama")
    models.get_by_label(re.compile("custom/llama3.2:latest")).check()
    expect(page.get_by_text("Models: 4 chosen")).to_be_visible()
    note = "The models of custom-down are not listed: no connection to down.example.com"
    expect(page.get_by_text(note)).to_be_visible()
    page.get_by_label("Search models").fill("custom/other")
    expect(models.get_by_label(re.compile("custom/other"))).to_be_in_viewport()
    expect(models).to_contain_text("as typed")


def test_a_new_chat_offers_them(open_page: Open) -> None:
    page = settled(open_page("/chats"))
    page.get_by_text("New chat").click()
    expect(page.locator("datalist option[value='custom/llama3.2:latest']")).to_have_count(1)
