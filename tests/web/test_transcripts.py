"""One conversation on the page: formats of its messages, finding, copying, correcting, and why one has none."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
from cupel_core.domain.conversations.parts import FilePart, PartType, TextPart
from cupel_core.domain.conversations.replies import ReplyRecord, ReplyVerdict
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.files.formats import FileFormat, FileInfo
from cupel_core.domain.pipeline.turns import PipelineState
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client
from tests.web.conftest import MARKUP, Open, check_screen, load, settled, violations
from tests.web.samples import HOSTILE, PAYLOADS, SCENARIOS, sample_run
from tests.web.server import Server

USER, MODEL, TOOL = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL
MARKDOWN = """# Refunds

You have **30 days**, see [the terms](https://shop.example/terms).

| step | time |
|---|--:|
| ask | 1 day |

- [x] receipt
- [ ] parcel

> sent by mail

```
refund(42)
```
"""
IMAGE = FilePart(PartType.IMAGE, "file_0a", f"label {PAYLOADS[1]}.png", info=FileInfo(FileFormat.PNG, 12_034, 80, 60))
CALL = ToolCall("call_1", f"find_order {PAYLOADS[0]}", '{"number":"A-17"}')
REPLIES = (
    ReplyRecord(Usage(1_200, 30), 840, 0.0012, ReplyVerdict(False, True, 0.8, f"It guesses. {HOSTILE}")),
    ReplyRecord(Usage(1_400, 210), 2_300, None),
)
TURN = {
    "number": 1,
    "operations": [
        {
            "operationId": "tone",
            "name": f"Tone {PAYLOADS[0]}",
            "hook": "before_main_llm",
            "status": "done",
            "value": HOSTILE,
            "durationMs": 4,
        }
    ],
}


@dataclass
class RichRun(AnsweredRun):
    """Its first conversation has an image, a call of a tool, and operations of a profile."""

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        outcome = super().outcome(run, index)
        if index != 0 or isinstance(outcome, ProbeError):
            return outcome
        messages = (
            Message.of_parts(USER, (TextPart("Where is it?"), IMAGE)),
            Message(MODEL, "", tool_calls=(CALL,)),
            Message(TOOL, "no such order", tool_call_id="call_1", is_error=True),
            Message(MODEL, "\n\n".join((MARKDOWN, *PAYLOADS))),
        )
        state = replace(
            outcome.conversation,
            messages=messages,
            tool_rounds=1,
            replies=REPLIES,
            finish_reason="stop",
            pipeline=PipelineState(records=(TURN,)),
            simulated_user_prompt=f"You are impatient. {HOSTILE}",
        )
        return replace(outcome, conversation=state)


@pytest.fixture
def run(server: Server) -> Run:
    return sample_run()


@pytest.fixture
def rich(server: Server) -> Run:
    return RichRun(workspace="acme", scenarios=SCENARIOS, models=("sim/steady",), answer=lambda _: MARKDOWN).completed()


def opened(open_page: Open, run: Run, index: int, **options: Any) -> Page:
    page = open_page(f"/runs/{run.id}?t={index}".replace("?", "%3F"), **options)
    expect(page.get_by_role("article")).to_be_visible()
    return page


def show_as(page: Page, name: str) -> None:
    page.get_by_label("Messages as").select_option(label=name)


def test_markdown_is_drawn_on_demand_and_its_links_do_nothing_by_themselves(open_page: Open, rich: Run) -> None:
    page = opened(open_page, rich, 1)
    article = page.get_by_role("article")
    show_as(page, "text")
    expect(article).to_contain_text("**30 days**")
    show_as(page, "Markdown")
    expect(article.locator("strong").filter(has_text="30 days")).to_be_visible()
    expect(article.get_by_role("cell", name="1 day")).to_be_visible()
    expect(article.get_by_role("link")).to_have_count(0)
    article.get_by_role("button", name="the terms").click()
    link = article.get_by_role("link", name="Open shop.example")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    page.reload()
    expect(article.locator("strong").filter(has_text="30 days")).to_be_visible()


def test_nothing_that_is_said_is_markup_in_any_format(open_page: Open, rich: Run) -> None:
    """With the page's own policy; requests, dialogs and violations fail the test by themselves."""
    page = opened(open_page, rich, 0)
    article = page.get_by_role("article")
    for name in ("text", "Markdown", "raw, with white space", "JSON"):
        show_as(page, name)
        expect(article.get_by_role("listitem").first).to_be_visible()
        settled(page)
        expect(article).to_contain_text("[U+202E]")
        assert page.locator(MARKUP).count() == 0, name
    show_as(page, "Markdown")
    for address in ("javascript:alert(1)", "data:text/html;base64", "vbscript:msgbox(1)"):
        expect(article).to_contain_text(f"({address}")
    expect(article).to_contain_text("[image: x → https://evil.example/x.png?data]")


LINKS = """[a]: javascript:alert(1)
[b]: <data:text/html,<script>alert(1)</script>> "x" onmouseover=alert(1)

[one][a] [two][b] <javascript:alert(1)> <https://evil.example/auto> https://evil.example/bare www.evil.example
[three](java&#115;cript:alert(1)) [four](java%0ascript:alert(1)) [five](<java
script:alert(1)>) [six](//evil.example/relative) [seven](\\\\evil.example) [eight](/v1/tokens) [nine](#/runs)
![img](data:image/svg+xml;base64,PHN2Zy8+) [![nested](https://evil.example/n.png)](https://evil.example/n)
[ten](https://user:secret@evil.example) [eleven](https://evil.example "t\" onclick=alert(1)")
[twelve](mailto:a@evil.example) [thirteen](file:///etc/passwd) [fourteen](blob:x) [fifteen](HTTPS://EVIL.example)

```html onload=alert(1)"><script>alert(1)</script>
</code></pre><script>alert(1)</script>
```

<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><image href="https://evil.example/s.png"/></svg>

<style>@import 'https://evil.example/s.css';</style><link rel=stylesheet href=https://evil.example/l.css>
<meta http-equiv=refresh content="0;url=https://evil.example"><base href=https://evil.example>
<form action=https://evil.example><input name=token></form>

| <img src=x onerror=alert(1)> | [x](javascript:alert(1)) |
|---|---|
| <svg/onload=alert(1)> | ![y](https://evil.example/y.png) |

- [x](javascript:alert(1)) <img src=x onerror=alert(1)>

> <iframe src=https://evil.example></iframe>
"""


@pytest.fixture
def linking(server: Server) -> Run:
    return AnsweredRun(
        workspace="acme", scenarios=SCENARIOS, models=("sim/steady",), answer=lambda _: LINKS
    ).completed()


def test_links_and_images_of_a_transcript_lead_nowhere_by_themselves(open_page: Open, linking: Run) -> None:
    """Requests to other origins, dialogs and violations of the page's policy fail the test by themselves."""
    page = opened(open_page, linking, 1)
    article = page.get_by_role("article")
    show_as(page, "Markdown")
    expect(article).to_contain_text("fifteen")
    settled(page)
    assert page.locator(MARKUP).count() == 0
    expect(article.get_by_role("link")).to_have_count(0)
    buttons = article.locator("li").get_by_role("button").all()
    for name in ("one", "two", "three", "four", "five", "eight", "nine", "thirteen", "fourteen"):
        assert name not in [each.inner_text() for each in buttons], name
    for name in ("ten", "eleven", "fifteen"):
        for button in article.get_by_role("button", name=name, exact=True).all():
            button.click()
    addresses = [str(each.get_attribute("href")) for each in article.get_by_role("link").all()]
    assert all(each.lower().startswith("https://") for each in addresses)
    assert page.url.split("#")[0].startswith(page.evaluate("location.origin"))
    assert page.locator(MARKUP).count() == 0


def test_tools_files_and_operations_are_told_apart(open_page: Open, rich: Run) -> None:
    page = opened(open_page, rich, 0)
    messages = page.get_by_role("list", name="Messages").locator("> li")
    expect(messages.nth(0)).to_contain_text("PNG, 80 × 60, 12,034 bytes")
    expect(messages.nth(1)).to_contain_text('"number": "A-17"')
    expect(messages.nth(2)).to_contain_text("find_order")
    expect(messages.nth(2)).to_contain_text("! failed")
    address = "https://files.example/label.png?signature=1"
    answer = {"id": "file_0a", "downloadUrl": address}
    page.route("**/v1/files/file_0a", lambda route: route.fulfill(json=answer))
    page.get_by_role("button", name="Get its address").click()
    expect(page.get_by_role("link", name="Open it at files.example")).to_have_attribute("href", address)
    operations = page.get_by_role("region", name="Operations of the profile")
    operations.get_by_text("Turn 1: Tone").click()
    expect(operations.get_by_role("list", name="Before the call")).to_contain_text("Tone")
    page.get_by_text("Details", exact=True).click()
    expect(page.get_by_role("definition").filter(has_text="stop")).to_be_visible()
    page.get_by_text("Simulated user’s prompt").click()
    expect(page.get_by_role("region", name="Simulated user’s prompt")).to_contain_text("You are impatient.")


def test_each_reply_has_what_it_took_and_the_verdict_on_it(open_page: Open, rich: Run) -> None:
    page = opened(open_page, rich, 0)
    messages = page.get_by_role("list", name="Messages").locator("> li")
    call, answer = messages.nth(1), messages.nth(3)
    for text in ("840 ms", "1,200 tokens in, 30 out", "$0.0012"):
        expect(call).to_contain_text(text)
    expect(call).to_contain_text("success criteria not met, failure criteria met, confidence 0.80. It guesses.")
    for text in ("2.3 s", "1,400 tokens in, 210 out", "cost –"):
        expect(answer).to_contain_text(text)
    expect(messages.nth(0)).not_to_contain_text("tokens in")


def test_messages_and_conversations_are_copied(open_page: Open, rich: Run) -> None:
    page = opened(open_page, rich, 0, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy message 3").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "no such order"
    page.get_by_role("button", name="Copy conversation").click()
    expect(page.get_by_text("Copied")).to_have_count(2)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("User: Where is it?")
    assert "Tool: no such order\n\nModel: # Refunds" in copied


def test_a_result_is_corrected_and_the_correction_removed(open_page: Open, run: Run) -> None:
    page = opened(open_page, run, 1)
    article = page.get_by_role("article")
    expect(article).to_contain_text("✕ failed")
    article.get_by_role("button", name="Correct the result").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("passed").check()
    dialog.get_by_label("Score").fill("2")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    dialog.get_by_label("Score").fill("0.9")
    dialog.get_by_label("Reason").fill("It names the refund in the second sentence.")
    dialog.get_by_role("button", name="Save").click()
    expect(article).to_contain_text("Corrected by a person, score 0.90: It names the refund")
    expect(page.get_by_role("gridcell", selected=True)).to_contain_text("4/4 passed")
    client = Client(None)
    client.token = client.issue()
    assert client.get(f"/v1/probes/{run.id}-1").json()["result"]["score"] == 0.9
    article.get_by_role("button", name="Change the correction").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the correction").click()
    expect(article.get_by_role("button", name="Correct the result")).to_be_visible()
    assert client.get(f"/v1/probes/{run.id}-1").json()["result"]["success"] is False


def test_a_viewer_reads_and_corrects_nothing(open_page: Open, run: Run) -> None:
    page = opened(open_page, run, 1, role=AccessRole.VIEWER)
    expect(page.get_by_role("button", name="Copy conversation")).to_be_visible()
    expect(page.get_by_role("button", name="Correct the result")).to_have_count(0)


def test_a_conversation_without_a_transcript_says_why_and_what_helps(open_page: Open, run: Run) -> None:
    page = opened(open_page, run, 7)
    article = page.get_by_role("article")
    expect(article).to_contain_text("timeout no answer")
    expect(article).to_contain_text("4 calls")
    expect(article).to_contain_text("A retry may succeed.")


def test_a_long_conversation_is_drawn_in_part_and_searched_by_the_page(open_page: Open, server: Server) -> None:
    said = tuple(Message((USER, MODEL)[n % 2], f"Message {n}. " + "More words. " * (n % 40)) for n in range(2_000))
    run = AnsweredRun(workspace="acme", scenarios=(Scenario("", "Long", said),), models=("sim/steady",)).completed()
    page = opened(open_page, run, 0)
    messages = page.get_by_role("list", name="Messages").locator("> li")
    expect(messages.first).to_have_attribute("aria-setsize", "2001")
    assert messages.count() < 60
    page.keyboard.press("Control+f")
    field = page.get_by_role("searchbox", name="Find")
    expect(field).to_be_focused()
    field.fill("message 17")
    expect(page.get_by_text("1 of 111")).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(page.get_by_text("4 of 111")).to_be_visible()
    expect(page.locator("[data-found=true]")).to_contain_text("Message 172.")
    expect(page.locator("[data-found=true]")).to_be_in_viewport()
    expect(page.locator("[data-found=true] mark")).to_have_text("Message 17")
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Long").click()
    page.keyboard.press("T")
    expect(page.locator("[data-index='2000']")).to_be_focused()
    expect(page.locator("[data-index='2000']")).to_be_in_viewport()


def test_words_that_a_link_names_are_shown(open_page: Open, run: Run) -> None:
    page = opened(open_page, run, 2)
    page = load(page, f"/runs/{run.id}?t=2&find=and%20a%20sentence")
    expect(page.get_by_role("searchbox", name="Find")).to_have_value("and a sentence")
    expect(page.get_by_text("1 of 3")).to_be_visible()
    expect(page.get_by_role("article").locator("mark")).to_have_count(3)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_format_is_accessible_and_safe(open_page: Open, rich: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    for name in ("text", "Markdown", "raw, with white space", "JSON"):
        load(page, f"/runs/{rich.id}?t=0")
        show_as(page, name)
        check_screen(settled(page), f"transcript-{name.split(',')[0].lower()}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_errors_and_the_correction_are_accessible(open_page: Open, run: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screen(load(page, f"/runs/{run.id}?t=7"), "transcript-errored")
    load(page, f"/runs/{run.id}?t=1").get_by_role("button", name="Correct the result").click()
    expect(page.get_by_role("dialog").get_by_label("passed")).to_be_visible()
    assert violations(page) == []
