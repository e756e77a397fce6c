"""Chats in a browser: messages, branches, variants, turns and what runs in them."""

import asyncio
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.providers import sim
from cupel_core.providers.errors import ProviderError
from tests.profiles import operation, profile
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.jobs import carry_out_turns
from tests.web.samples import HOSTILE, PAYLOADS
from tests.web.server import Server


class Model:
    """Answers instead of the simulated models, with what others write."""

    def __init__(self) -> None:
        self.answers: list[str | ProviderError] = []
        self.count = 0

    async def complete(self, name: str, _: ModelRequest) -> Reply:
        self.count += 1
        answer = self.answers.pop(0) if self.answers else f"answer {self.count} {HOSTILE}"
        if isinstance(answer, ProviderError):
            raise answer
        return Reply(answer, name, Usage(10, 5), "stop")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    answering = Model()
    monkeypatch.setattr(sim, "complete", answering.complete)
    return answering


@pytest.fixture
def client(server: Server, model: Model) -> Client:
    client = Client(None)
    client.token = client.issue()
    return client


def made(client: Client, path: str, body: dict[str, Any]) -> Any:
    answer = client.post(path, body)
    assert answer.status == 201, answer.text
    return answer.json()


@pytest.fixture
def chat(client: Client) -> Any:
    body = {"title": f"Refunds {PAYLOADS[0]}", "target": {"model": "sim/steady"}, "system": f"Be brief. {HOSTILE}"}
    return made(client, "/v1/chats", body)


def say(client: Client, chat: Any, content: str, **fields: Any) -> Any:
    turn = made(client, f"/v1/chats/{chat['id']}/turns", {"content": content, **fields})
    carry_out_turns()
    return turn


@pytest.fixture
def talked(client: Client, chat: Any) -> Any:
    """With two exchanges of hostile texts, a note and a value of operations, and another answer that failed."""
    notes = operation(
        "notes",
        hooks=["after_main_llm"],
        params={"template": f"{{% raw %}}{HOSTILE}{{% endraw %}}"},
        artifact={"persistence": "persisted"},
        effects=[{"type": "turn.assistant.annotate"}],
    )
    profile_id = made(client, "/v1/profiles", profile(notes, name="noted"))["id"]
    client.patch(f"/v1/chats/{chat['id']}", {"profileId": profile_id})
    for text in ("hello", HOSTILE):
        say(client, chat, text)
    made(client, f"/v1/chats/{chat['id']}/turns", {"trigger": "regenerate"})
    carry_out_turns()
    return chat


def exchanges(client: Client, chat: Any, branch: str | None = None) -> list[Any]:
    """Oldest first."""
    path = f"/v1/chats/{chat['id']}/branches/{branch or chat['activeBranchId']}/exchanges"
    return list(reversed(client.get(path, query={"include": "hidden"}).json()["items"]))


def exchange(page: Page, number: int) -> Locator:
    return page.get_by_role("listitem", name=f"Exchange {number}", exact=True)


def answer_of(page: Page, number: int) -> Locator:
    return page.get_by_role("article", name=f"answer {number}", exact=True)


def test_a_chat_is_begun_and_held_with_the_keyboard(open_page: Open, client: Client, model: Model) -> None:
    model.answers = ["first answer", "second answer"]
    page = open_page("/chats")
    page.get_by_text("New chat").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("sim/steady")
    page.keyboard.press("Tab")
    page.keyboard.type("Trial")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Trial")).to_be_visible()
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.type("hello")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="Waits for a worker")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    carry_out_turns()
    expect(answer_of(page, 1)).to_contain_text("first answer")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    page.get_by_role("button", name="Answer again").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Abort")).to_be_visible()
    carry_out_turns()
    expect(answer_of(page, 1)).to_contain_text("second answer")
    [chat] = client.get("/v1/chats").json()["items"]
    [only] = exchanges(client, chat)
    assert (only["user"]["content"], only["answer"]["variantCount"]) == ("hello", 2)


