"""Definitions written, changed and forked in a browser."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.samples import HOSTILE, PAYLOADS
from tests.web.server import Server

CONTENT: dict[str, Any] = {
    "system": f"You are a clerk. {HOSTILE}",
    "template": "There is [risk] risk.",
    "dimensions": [{"name": "risk", "levels": [{"score": 1, "label": "low"}, {"score": 5, "label": "high"}]}],
    "maxTurns": 3,
}


@pytest.fixture
def definition(client: Client) -> str:
    answer = client.post("/v1/definitions", {"name": f"Refunds {PAYLOADS[0]}", "tags": ["shop"], "content": CONTENT})
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


def write(page: Page, content: object) -> None:
    page.get_by_role("radio", name="as JSON").check()
    page.get_by_role("textbox", name="Content, as JSON").fill(json.dumps(content, indent=2))


def save(page: Page) -> None:
    page.get_by_role("button", name="Review and save").click()
    page.get_by_role("dialog", name="What changes").get_by_role("button", name="Save").click()


def test_a_definition_is_written_with_the_keyboard(open_page: Open, client: Client) -> None:
    page = open_page("/definitions")
    page.get_by_role("link", name="New definition").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="New definition")).to_be_visible()
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("Facts")
    page.get_by_label("Tags").focus()
    page.keyboard.type("one, two, one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Facts")).to_be_visible()
    [stored] = client.get("/v1/definitions").json()["items"]
    assert (stored["name"], stored["tags"], stored["version"]) == ("Facts", ["one", "two"], 1)


def test_a_scenario_is_previewed_and_the_decision_pattern_tried(open_page: Open, server: Server) -> None:
    page = open_page("/definitions/new")
    write(page, {**CONTENT, "template": "There is [risk] risk of [harm].", "decision": {"pattern": "Rating: (\\d)"}})
    expect(page.get_by_role("list", name="Problems of the template")).to_contain_text("[harm] has no dimension")
    preview = page.get_by_role("region", name="Preview of a scenario")
    expect(preview).to_contain_text("There is low risk of [harm].")
    preview.get_by_label("risk").select_option("high")
    expect(preview).to_contain_text("There is high risk of [harm].")
    page.get_by_label("Answers").fill("Rating: 2, no. Rating: 4\n---\nnever")
    decisions = page.get_by_role("status", name="Decisions")
    expect(decisions.get_by_role("row")).to_contain_text(["Decision", "Rating: 44", "nevernone: no match"])


def test_errors_are_named_with_their_lines(open_page: Open, client: Client) -> None:
    page = open_page("/definitions/new")
    page.get_by_label("Name", exact=True).fill("Facts")
    problems = page.get_by_role("list", name="Problems of Content, as JSON")
    page.get_by_role("radio", name="as JSON").check()
    page.get_by_role("textbox", name="Content, as JSON").fill('{\n  "system": "x",\n}')
    expect(problems).to_contain_text("Line 3Error: a name in double quotes is expected here")
    expect(page.get_by_role("button", name="Create", exact=True)).to_be_disabled()
    write(page, {"system": "x", "assertions": [{"type": "contains", "value": "x"}, {"type": "no such type"}]})
    page.get_by_role("button", name="Create", exact=True).click()
    expect(problems).to_contain_text("assertions.1.type")
    problems.get_by_role("button", name=re.compile("^Line ")).first.click()
    text = page.get_by_role("textbox", name="Content, as JSON")
    selected = text.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert "no such type" in selected
    assert client.get("/v1/definitions").json()["items"] == []


def test_a_change_makes_the_next_version_and_shows_what_it_changes(
    open_page: Open, client: Client, definition: str
) -> None:
    page = open_page(f"/definitions/{definition}")
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
    changed = {name: value for name, value in CONTENT.items() if name != "maxTurns"}
    write(page, {**changed, "system": "You are exact."})
    page.get_by_label("Version name").fill("exact")
    page.get_by_role("button", name="Review and save").click()
    changes = page.get_by_role("dialog", name="What changes")
    expect(changes.get_by_role("region", name="Changed text of System prompt").locator("ins")).to_contain_text("exact")
    expect(changes.get_by_role("region", name="Changed text of Maximum turns").locator("del")).to_have_text("3")
    expect(changes.get_by_role("region")).to_have_count(3)
    changes.get_by_role("button", name="Save").click()
    expect(page.get_by_text("2 fields differ")).to_be_visible()
    stored = client.get(f"/v1/definitions/{definition}").json()
    assert (stored["version"], stored["versionLabel"], stored["content"]["system"]) == (2, "exact", "You are exact.")
    assert (stored["content"].get("maxTurns"), stored["content"]["template"]) == (None, CONTENT["template"])


def test_a_change_that_came_first_is_not_lost(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/edit")
    write(page, {**CONTENT, "system": "mine"})
    client.patch(f"/v1/definitions/{definition}", {"content": {"maxTurns": 5}})
    save(page)
    expect(page.get_by_text("Save the fields that you have changed over")).to_be_visible()
    assert client.get(f"/v1/definitions/{definition}").json()["content"]["system"] == CONTENT["system"]
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("1 field differs")).to_be_visible()
    stored = client.get(f"/v1/definitions/{definition}").json()
    assert (stored["content"]["system"], stored["content"]["maxTurns"], stored["version"]) == ("mine", 5, 3)


def test_leaving_unsaved_changes_asks(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/edit")
    page.get_by_label("Name", exact=True).fill("Other")
    page.get_by_role("link", name="Scenarios").click()
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    dialog.get_by_role("button", name="Stay").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Other")
    page.get_by_role("link", name="Scenarios").click()
    dialog.get_by_role("button", name="Leave").click()
    expect(page).to_have_url(re.compile("/scenarios$"))


def test_a_fork_inherits_what_it_does_not_change(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}")
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Fork…").click()
    page.get_by_label("Fork name").fill("Shorter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Shorter")).to_be_visible()
    write(page, {**CONTENT, "maxTurns": 1})
    save(page)
    expect(page.get_by_text("1 field differs")).to_be_visible()
    fork = next(each for each in client.get("/v1/definitions").json()["items"] if each["name"] == "Shorter")
    client.patch(f"/v1/definitions/{definition}", {"content": {"system": "changed"}})
    stored = client.get(f"/v1/definitions/{fork['id']}").json()
    assert (fork["parentId"], stored["content"]["maxTurns"]) == (definition, 1)
    assert stored["content"]["system"] == CONTENT["system"]


def test_a_viewer_is_offered_no_change(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/edit", role=AccessRole.VIEWER)
    expect(page.get_by_text("role member or admin")).to_be_visible()
    expect(page.get_by_role("link", name="Edit", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Actions", exact=True).click()
    expect(page.get_by_role("menuitem")).to_have_text(["Copy link"])


INTERNAL = "sha:f022e7de105f@1"


def test_a_definition_is_renamed_moved_and_tagged_in_its_menu(open_page: Open, client: Client, definition: str) -> None:
    client.patch(f"/v1/definitions/{definition}", {"tags": ["shop", INTERNAL]})
    page = open_page(f"/definitions/{definition}")
    page.get_by_role("button", name="Actions", exact=True).click()
    expect(page.get_by_role("menu")).to_be_in_viewport()
    page.get_by_role("menuitem", name="Name, folder and tags…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_in_viewport()
    expect(dialog.get_by_label("Tags")).to_have_value("shop")
    dialog.get_by_label("Name").fill("Returns")
    dialog.get_by_label("Folder").fill("support/returns")
    dialog.get_by_label("Tags").fill("shop, urgent")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Returns")
    expect(page.get_by_role("link", name="urgent")).to_be_visible()
    stored = client.get(f"/v1/definitions/{definition}").json()
    assert (stored["folder"], stored["version"]) == ("support/returns", 1)
    assert sorted(stored["tags"]) == [INTERNAL, "shop", "urgent"]


def test_tags_of_the_command_are_not_shown_and_stay(open_page: Open, client: Client, definition: str) -> None:
    client.patch(f"/v1/definitions/{definition}", {"tags": ["shop", INTERNAL]})
    page = open_page("/definitions")
    expect(page.get_by_role("link", name="shop")).to_be_visible()
    expect(page.get_by_text("sha:")).to_have_count(0)
    page.get_by_role("row").nth(1).get_by_role("link").first.click()
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.get_by_label("Tags")).to_have_value("shop")
    page.get_by_label("Tags").fill("store")
    save(page)
    expect(page.get_by_role("link", name="store")).to_be_visible()
    expect(page.get_by_text("sha:")).to_have_count(0)
    assert sorted(client.get(f"/v1/definitions/{definition}").json()["tags"]) == [INTERNAL, "store"]


def test_a_definition_is_deleted_after_a_question(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}")
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Delete…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Its runs with their results and its forks stay")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No definitions yet")).to_be_visible()
    assert client.get(f"/v1/definitions/{definition}").status == 404


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, definition: str, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screens(page, {"definition-new": "/definitions/new", "definition-edit": f"/definitions/{definition}/edit"})
