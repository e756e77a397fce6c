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
    page.get_by_label("as JSON", exact=True).check()
    page.get_by_role("textbox", name="Operations, as JSON").fill(json.dumps(operations, indent=2))


def test_a_profile_is_written_with_the_keyboard_and_checked(open_page: Open, client: Client) -> None:
    page = open_page("/profiles")
    page.get_by_role("link", name="New profile").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("Polite")
    expect(page.get_by_role("list", name="For a new message")).to_contain_text("Tone of the answer")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Polite")).to_be_visible()
    [stored] = client.get("/v1/profiles").json()["items"]
    assert (stored["name"], stored["version"], stored["enabled"]) == ("Polite", 1, True)


def test_errors_and_warnings_are_named_with_their_lines(open_page: Open) -> None:
    page = open_page("/profiles/new")
    page.get_by_label("Name", exact=True).fill("Guarded")
    page.get_by_label("as JSON", exact=True).check()
    problems = page.get_by_role("list", name="Problems of Operations, as JSON")
    text = page.get_by_role("textbox", name="Operations, as JSON")
    text.fill('[\n  {"id": "a"\n  "name": "b"}\n]')
    expect(problems).to_contain_text("Line 3Error: a comma or } is expected here")
    expect(page.get_by_role("button", name="Create", exact=True)).to_be_disabled()
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


def test_operations_are_edited_by_their_fields(open_page: Open, client: Client) -> None:
    page = open_page("/profiles/new")
    page.get_by_label("Name", exact=True).fill("Planned")
    page.get_by_label("Id", exact=True).fill("plan")
    page.get_by_label("Name of the operation").fill("A plan")
    page.get_by_label("Its value is").select_option("the answer of a model")
    page.get_by_label("Model", exact=True).fill("sim/steady")
    page.get_by_label("Prompt", exact=True).fill("Plan: {{ user.text }}")
    page.get_by_label("It runs", exact=True).select_option("before and after")
    page.get_by_label("Tag", exact=True).fill("Not A Tag")
    field = page.get_by_label("Tag", exact=True)
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("plan")
    expect(field).to_have_attribute("aria-invalid", "false")
    page.get_by_label("What it changes").select_option("a note beside the answer")
    page.get_by_label("It runs", exact=True).select_option("after the answer")
    page.get_by_label("The turn fails unless it is done").check()
    expect(page.get_by_role("list", name="For a new message")).to_contain_text("A plan")
    page.get_by_label("as JSON", exact=True).check()
    text = page.get_by_role("textbox", name="Operations, as JSON")
    expect(text).to_have_value(re.compile('"kind": "llm"'))
    text.fill("[")
    page.get_by_label("by their fields", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The text is no JSON list")
    text.fill("[]")
    page.get_by_label("by their fields", exact=True).check()
    page.get_by_role("button", name="Add an operation").click()
    page.get_by_label("Its value is").select_option("a guard by expressions")
    for label, value in (("Id", "scene"), ("Name of the operation", "Scene"), ("Tag", "scene"), ("Key", "isShort")):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("Question", exact=True).fill("Is it short?")
    page.get_by_label("Expression", exact=True).fill("user.text | length < 20")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Planned")).to_be_in_viewport()
    [summary] = client.get("/v1/profiles").json()["items"]
    [stored] = client.get(f"/v1/profiles/{summary['id']}").json()["operations"]
    assert (stored["kind"], stored["params"]["engine"], stored["artifact"]["format"]) == ("guard", "rules", "json")
    assert stored["params"]["outputs"][0]["when"] == "user.text | length < 20"
    page.get_by_label("This operation is").select_option("not in use")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Version", exact=True)).to_have_value("2")
    [changed] = client.get(f"/v1/profiles/{summary['id']}").json()["operations"]
    assert changed == {**stored, "enabled": False}


def test_runs_and_schedules_choose_a_profile(open_page: Open, client: Client, saved: str) -> None:
    definition = client.post("/v1/definitions", {"name": "Refunds", "content": {"system": "Help."}}).json()["id"]
    client.post(f"/v1/definitions/{definition}/scenarios", {"items": ["Hello"]})
    page = open_page(f"/new%3Fdefinition={definition}")
    page.get_by_text("More options: defaults").click()
    page.get_by_label("Operation profile").select_option(saved)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Refunds")).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    assert run["config"]["profileId"] == saved
    page = open_page("/schedules")
    page.get_by_text("New schedule").click()
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("When").fill("rate(6 hours)")
    page.get_by_label("Definition", exact=True).select_option("Refunds")
    page.get_by_label("Models").fill("sim/steady")
    page.get_by_label("Operation profile").select_option(saved)
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("Created.")).to_be_visible()
    [schedule] = client.get("/v1/schedules").json()["items"]
    assert schedule["run"]["config"]["profileId"] == saved
    page = open_page(f"/schedules/{schedule['id']}")
    expect(page.get_by_label("Operation profile")).to_have_value(saved)
    page.get_by_label("Operation profile").select_option("none")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("row").filter(has_text="nightly")).to_be_visible()
    [schedule] = client.get("/v1/schedules").json()["items"]
    assert schedule["run"]["config"]["profileId"] is None


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
    expect(page.locator("main p").get_by_text("not in use")).to_be_visible()
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
