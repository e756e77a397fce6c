"""The playground in a browser: models and prompts side by side."""

import asyncio
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.providers import sim
from cupel_core.providers.errors import ProviderError
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, settled
from tests.web.jobs import carry_out_turns
from tests.web.samples import HOSTILE

REFUSED = ProviderError(ProbeErrorCode.CONTENT_FILTERED, "refused for its content")


class Models:
    """Answer with the requests that they got: model, system prompt, temperature and last message."""

    def __init__(self) -> None:
        self.failing: set[str] = set()

    async def complete(self, name: str, request: ModelRequest) -> Reply:
        if name in self.failing:
            raise REFUSED
        said = [str(each.content) for each in request.messages]
        temperature = request.parameters.temperature
        return Reply(f"**{name}** at {temperature}: {' / '.join(said)}", name, Usage(10, 5), "stop")


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    answering = Models()
    monkeypatch.setattr(sim, "complete", answering.complete)
    return answering


def column(page: Page, number: int) -> Locator:
    return page.get_by_role("region", name=f"Column {number}", exact=True)


def answer(page: Page, number: int, exchange: int = 1) -> Locator:
    return column(page, number).get_by_role("article", name=f"answer {exchange}", exact=True)


def begun(open_page: Open, second: str = "sim/bold", **options: Any) -> Page:
    page = open_page("/playground", **options)
    column(page, 1).get_by_label("Model").fill("sim/steady")
    column(page, 2).get_by_label("Model").fill(second)
    return page


def send(page: Page, text: str) -> None:
    page.get_by_label("Message to all columns").fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    answered(page)


def answered(page: Page, count: int = 2) -> None:
    """Each column waits for an answer; then workers answer."""
    expect(page.get_by_role("button", name="Abort")).to_have_count(count)
    carry_out_turns()
    expect(page.get_by_role("button", name="Abort")).to_have_count(0)


def chats(client: Client) -> list[Any]:
    items: list[Any] = client.get("/v1/chats", query={"playground": "true"}).json()["items"]
    return sorted(items, key=lambda each: each["target"]["model"])