def test_an_answer_is_shown_while_it_is_written(open_page: Open, chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    is_shown = threading.Event()

    async def stream(name: str, _: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        begin, end = f"It begins {HOSTILE} \U0001f600", " and it ends."
        on_text(begin)
        assert await asyncio.to_thread(is_shown.wait, 30)
        on_text(end)
        return Reply(begin + end, name, Usage(10, 5), "stop")

    monkeypatch.setattr(sim, "stream", stream)
    page = open_page(f"/chats/{chat['id']}")
    page.get_by_role("textbox", name="Message").fill("hello")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Abort")).to_be_visible()
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(carry_out_turns)
        try:
            draft = page.get_by_role("article", name="draft of answer 1")
            expect(draft).to_contain_text("It begins <script>")
            expect(draft).to_contain_text("[U+202E]")
            expect(exchange(page, 1).get_by_text("The model answers")).to_be_visible()
        finally:
            is_shown.set()
        turn.result()
    expect(answer_of(page, 1)).to_contain_text("and it ends.")
    expect(page.get_by_role("article", name="draft of answer 1")).to_have_count(0)


def test_a_variant_is_selected_and_an_answer_edited(open_page: Open, client: Client, model: Model, chat: Any) -> None:
    model.answers = ["first answer", "second answer"]
    say(client, chat, "hello")
    made(client, f"/v1/chats/{chat['id']}/turns", {"trigger": "regenerate"})
    carry_out_turns()
    page = open_page(f"/chats/{chat['id']}")
    page.get_by_text("2 variants").click()
    page.get_by_role("button", name="Show variant 1").click()
    expect(answer_of(page, 1).get_by_text("first answer").first).to_be_visible()
    expect(page.get_by_role("button", name="Show variant 2")).to_be_visible()
    assert exchanges(client, chat)[0]["answer"]["content"] == "first answer"
    page.get_by_role("button", name="Edit answer 1").click()
    page.get_by_label("New wording of answer 1").fill("a better answer")
    page.get_by_role("button", name="Save").locator("visible=true").click()
    expect(answer_of(page, 1)).to_contain_text("edited, from variant 1")
    shown = exchanges(client, chat)[0]["answer"]
    assert (shown["content"], shown["kind"], shown["variantCount"]) == ("a better answer", "edit", 3)


def test_messages_are_hidden_and_deleted(open_page: Open, client: Client, chat: Any) -> None:
    say(client, chat, "hello")
    page = open_page(f"/chats/{chat['id']}")
    page.get_by_role("button", name="Hide message 1").click()
    expect(page.get_by_text("later prompts leave it out")).to_be_visible()
    assert exchanges(client, chat)[0]["user"]["hidden"]
    page.get_by_role("button", name="Show message 1").click()
    expect(page.get_by_text("later prompts leave it out")).to_have_count(0)
    page.get_by_role("button", name="Delete message 1").click()
    expect(exchange(page, 1)).to_contain_text("The message was deleted")
    assert exchanges(client, chat)[0]["user"] is None


def test_a_fork_goes_its_own_way(open_page: Open, client: Client, chat: Any) -> None:
    for text in ("one", "two"):
        say(client, chat, text)
    page = open_page(f"/chats/{chat['id']}")
    page.get_by_role("button", name="Fork here after exchange 1").click()
    expect(page).to_have_url(re.compile("branch="))
    expect(exchange(page, 1)).to_contain_text("one")
    expect(exchange(page, 2)).to_have_count(0)
    page.get_by_role("textbox", name="Message").fill("another way")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Abort")).to_be_visible()
    carry_out_turns()
    expect(answer_of(page, 2)).to_be_visible()
    page.get_by_text("Change this branch").click()
    page.get_by_label("Branch name").fill(f"other {PAYLOADS[0]}")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("option", name=re.compile("^other"))).to_have_count(1)
    page.get_by_label("Branch (of 2)").select_option(chat["activeBranchId"])
    expect(exchange(page, 2)).to_contain_text("two")
    page.go_back()
    expect(exchange(page, 2)).to_contain_text("another way")
    page.get_by_text("Change this branch").click()
    page.get_by_role("button", name="Delete this branch").click()
    expect(page.get_by_label("Branch (of 1)")).to_be_visible()
    assert [each["user"]["content"] for each in exchanges(client, chat)] == ["one", "two"]


def test_a_turn_is_aborted_and_answered_later(open_page: Open, client: Client, chat: Any) -> None:
    page = open_page(f"/chats/{chat['id']}")
    page.get_by_role("textbox", name="Message").fill("hello")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Abort").click()
    expect(exchange(page, 1)).to_contain_text("It was aborted.")
    carry_out_turns()
    assert exchanges(client, chat)[0]["answer"] is None
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.get_by_role("button", name="Abort")).to_be_visible()
    carry_out_turns()
    expect(answer_of(page, 1)).to_contain_text("answer 1")


def test_a_failure_is_named_with_its_cause(open_page: Open, client: Client, model: Model, chat: Any) -> None:
    model.answers = [ProviderError(ProbeErrorCode.CONTENT_FILTERED, f"refused {PAYLOADS[0]}")]
    say(client, chat, "hello")
    page = open_page(f"/chats/{chat['id']}")
    failure = exchange(page, 1).get_by_role("status").filter(has_text="failed")
    expect(failure).to_contain_text("The call of the model: content_filtered refused <script>")


