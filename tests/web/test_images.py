"""Images of conversations and scenarios, drawn in a browser from the stack's bucket and from nowhere else."""

import base64
from dataclasses import dataclass, replace
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from cupel_core.definitions.files import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.parts import FilePart, PartType, TextPart
from cupel_core.domain.files.formats import FileFormat, FileInfo, inspect
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from tests.answered_runs import AnsweredRun
from tests.files_for_tests import png
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens, load
from tests.web.samples import PAYLOADS, SCENARIOS
from tests.web.server import Server

BUCKET = "https://cupel-test.s3.us-east-1.amazonaws.com"
OLDEST = "https://cupel-test.s3.amazonaws.com"
PICTURE = png(1200, 400)
NAME = f"label {PAYLOADS[1].replace('/', ' ')}.png"
PDF = FilePart(PartType.FILE, "file_0b", "terms.pdf", info=FileInfo(FileFormat.PDF, 12_034, 0, 0))


@dataclass
class PicturedRun(AnsweredRun):
    """Its first conversation begins with a picture."""

    picture: FilePart | None = None

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        outcome = super().outcome(run, index)
        if index != 0 or self.picture is None or isinstance(outcome, ProbeError):
            return outcome
        asked = Message.of_parts(MessageRole.USER, (TextPart("What is it?"), self.picture, PDF))
        state = replace(outcome.conversation, messages=(asked, Message(MessageRole.ASSISTANT, "A label.")))
        return replace(outcome, conversation=state)


@pytest.fixture
def picture(server: Server) -> FilePart:
    """A stored one."""
    info = inspect(PICTURE)
    return FilePart(PartType.IMAGE, catalog.store("acme", NAME, PICTURE, info, NOW), NAME, info=info)


def run_with(picture: FilePart) -> Run:
    return PicturedRun(
        workspace="acme", scenarios=SCENARIOS, models=("sim/steady",), answer=lambda _: "yes", picture=picture
    ).completed()


def open_in(open_page: Open, run: Run, serve: Any = None, **options: Any) -> Page:
    """A conversation, with a bucket that answers by `serve`."""
    page = open_page("/runs", issuer=OLDEST, **options)
    if serve is not None:
        page.route(f"{OLDEST}/**", serve)
    load(page, f"/runs/{run.id}?t=0")
    return page


def served(route: Route) -> None:
    route.fulfill(body=PICTURE, content_type="image/png")


def refused(route: Route) -> None:
    route.fulfill(status=403, body="<Error/>", content_type="application/xml")


def test_an_image_is_drawn_within_bounds_with_its_name_and_size(open_page: Open, picture: FilePart) -> None:
    page = open_in(open_page, run_with(picture), served)
    first = page.get_by_role("list", name="Messages").locator("> li").first
    image = first.get_by_role("img")
    expect(image).to_have_attribute("alt", f"image: {NAME}, PNG, 1200 × 400, {len(PICTURE):,} bytes")
    expect(image).to_have_js_property("naturalWidth", 1200)
    box = image.bounding_box()
    assert box is not None
    assert (round(box["width"]), round(box["height"])) == (480, 160)
    expect(first.get_by_role("link", name="Open it at cupel-test.s3.amazonaws.com")).to_be_visible()
    expect(first).to_contain_text("file: terms.pdf, PDF")
    expect(first.get_by_role("button", name="Get its address terms.pdf")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_image_is_loaded_only_once_it_is_in_sight(open_page: Open, server: Server, picture: FilePart) -> None:
    client = Client(None)
    client.token = client.issue()
    definition = client.post("/v1/definitions", {"name": "Pictures", "content": {"system": "Be brief."}}).json()["id"]
    content = [{"type": "text", "text": "line\n" * 200}, {"type": "image", "fileId": picture.file_id, "name": "x.png"}]
    items = [{"name": "late", "messages": [{"role": "user", "content": content}]}]
    added = client.post(f"/v1/definitions/{definition}/scenarios", {"items": items})
    assert added.status == 201, added.text
    asked: list[str] = []
    page = open_page("/runs", issuer=OLDEST)
    page.route(f"{OLDEST}/**", lambda route: (asked.append(route.request.url), served(route)))
    page.on("request", lambda request: asked.append(request.url) if "/v1/files/" in request.url else None)
    load(page, f"/definitions/{definition}/scenarios")
    page.get_by_role("region", name="Scenarios").locator("summary").click()
    expect(page.get_by_text("image: x.png, PNG, 1200 × 400")).to_be_attached()
    assert asked == []
    page.get_by_text("image: x.png, PNG, 1200 × 400").scroll_into_view_if_needed()
    expect(page.get_by_role("region", name="Scenarios").get_by_role("img")).to_have_js_property("naturalWidth", 1200)
    assert len(asked) == 2


def test_a_broken_image_is_the_text_that_says_what_it_is(open_page: Open, picture: FilePart) -> None:
    page = open_in(open_page, run_with(picture), refused)
    first = page.get_by_role("list", name="Messages").locator("> li").first
    expect(first.get_by_role("link", name="Open it at")).to_be_visible()
    expect(first.get_by_role("img")).to_have_count(0)
    expect(first).to_contain_text(f"image: {NAME}, PNG, 1200 × 400")


def test_an_image_that_was_deleted_is_the_text_that_says_what_it_is(open_page: Open, picture: FilePart) -> None:
    run = run_with(picture)
    assert picture.file_id is not None
    catalog.delete("acme", picture.file_id, NOW)
    page = open_in(open_page, run)
    first = page.get_by_role("list", name="Messages").locator("> li").first
    expect(first.get_by_role("button", name=f"Get its address {NAME}")).to_be_enabled()
    expect(first).not_to_contain_text("not found")
    first.get_by_role("button", name=f"Get its address {NAME}").click()
    expect(first).to_contain_text("The file: not found")


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/x.png",
        f"{BUCKET}.evil.example/x.png",
        "data:image/png;base64," + base64.b64encode(PICTURE).decode(),
        "javascript:alert(1)",
    ],
)
def test_no_image_of_another_address_is_loaded(open_page: Open, picture: FilePart, address: str) -> None:
    """A request to another host, or what the policy refuses, fails the test by itself."""
    page = open_page("/runs")
    page.route("**/v1/files/*", lambda route: route.fulfill(json={"id": "file_0a", "downloadUrl": address}))
    load(page, f"/runs/{run_with(picture).id}?t=0")
    first = page.get_by_role("list", name="Messages").locator("> li").first
    expect(first.get_by_role("button", name=f"Get its address {NAME}")).to_have_count(0)
    expect(first).to_contain_text(f"image: {NAME}")
    expect(first.get_by_role("img")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, picture: FilePart, theme: str) -> None:
    run = run_with(picture)
    page = open_page("/runs", issuer=OLDEST, color_scheme=theme, bypass_csp=True)
    page.route(f"{OLDEST}/**", served)
    check_screens(page, {"transcript-image": f"/runs/{run.id}?t=0"})
