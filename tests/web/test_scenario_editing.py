"""Scenarios of a definition edited and deleted in a browser."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.samples import HOSTILE, PAYLOADS

CONTENT: dict[str, Any] = {
    "system": "You are a clerk.",
    "template": "There is [risk] risk.",
    "dimensions": [{"name": "risk", "levels": [{"score": 1, "label": "low"}, {"score": 5, "label": "high"}]}],
}
SCENARIOS: list[dict[str, Any]] = [
    {"name": f"late {PAYLOADS[0]}", "prompt": f"Hello {PAYLOADS[1]}", "successCriteria": HOSTILE, "maxMessages": 8},
    {
        "name": "several",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "And now?"}],
        "toolResults": [{"name": "find_order", "result": {"status": "lost"}}],
        "followUps": ["Why?"],
        "metadata": {"source": "desk"},
    },
]


@pytest.fixture
def definition(client: Client) -> str:
    made = client.post("/v1/definitions", {"name": "Refunds", "content": CONTENT})
    assert made.status == 201, made.text
    key = str(made.json()["id"])
    added = client.post(f"/v1/definitions/{key}/scenarios", {"items": SCENARIOS})
    assert added.status == 201, added.text
    return key


def stored(client: Client, definition: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    return items


def open_row(page: Page, words: str) -> None:
    page.get_by_role("table", name="Scenarios").get_by_role("link", name=re.compile(words)).click()


def save(page: Page, version: int) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(f"Saved in version {version} of the definition.")).to_be_visible()


def test_a_scenario_is_opened_and_changed_by_its_fields(open_page: Open, client: Client, definition: str) -> None:
    before = stored(client, definition)
    page = open_page(f"/definitions/{definition}/scenarios")
    open_row(page, "late")
    first = page.get_by_label("First user message")
    expect(first).to_have_value(f"Hello {PAYLOADS[1]}")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    first.fill("Hello again")
    page.get_by_label("Success criteria").fill("")
    page.get_by_label("risk", exact=True).select_option("5: high")
    save(page, 2)
    changed, other = stored(client, definition)
    assert changed == {
        **before[0],
        "messages": [{"role": "user", "content": "Hello again"}],
        "successCriteria": None,
        "dimensions": {"risk": 5},
    }
    assert other == before[1]
    page.get_by_label("Messages at most").fill("")
    save(page, 3)
    page.get_by_role("link", name="All scenarios").click()
    expect(page.get_by_role("region", name="Scenarios")).to_contain_text("Hello again")
    assert stored(client, definition)[0]["maxMessages"] is None
    assert client.get(f"/v1/definitions/{definition}/scenarios", query={"version": "1"}).json()["items"] == before


def test_messages_and_what_has_no_place_in_a_new_scenario_stay(
    open_page: Open, client: Client, definition: str
) -> None:
    before = stored(client, definition)[1]
    page = open_page(f"/definitions/{definition}/scenarios/{before['id']}")
    page.get_by_role("group", name="Message 2").get_by_label("Text", exact=True).fill("And later?")
    page.get_by_label("Scenario name").fill("renamed")
    save(page, 2)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "And later?"}]
    assert stored(client, definition)[1] == {**before, "name": "renamed", "messages": messages}


def test_what_is_refused_stands_beside_its_field(open_page: Open, client: Client, definition: str) -> None:
    key = stored(client, definition)[0]["id"]
    page = open_page(f"/definitions/{definition}/scenarios/{key}")
    page.get_by_label("Messages at most").fill("900")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The scenario was not saved")
    field = page.get_by_label("Messages at most")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    page.get_by_label("Messages at most").fill("9")
    page.get_by_role("button", name="Add an id").click()
    page.get_by_label("Id 1", exact=True).fill("per_none")
    page.get_by_role("button", name="Save", exact=True).click()
    people = page.get_by_role("group", name="Ids of personas")
    expect(people).to_contain_text("there is no persona per_none")
    assert client.get(f"/v1/definitions/{definition}").json()["version"] == 1


def test_a_change_that_came_first_is_not_lost(open_page: Open, client: Client, definition: str) -> None:
    key = stored(client, definition)[0]["id"]
    address = f"/v1/definitions/{definition}/scenarios/{key}"
    page = open_page(f"/definitions/{definition}/scenarios/{key}")
    page.get_by_label("First user message").fill("mine")
    client.patch(address, {"maxMessages": 5})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Save the fields that you have changed over")).to_be_visible()
    assert client.get(address).json()["messages"] == [{"role": "user", "content": f"Hello {PAYLOADS[1]}"}]
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("Saved in version 3")).to_be_visible()
    now = client.get(address).json()
    assert (now["messages"], now["maxMessages"]) == ([{"role": "user", "content": "mine"}], 5)
    page.get_by_label("First user message").fill("mine again")
    client.patch(address, {"prompt": "theirs"})
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Discard mine").click()
    expect(page.get_by_label("First user message")).to_have_value("theirs")


def test_deleting_asks_and_earlier_versions_keep_it(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    table = page.get_by_role("table", name="Scenarios")
    rows = table.get_by_role("row").filter(has=page.get_by_role("rowheader"))
    row = rows.filter(has_text="late")
    row.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete this scenario?")
    dialog.get_by_role("button", name="Cancel").click()
    assert len(stored(client, definition)) == 2
    row.get_by_role("button", name="Delete…").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted: late")).to_be_focused()
    expect(rows).to_have_count(1)
    assert [each["name"] for each in stored(client, definition)] == ["several"]
    page.get_by_label("Version", exact=True).select_option("1")
    expect(rows).to_contain_text(["Hello", "And now?"])
    expect(page.get_by_role("button", name="Delete…")).to_have_count(0)
    expect(page.get_by_text("Write a scenario")).to_have_count(0)
    page.get_by_role("link", name="the latest version").click()
    expect(page.get_by_text("Write a scenario")).to_be_visible()


def test_a_scenario_is_deleted_where_it_is_edited(open_page: Open, client: Client, definition: str) -> None:
    key = stored(client, definition)[0]["id"]
    page = open_page(f"/definitions/{definition}/scenarios/{key}")
    page.get_by_label("First user message").fill("changed and not saved")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/scenarios$"))
    expect(page.get_by_role("table", name="Scenarios").get_by_role("rowheader")).to_have_count(1)


def test_leaving_a_changed_scenario_asks(open_page: Open, client: Client, definition: str) -> None:
    key = stored(client, definition)[0]["id"]
    page = open_page(f"/definitions/{definition}/scenarios/{key}")
    page.get_by_label("First user message").fill("changed")
    page.get_by_role("link", name="All scenarios").click()
    page.get_by_role("dialog", name="Leave without saving?").get_by_role("button", name="Stay").click()
    expect(page.get_by_label("First user message")).to_have_value("changed")


def test_a_viewer_reads_a_scenario(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios", role=AccessRole.VIEWER)
    table = page.get_by_role("table", name="Scenarios")
    expect(table).to_contain_text("succeeds if")
    expect(table.locator('[role="cell"]').get_by_role("button")).to_have_count(0)
    open_row(page, "late")
    expect(page.get_by_role("heading", name="Success criteria")).to_be_visible()
    expect(page.locator("main").get_by_role("textbox")).to_have_count(0)
    expect(page.locator("main").get_by_role("button")).to_have_text(["Actions"])


def test_a_scenario_that_is_not_there_is_named(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios/none")
    expect(page.get_by_role("heading", name="Scenario none: not found")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, client: Client, definition: str, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    first, second = stored(client, definition)
    scenarios = f"/definitions/{definition}/scenarios"
    check_screens(
        page,
        {
            "scenarios": scenarios,
            "scenario-edit": f"{scenarios}/{first['id']}",
            "scenario-edit-messages": f"{scenarios}/{second['id']}",
        },
    )