def test_steps_and_artifacts_of_operations_are_shown(open_page: Open, client: Client, talked: Any) -> None:
    page = open_page(f"/chats/{talked['id']}")
    page.get_by_text("Steps of exchange 2").click()
    steps = exchange(page, 2).get_by_role("list", name="After the answer")
    expect(steps).to_contain_text("✓ done Notes")
    exchange(page, 2).get_by_text("What the model received").click()
    expect(page.get_by_role("region", name="What the model received, exchange 2")).to_contain_text("system: Be brief.")
    artifacts = page.get_by_role("region", name="Artifacts")
    expect(artifacts).to_contain_text("version 2")
    expect(artifacts).to_contain_text("in exchange 2")
    expect(artifacts.get_by_role("region", name="Value of notes")).to_contain_text(PAYLOADS[0])
    artifacts.get_by_role("button", name="Begin without artifacts").click()
    expect(artifacts).to_contain_text("have stored no lasting artifacts")


def test_an_agent_answers_in_place_of_the_model(open_page: Open, client: Client) -> None:
    tools = {"name": "tools", "type": "tools", "baseUrl": "https://tools.test", "config": {"path": "/run"}}
    agents = [
        made(client, "/v1/connectors", {"name": name, "type": "langgraph", "baseUrl": "https://agent.test"})
        for name in (f"first {PAYLOADS[0]}", "second")
    ]
    made(client, "/v1/connectors", tools)
    page = open_page("/chats")
    page.get_by_text("New chat").click()
    choice = page.get_by_label("Agent instead of the model")
    expect(choice.get_by_role("option")).to_have_text(["none", *(re.compile("second|^first <script>") for _ in agents)])
    choice.select_option(agents[0]["id"])
    expect(page.get_by_label("Model", exact=True)).to_be_disabled()
    page.get_by_label("Title").fill("With an agent")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("link", name="The agent that answers")).to_have_attribute(
        "href", re.compile(f"/connectors/{agents[0]['id']}$")
    )
    [stored] = client.get("/v1/chats").json()["items"]
    assert stored["target"]["connectorId"] == agents[0]["id"]
    page.get_by_text("Change this chat").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Agent instead of the model").select_option("second")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="The agent that answers")).to_have_attribute(
        "href", re.compile(f"/connectors/{agents[1]['id']}$")
    )
    page.get_by_text("Change this chat").click()
    page.get_by_label("Agent instead of the model").select_option("none")
    page.get_by_label("Model", exact=True).fill("sim/steady")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("sim/steady", exact=True)).to_be_visible()
    target = client.get(f"/v1/chats/{stored['id']}").json()["target"]
    assert (target["model"], target["connectorId"]) == ("sim/steady", None)


def test_a_chat_is_changed_and_deleted(open_page: Open, client: Client, chat: Any) -> None:
    page = open_page(f"/chats/{chat['id']}")
    page.get_by_text("Change this chat").click()
    page.get_by_label("Maximum earlier exchanges in the prompt").fill("201")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Maximum earlier exchanges in the prompt").fill("5")
    page.get_by_label("Title").fill("Shorter")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Shorter")).to_be_visible()
    stored = client.get(f"/v1/chats/{chat['id']}").json()
    assert (stored["title"], stored["historyLimit"], stored["system"]) == ("Shorter", 5, chat["system"])
    page.get_by_text("Change this chat").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No chats yet")).to_be_visible()
    assert client.get(f"/v1/chats/{chat['id']}").status == 404


def test_a_viewer_is_offered_no_change(open_page: Open, talked: Any) -> None:
    page = open_page(f"/chats/{talked['id']}", role=AccessRole.VIEWER)
    expect(answer_of(page, 2)).to_be_visible()
    expect(page.locator("main").get_by_role("button", name=re.compile("^(?!Copy)"))).to_have_count(0)
    expect(page.get_by_role("textbox", name="Message")).to_have_count(0)
    listed = open_page("/chats", role=AccessRole.VIEWER)
    expect(listed.get_by_role("link", name=re.compile("^Refunds"))).to_be_visible()
    expect(listed.get_by_text("New chat")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, client: Client, talked: Any, theme: str) -> None:
    connector = {"name": f"agent {PAYLOADS[1]} {'x' * 60}", "type": "langgraph", "baseUrl": "https://agent.test"}
    target = {"connectorId": made(client, "/v1/connectors", connector)["id"]}
    agent = made(client, "/v1/chats", {"title": "With an agent", "target": target})
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "chats": "/chats",
        "chat": f"/chats/{talked['id']}",
        "chat-agent": f"/chats/{agent['id']}",
        "chat-branch-none": f"/chats/{talked['id']}?branch=br_none",
        "chat-none": "/chats/chat_none",
    }
    check_screens(page, paths)