def test_two_models_answer_side_by_side_as_they_write(
    open_page: Open, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_shown = {"steady": threading.Event(), "bold": threading.Event()}
    begun_by: SimpleQueue[str] = SimpleQueue()

    async def stream(name: str, _: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        begin, end = f"**{name}** begins {HOSTILE}", " and ends."
        on_text(begin)
        begun_by.put(name)
        assert await asyncio.to_thread(is_shown[name].wait, 30)
        on_text(end)
        return Reply(begin + end, name, Usage(10, 5), "stop")

    monkeypatch.setattr(sim, "stream", stream)
    page = open_page("/runs")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Playground").click()
    column(page, 1).get_by_label("Model").fill("sim/steady")
    column(page, 2).get_by_label("Model").fill("sim/bold")
    page.get_by_label("Message to all columns").fill("hello")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Abort")).to_have_count(2)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    with ThreadPoolExecutor(1) as pool:
        turns = pool.submit(carry_out_turns)
        try:
            for _ in is_shown:  # One worker answers both, one after the other.
                name = begun_by.get(timeout=30)
                draft = column(page, [*is_shown].index(name) + 1).get_by_role("article", name="draft of answer 1")
                expect(draft.locator("strong", has_text=name)).to_be_in_viewport()
                expect(draft).to_contain_text("begins <script>")
                is_shown[name].set()
        finally:
            for each in is_shown.values():
                each.set()
        turns.result()
    for number, name in enumerate(is_shown, 1):
        expect(answer(page, number)).to_contain_text("and ends.")
        expect(answer(page, number)).to_contain_text(re.compile(rf"{name}15 tokens\$0[\d.,]+ m?s"))
        expect(answer(page, number).locator("strong").first).to_be_in_viewport()
    assert client.get("/v1/chats").json()["items"] == []
    assert client.get("/v1/runs").json()["items"] == []
    page.get_by_role("link", name="New run with these targets").click()
    expect(page).to_have_url(re.compile("/new$"))
    form = page.evaluate("sessionStorage.getItem('cupel.form.new.selected')")
    assert form == '["sim/steady","sim/bold"]'


def test_a_message_is_edited_and_sent_again_with_other_settings(
    open_page: Open, client: Client, models: Models
) -> None:
    page = begun(open_page)
    send(page, "hello")
    expect(answer(page, 2)).to_contain_text("bold at None: hello")
    page.get_by_role("textbox", name="System prompt").fill("Be brief.")
    column(page, 2).get_by_text("Parameters not set").click()
    column(page, 2).get_by_label("Temperature").fill("0.5")
    page.get_by_role("button", name="Edit and send again").click()
    message = page.get_by_label("Last message, to be sent again")
    expect(message).to_be_focused()
    expect(message).to_have_value("hello")
    message.fill("good morning")
    page.get_by_role("button", name="Send again").click()
    answered(page)
    expect(answer(page, 1)).to_contain_text("steady at None: Be brief. / good morning")
    expect(answer(page, 2)).to_contain_text("bold at 0.5: Be brief. / good morning")
    send(page, "and now?")
    expect(answer(page, 1, 2)).to_contain_text("Be brief. / good morning / steady at None")
    expect(answer(page, 1, 2)).to_be_in_viewport()
    assert [(each["system"], each["target"]["params"]) for each in chats(client)] == [
        ("Be brief.", {"temperature": 0.5}),
        ("Be brief.", {}),
    ]


def test_columns_have_prompts_of_their_own_and_are_answered_again_one_by_one(open_page: Open, models: Models) -> None:
    page = begun(open_page, "sim/steady")
    page.get_by_role("textbox", name="System prompt").fill("Be brief.")
    page.get_by_label("Same system prompt in all columns").uncheck()
    expect(column(page, 1).get_by_role("textbox", name="System prompt")).to_have_value("Be brief.")
    column(page, 2).get_by_role("textbox", name="System prompt").fill("Be kind.")
    send(page, "hello")
    expect(answer(page, 1)).to_contain_text("Be brief. / hello")
    expect(answer(page, 2)).to_contain_text("Be kind. / hello")
    column(page, 2).get_by_role("textbox", name="System prompt").fill("Be very kind.")
    page.get_by_role("button", name="Answer again in column 2").click()
    answered(page, 1)
    expect(answer(page, 2)).to_contain_text("Be very kind. / hello")
    expect(answer(page, 1)).to_contain_text("Be brief. / hello")


def test_an_error_stays_in_its_column_and_is_tried_again(open_page: Open, models: Models) -> None:
    models.failing = {"bold"}
    page = begun(open_page)
    send(page, "hello")
    expect(answer(page, 1)).to_contain_text("steady at None: hello")
    expect(column(page, 2)).to_contain_text("The call of the model: content_filtered refused for its content")
    expect(column(page, 1)).not_to_contain_text("content_filtered")
    models.failing = set()
    page.get_by_role("button", name="Try again in column 2").click()
    answered(page, 1)
    expect(answer(page, 2)).to_contain_text("bold at None: hello")
    expect(column(page, 2)).not_to_contain_text("content_filtered")


def test_a_message_that_a_column_refuses_is_sent_there_once_it_is_corrected(
    open_page: Open, client: Client, models: Models
) -> None:
    page = begun(open_page, "nobody/model")
    page.get_by_label("Message to all columns").fill("hello")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(column(page, 2).get_by_role("alert")).to_contain_text("The message was not sent")
    answered(page, 1)
    expect(answer(page, 1)).to_contain_text("steady at None: hello")
    page.reload()
    expect(column(page, 2).get_by_role("article", name="message that was not sent")).to_have_text("hello")
    column(page, 2).get_by_label("Model").fill("sim/bold")
    page.get_by_role("button", name="Try again in column 2").click()
    answered(page, 1)
    expect(answer(page, 2)).to_contain_text("bold at None: hello")
    assert len(chats(client)) == 2


def test_columns_outlive_a_reload_and_are_cleared(open_page: Open, client: Client, models: Models) -> None:
    page = begun(open_page)
    page.get_by_role("textbox", name="System prompt").fill("Be brief.")
    page.get_by_role("button", name="Add a column").click()
    column(page, 3).get_by_label("Model").fill("sim/contrarian")
    page.get_by_label("Message to all columns").fill("hello")
    page.get_by_role("button", name="Send", exact=True).click()
    answered(page, 3)
    page.get_by_label("Message to all columns").fill("half a")
    page.reload()
    expect(answer(page, 3)).to_contain_text("contrarian at None: Be brief. / hello")
    expect(page.get_by_label("Message to all columns")).to_have_value("half a")
    page.get_by_role("button", name="Remove column 1").click()
    expect(column(page, 3)).to_have_count(0)
    expect(answer(page, 1)).to_contain_text("bold at None")
    page.get_by_role("button", name="Clear…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(answer(page, 1)).to_have_count(0)
    assert chats(client) == []
    expect(column(page, 1).get_by_label("Model")).to_have_value("sim/bold")
    send(page, "hello again")
    expect(answer(page, 2)).to_contain_text("contrarian at None: Be brief. / hello again")


def test_a_chat_that_was_erased_is_begun_anew(open_page: Open, client: Client, models: Models) -> None:
    page = begun(open_page)
    send(page, "hello")
    for each in chats(client):
        assert client.delete(f"/v1/chats/{each['id']}").status == 204
    page.reload()
    expect(page.get_by_text("This conversation was erased.")).to_have_count(2)
    send(page, "hello again")
    expect(answer(page, 1)).to_contain_text("steady at None: hello again")


def test_a_message_is_kept_as_a_scenario(open_page: Open, client: Client, models: Models) -> None:
    made = client.post("/v1/definitions", {"name": "Greetings", "content": {"system": "Greet."}}).json()["id"]
    page = begun(open_page)
    send(page, "hello")
    page.get_by_role("button", name="Keep as scenario…").click()
    page.get_by_label("Definition", exact=True).select_option(made)
    expect(page.get_by_label("First user message")).to_have_value("hello")
    page.get_by_label("Success criteria").fill("It greets.")
    page.get_by_label("The answer contains").fill("Hi")
    page.get_by_role("button", name="Add the scenario").click()
    expect(page.get_by_role("dialog", name="Kept as a scenario")).to_be_in_viewport()
    [scenario] = client.get(f"/v1/definitions/{made}/scenarios").json()["items"]
    assert [each["content"] for each in scenario["messages"]] == ["hello"]
    assert scenario["successCriteria"] == "It greets."
    assert [(each["type"], each["value"]) for each in scenario["assertions"]] == [("icontains", "Hi")]
    page.get_by_role("link", name="Show the scenarios").click()
    expect(page).to_have_url(re.compile(f"/definitions/{made}/scenarios"))


def test_a_prompt_is_kept_as_a_definition_and_as_a_further_prompt(
    open_page: Open, client: Client, models: Models
) -> None:
    page = begun(open_page)
    keep = page.get_by_role("button", name="Keep the prompt… of column 1")
    expect(keep).to_be_disabled()
    page.get_by_role("textbox", name="System prompt").fill("Be brief.")
    column(page, 1).get_by_text("Parameters not set").click()
    column(page, 1).get_by_label("Temperature").fill("0.5")
    keep.click()
    page.get_by_label("Name of the definition").fill("Brief")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("dialog", name="Kept as a prompt").get_by_role("button", name="Close").click()
    [made] = client.get("/v1/definitions").json()["items"]
    content = client.get(f"/v1/definitions/{made['id']}").json()["content"]
    assert (made["name"], content["system"], content["params"]["temperature"]) == ("Brief", "Be brief.", 0.5)
    page.get_by_role("textbox", name="System prompt").fill("Be very brief.")
    keep.click()
    page.get_by_label("another prompt of a definition").check()
    page.get_by_label("Definition", exact=True).select_option(made["id"])
    page.get_by_label("Name of the prompt").fill("Very brief")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="version 2 of Brief")).to_be_in_viewport()
    prompts = client.get(f"/v1/definitions/{made['id']}").json()["content"]["prompts"]
    assert [(each["id"], each["system"]) for each in prompts] == [
        ("original", None),
        ("very-brief", "Be very brief."),
    ]


def test_a_viewer_is_told_which_role_sends_messages(open_page: Open, client: Client) -> None:
    page = open_page("/playground", role=AccessRole.VIEWER)
    expect(page.get_by_text("needs the role member or admin")).to_be_visible()
    expect(page.locator("main").get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screen_is_accessible_at_every_width(open_page: Open, client: Client, models: Models, theme: str) -> None:
    models.failing = {"bold"}
    page = begun(open_page, color_scheme=theme, bypass_csp=True)
    page.get_by_label("Same system prompt in all columns").uncheck()
    for text in (f"a table, please {HOSTILE}", "and once more"):
        send(page, text)
    check_screen(settled(page), "playground")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Edit and send again").click()
    expect(page.get_by_label("Last message, to be sent again")).to_be_in_viewport()
    page.get_by_role("button", name="Keep as scenario…").click()
    expect(page.get_by_role("dialog")).to_be_in_viewport()
    check_screen(page, "playground-keep")
