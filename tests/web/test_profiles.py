"""Operation profiles in a browser: the list, the editor with its checks, versions."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.access import AccessRole
from tests.profiles import guard, operation, profile
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.samples import HOSTILE, PAYLOADS, SHORT_HOSTILE


@pytest.fixture
def saved(client: Client) -> str:
    """With two versions, hostile texts and a warning."""
    unused = operation("unused", name=f"Unused {PAYLOADS[1]}", effects=[])
    body = profile(operation(), unused, name=f"Polite {PAYLOADS[0]}", description=SHORT_HOSTILE)
    answer = client.post("/v1/profiles", body)
    assert answer.status == 201, answer.text
    key = str(answer.json()["id"])
    changes = {"operations": [operation(params={"template": f"{{% raw %}}{HOSTILE}{{% endraw %}}"}), unused]}
    changed = client.patch(f"/v1/profiles/{key}", changes)
    assert changed.json()["version"] == 2, changed.text
    return key


def write(page: Page, *operations: dict[str, Any]) -> None:
    page.get_by_role("textbox", name="Operations, as JSON").fill(json.dumps(operations, indent=2))


def test_a_profile_is_written_with_the_keyboard_and_checked(open_page: Open, client: Client) -> None:
    page = open_page("/profiles")
    page.get_by_role("link", name="New profile").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Name").focus()
    page.keyboard.type("Polite")
    expect(page.get_by_role("list", name="For a new message")).to_contain_text("Tone of the answer")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Polite")).to_be_visible()
    [stored] = client.get("/v1/profiles").json()["items"]
    assert (stored["name"], stored["version"], stored["enabled"]) == ("Polite", 1, True)


def test_errors_and_warnings_are_named_with_their_lines(open_page: Open) -> None:
    page = open_page("/profiles/new")
    page.get_by_label("Name").fill("Guarded")
    problems = page.get_by_role("list", name="Problems of Operations, as JSON")
    text = page.get_by_role("textbox", name="Operations, as JSON")
    text.fill('[\n  {"id": "a"\n  "name": "b"}\n]')
    expect(problems).to_contain_text("Line 3Error: a comma or } is expected here")
    expect(page.get_by_role("button", name="Create")).to_be_disabled()
    write(page, operation(dependsOn=["nobody"]), operation("unused", effects=[]))
    depends = next(n for n, line in enumerate(text.input_value().split("\n"), 1) if "nobody" in line)
    expect(problems).to_contain_text("operations.0.dependsOn.0")
    page.get_by_role("button", name=f"Line {depends}", exact=True).click()
    selected = text.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert selected == '"nobody"'
    expect(page.get_by_role("heading", name="Operations per turn")).to_have_count(0)
    write(page, operation(), operation("unused", effects=[]))
    expect(problems).to_contain_text("Warning: operations.1.artifact nothing uses art.unused")
    expect(page.get_by_role("heading", name="Operations per turn")).to_be_visible()
    write(page, {**operation(), "order": "first", "kind": "oracle"})
    expect(problems).to_contain_text("operations.0.kind")


def test_a_change_of_the_operations_makes_a_version(open_page: Open, client: Client, saved: str) -> None:
    page = open_page(f"/profiles/{saved}")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Description").fill("Only words")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    assert client.get(f"/v1/profiles/{saved}").json()["version"] == 2
    write(page, guard(), operation(dependsOn=["scene"]))
    page.get_by_label("Operations run").select_option("sequential")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Version")).to_have_value("3")
    stored = client.get(f"/v1/profiles/{saved}").json()
    assert [each["id"] for each in stored["operations"]] == ["scene", "tone"]
    assert (stored["executionMode"], stored["description"]) == ("sequential", "Only words")
    page.get_by_label("Version").select_option("1")
    expect(page).to_have_url(re.compile("v=1"))
    expect(page.get_by_role("region", name="Operations as JSON")).to_contain_text("Be polite.")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)


def test_a_profile_that_has_changed_meanwhile_is_not_overwritten(open_page: Open, client: Client, saved: str) -> None:
    page = open_page(f"/profiles/{saved}")
    page.get_by_label("Description").fill("mine")
    client.patch(f"/v1/profiles/{saved}", {"description": "theirs"})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The profile was not saved")
    assert client.get(f"/v1/profiles/{saved}").json()["description"] == "theirs"
    page.get_by_role("button", name="Discard mine").click()
    expect(page.get_by_label("Description")).to_have_value("theirs")
    page.get_by_label("Description").fill("mine again")
    client.patch(f"/v1/profiles/{saved}", {"enabled": False})
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("not in use")).to_be_visible()
    stored = client.get(f"/v1/profiles/{saved}").json()
    assert (stored["description"], stored["enabled"]) == ("mine again", False)


def test_the_sessions_of_a_profile_are_reset_after_a_question(open_page: Open, client: Client, saved: str) -> None:
    before = client.get(f"/v1/profiles/{saved}").json()["sessionId"]
    page = open_page(f"/profiles/{saved}")
    page.get_by_label("Description").fill("unsaved")
    expect(page.get_by_role("button", name="Reset sessions…")).to_be_disabled()
    page.get_by_label("Description").fill("saved")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Reset sessions…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert client.get(f"/v1/profiles/{saved}").json()["sessionId"] == before
    page.get_by_role("button", name="Reset sessions…").click()
    page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    stored = client.get(f"/v1/profiles/{saved}").json()
    assert (stored["sessionId"] == before, stored["description"], stored["version"]) == (False, "saved", 2)
    page.get_by_label("Description").fill("again")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    assert client.get(f"/v1/profiles/{saved}").json()["description"] == "again"


def test_a_profile_is_deleted_after_a_question(open_page: Open, client: Client, saved: str) -> None:
    page = open_page(f"/profiles/{saved}")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert client.get(f"/v1/profiles/{saved}").status == 200
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No profiles yet")).to_be_visible()


def test_a_viewer_is_offered_no_change(open_page: Open, saved: str) -> None:
    page = open_page(f"/profiles/{saved}", role=AccessRole.VIEWER)
    expect(page.get_by_role("region", name="Operations as JSON")).to_be_visible()
    expect(page.locator("main").get_by_role("button")).to_have_count(0)
    expect(open_page("/profiles/new", role=AccessRole.VIEWER).get_by_text("role member or admin")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, saved: str, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "profiles": "/profiles",
        "profile": f"/profiles/{saved}",
        "profile-version": f"/profiles/{saved}?v=1",
        "profile-new": "/profiles/new",
        "profile-none": "/profiles/prof_none",
    }
    check_screens(page, paths)
