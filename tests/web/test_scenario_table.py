"""Data sets as tables in a browser: variables, sorting, filters, editing in place, files that are dropped."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import build_scoring
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.samples import HOSTILE, PAYLOADS

PROMPTS = [
    {"id": "brief", "label": "In one sentence", "system": f"Answer in one sentence. {PAYLOADS[0]}"},
    {"id": "steps", "template": "Think in steps.\n[message]", "params": {"temperature": 0.2}},
    {"id": "talk", "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "[message]"}]},
]
SCENARIOS: list[dict[str, Any]] = [
    {
        "name": "late parcel",
        "prompt": "My parcel is three weeks late.\nWhere is it?",
        "metadata": {"source": "desk", "vars": {"item": "kettle 10", "tone": "angry"}},
        "assertions": [
            {"type": "icontains", "value": "tracking number"},
            {"type": "not-contains", "value": "refund", "weight": 2},
        ],
    },
    {
        "name": "broken lid",
        "prompt": "The lid of my kettle broke.",
        "metadata": {"vars": {"item": "kettle 9", "count": 2}},
        "assertions": [{"type": "llm-rubric", "value": "It offers a replacement."}],
    },
    {
        "name": f"several {PAYLOADS[1]}",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"And now? {HOSTILE}"}],
        "metadata": {"vars": {"item": "cup"}},
    },
]


@pytest.fixture
def definition(client: Client) -> str:
    made = client.post("/v1/definitions", {"name": "Parcels", "content": {"system": "Help.", "prompts": PROMPTS}})
    assert made.status == 201, made.text
    key = str(made.json()["id"])
    added = client.post(f"/v1/definitions/{key}/scenarios", {"items": SCENARIOS})
    assert added.status == 201, added.text
    return key


def stored(client: Client, definition: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    return items


def table_of(page: Page) -> Locator:
    return page.get_by_role("table", name="Scenarios")


def names(page: Page) -> Locator:
    return table_of(page).get_by_role("rowheader")


def test_scenarios_are_rows_with_their_variables_and_checks(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    heads = table_of(page).get_by_role("columnheader")
    expect(heads).to_have_text(["Scenario", "Message", "item", "tone", "count", "Checks", "Actions"])
    row = table_of(page).get_by_role("row").filter(has_text="late parcel")
    expect(row).to_contain_text("My parcel is three weeks late.")
    expect(row).to_contain_text("icontains")
    expect(row).to_contain_text("not contains, weight 2")
    expect(row).to_be_in_viewport()
    page.get_by_text("Variables: 3 of 3").click()
    page.get_by_label("tone").uncheck()
    expect(heads).to_have_text(["Scenario", "Message", "item", "count", "Checks", "Actions"])
    page.reload()
    expect(heads).to_have_text(["Scenario", "Message", "item", "count", "Checks", "Actions"])


def test_rows_are_sorted_and_filtered_and_the_address_says_so(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    head = table_of(page).get_by_role("columnheader", name="item")
    head.get_by_role("button").click()
    expect(names(page)).to_have_text([re.compile("several"), "broken lid", "late parcel"])
    head.get_by_role("button").click()
    expect(names(page)).to_have_text(["late parcel", "broken lid", re.compile("several")])
    expect(head).to_have_attribute("aria-sort", "descending")
    page.get_by_label("Contains").fill("KETTLE")
    expect(names(page)).to_have_text(["late parcel", "broken lid"])
    expect(page.get_by_text("2 of 3 match")).to_be_visible()
    page.reload()
    expect(names(page)).to_have_text(["late parcel", "broken lid"])


def test_a_message_is_edited_in_its_cell(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    button = table_of(page).get_by_role("button", name=re.compile(r"edit message of late parcel"))
    button.focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Message of late parcel", exact=True)
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    field.fill("Not sent")
    field.press("Escape")
    expect(field).to_have_count(0)
    expect(button).to_be_focused()
    assert client.get(f"/v1/definitions/{definition}").json()["version"] == 1
    button.click()
    field.fill("Where is my parcel?")
    field.press("Enter")
    expect(button).to_contain_text("Where is my parcel?")
    expect(button).to_be_focused()
    expect(page.get_by_label("Version", exact=True)).to_have_value("2")
    before = client.get(f"/v1/definitions/{definition}/scenarios", query={"version": "1"}).json()["items"]
    changed = {**before[0], "messages": [{"role": "user", "content": "Where is my parcel?"}]}
    assert stored(client, definition) == [changed, *before[1:]]


def test_variables_and_expected_values_are_edited_in_their_cells(
    open_page: Open, client: Client, definition: str
) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    for column, label, text in (
        ("count", "Count of broken lid", "3"),
        ("tone", "Tone of broken lid", "calm"),
        ("icontains", "Icontains of late parcel", "parcel number"),
    ):
        name = label[label.index(" of ") :]
        table_of(page).get_by_role("button", name=re.compile(rf"edit {column}{name}")).click()
        field = page.get_by_label(label, exact=True)
        field.fill(text)
        field.press("Enter")
        expect(field).to_have_count(0)
    late, broken, _ = stored(client, definition)
    assert broken["metadata"] == {"vars": {"item": "kettle 9", "count": 3, "tone": "calm"}}
    assert late["assertions"] == [
        {"type": "icontains", "value": "parcel number"},
        {"type": "not-contains", "value": "refund", "weight": 2},
    ]
    assert late["metadata"] == SCENARIOS[0]["metadata"]


def test_a_refusal_stands_at_the_cell_and_a_change_that_came_first_is_not_lost(
    open_page: Open, client: Client, definition: str
) -> None:
    key = stored(client, definition)[0]["id"]
    address = f"/v1/definitions/{definition}/scenarios/{key}"
    page = open_page(f"/definitions/{definition}/scenarios")
    button = table_of(page).get_by_role("button", name=re.compile(r"edit message of late parcel"))
    button.click()
    field = page.get_by_label("Message of late parcel", exact=True)
    field.fill("")
    field.press("Enter")
    expect(table_of(page).get_by_role("alert")).to_have_text("must not be blank")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("mine")
    assert client.patch(address, {"prompt": "theirs"}).status == 200
    field.press("Enter")
    expect(table_of(page).get_by_text("Save the fields that you have changed over")).to_be_visible()
    assert client.get(address).json()["messages"][0]["content"] == "theirs"
    table_of(page).get_by_role("button", name="Discard mine").click()
    expect(field).to_have_value("theirs")
    field.fill("ours")
    field.press("Enter")
    expect(button).to_contain_text("ours")
    assert client.get(address).json()["messages"][0]["content"] == "ours"


def test_leaving_a_cell_that_is_not_saved_asks(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    table_of(page).get_by_role("button", name=re.compile(r"edit message of late parcel")).click()
    page.get_by_label("Message of late parcel", exact=True).fill("changed")
    page.get_by_role("link", name="Content", exact=True).click()
    page.get_by_role("dialog", name="Leave without saving?").get_by_role("button", name="Stay").click()
    expect(page.get_by_label("Message of late parcel", exact=True)).to_have_value("changed")


def test_a_file_that_is_dropped_on_the_table_is_imported(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    expect(names(page)).to_have_count(3)
    transfer = page.evaluate_handle(
        """() => {
            const transfer = new DataTransfer()
            transfer.items.add(new File(["name,prompt\\nlost mug,Where is my mug?\\n"], "cases.csv"))
            return transfer
        }"""
    )
    table_of(page).dispatch_event("dragover", {"dataTransfer": transfer})
    table_of(page).dispatch_event("drop", {"dataTransfer": transfer})
    button = page.get_by_role("button", name="Import into Parcels")
    expect(button).to_be_focused()
    expect(button).to_be_in_viewport()
    expect(page.get_by_role("region", name="Beginning of the file")).to_contain_text("lost mug")
    assert len(stored(client, definition)) == 3
    button.click()
    expect(page.get_by_text("Imported: 1 scenario.")).to_be_visible()
    expect(names(page)).to_contain_text(["lost mug"])
    assert [each["name"] for each in stored(client, definition)][-1] == "lost mug"


def test_the_last_pass_rates_are_a_column_that_sorts(open_page: Open, client: Client, definition: str) -> None:
    run = AnsweredRun(
        tuple(Scenario("", each["name"], (Message(MessageRole.USER, "?"),)) for each in SCENARIOS),
        definition_id=definition,
        workspace="acme",
        scoring=lambda index: build_scoring(
            None, None, (AssertionResult("contains", index in (1, 2, 5), float(index in (1, 2, 5)), ""),)
        ),
    ).completed()
    assert [each["scenarioId"] for each in client.get(f"/v1/runs/{run.id}/scores/scenarios").json()["items"]][:3] == [
        each["id"] for each in stored(client, definition)
    ]
    page = open_page(f"/definitions/{definition}/scenarios")
    head = table_of(page).get_by_role("columnheader", name="Passed")
    head.get_by_role("button").click()
    head.get_by_role("button").click()
    expect(names(page)).to_have_count(3)
    rates = table_of(page).locator('[role="cell"].figure')
    expect(rates).to_have_text(["100.0%", "50.0%", "0.0%"])
    page.get_by_role("link", name="answered").click()
    expect(page).to_have_url(re.compile(f"/runs/{run.id}"))


def test_thousands_of_rows_are_read_as_they_are_needed(open_page: Open, client: Client, definition: str) -> None:
    many = [{"name": f"case {n}", "prompt": f"Question {n}"} for n in range(1_000)]
    assert client.post(f"/v1/definitions/{definition}/scenarios", {"items": many}).status == 201
    page = open_page(f"/definitions/{definition}/scenarios")
    expect(page.get_by_text("of 1,003 scenarios shown")).to_be_visible()
    assert names(page).count() < 60
    page.get_by_label("Contains").fill("Question 777")
    expect(names(page)).to_have_text(["case 777"])
    expect(names(page)).to_be_in_viewport()


def test_a_viewer_changes_nothing(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios", role=AccessRole.VIEWER)
    expect(names(page)).to_have_count(3)
    expect(table_of(page).locator('[role="cell"]').get_by_role("button")).to_have_count(0)
    names(page).get_by_role("link", name="late parcel").click()
    expect(page.get_by_role("heading", name="Assertions")).to_be_in_viewport()
    expect(page.get_by_text("not contains, weight 2")).to_be_visible()


def test_prompts_are_shown_as_text(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}")
    brief = page.get_by_role("region", name="Prompt In one sentence")
    expect(brief.get_by_role("region", name="System prompt of In one sentence")).to_contain_text("Answer in one")
    steps = page.get_by_role("region", name="Prompt steps")
    expect(steps.get_by_role("region", name="User message of steps")).to_contain_text("Think in steps.")
    expect(steps).to_contain_text("temperature")
    expect(page.get_by_role("region", name="Prompt talk")).to_contain_text("Be kind.")
    expect(page.get_by_text('"label"')).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, definition: str, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screens(
        page,
        {"scenario-table": f"/definitions/{definition}/scenarios", "prompts": f"/definitions/{definition}"},
    )
