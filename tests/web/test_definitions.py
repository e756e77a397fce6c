"""Definitions in a browser: content, versions, scenarios, imports."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.samples import HOSTILE, PAYLOADS

DIMENSIONS = [
    {
        "name": name,
        "levels": [
            {"score": 1, "label": f"low {PAYLOADS[0]}", "options": ["a few", PAYLOADS[1]]},
            {"score": 5, "label": "high", "description": HOSTILE},
        ],
    }
    for name in ("risk", "stakes")
]
CONTENT: dict[str, Any] = {
    "system": f"You are a clerk. Be brief. {HOSTILE}",
    "template": "There is [risk] risk and [stakes] at stake.",
    "dimensions": DIMENSIONS,
    "decision": {"pattern": r"^([1-5])"},
    "assertions": [{"type": "contains", "value": PAYLOADS[0]}],
}


@pytest.fixture
def definition(client: Client) -> str:
    """With two versions and hostile texts."""
    body = {
        "name": f"Refunds {PAYLOADS[0]}",
        "folder": "shop/returns",
        "tags": ["sample", PAYLOADS[1]],
        "content": CONTENT,
    }
    made = client.post("/v1/definitions", body)
    assert made.status == 201, made.text
    key = made.json()["id"]
    scenarios = [
        {"name": f"case {n} {PAYLOADS[n]}", "prompt": f"{PAYLOADS[n]} hello", "successCriteria": HOSTILE}
        for n in range(3)
    ]
    client.post(f"/v1/definitions/{key}/scenarios", {"items": scenarios})
    changes = {"content": {"system": "You are a clerk. Be exact."}, "versionLabel": "exact"}
    assert client.patch(f"/v1/definitions/{key}", changes).status == 200
    return str(key)


def count_of(page: Page, scenarios: int) -> Locator:
    """As the head of the screen says it."""
    return page.locator("header").get_by_text(f"{scenarios} scenarios", exact=True)


def test_a_newcomer_stores_the_sample_from_the_empty_list(open_page: Open, client: Client) -> None:
    page = open_page("/definitions")
    page.get_by_role("button", name="Use the sample definition").click()
    expect(page.get_by_label("Definition", exact=True)).to_contain_text("Privacy against safety")
    assert len(client.get("/v1/definitions").json()["items"]) == 1


def test_a_definition_is_found_by_its_name(open_page: Open, client: Client, definition: str) -> None:
    client.post("/v1/definitions", {"name": "Other", "content": {"system": "Be brief."}})
    page = open_page("/definitions")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_label("Name contains").fill("refund")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile("name=refund"))
    page.get_by_role("link", name="shop/returns").click()
    expect(page).to_have_url(re.compile("folder="))
    page.get_by_role("link", name=re.compile("^Refunds")).click()
    expect(page.get_by_role("heading", name="System prompt")).to_be_visible()


def test_versions_are_compared_field_by_field(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}")
    expect(page.get_by_role("region", name="Text of the system prompt")).to_have_text("You are a clerk. Be exact.")
    expect(page.get_by_text("“exact”")).to_be_visible()
    page.get_by_role("link", name="Changes").click()
    changes = page.get_by_role("region", name="Changes of System prompt")
    expect(changes.locator("ins")).to_contain_text("exact")
    expect(changes.locator("del").first).to_contain_text("brief")
    expect(page.get_by_text("1 field differs")).to_be_visible()
    page.get_by_label("Version", exact=True).select_option("1")
    page.get_by_role("link", name="Content", exact=True).click()
    expect(page.get_by_role("region", name="Text of the system prompt")).to_contain_text("Be brief")
    expect(page.get_by_role("region", name="Text of the template").locator("mark")).to_have_text(["[risk]", "[stakes]"])


def test_scenarios_are_read_and_imported(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios")
    expect(count_of(page, 3)).to_be_visible()
    page.get_by_role("link", name=re.compile("^case 1")).click()
    expect(page.get_by_label("Success criteria")).to_be_in_viewport()
    page.get_by_role("link", name="All scenarios").click()
    page.get_by_text("Import scenarios from a file").click()
    bad = "\n".join([json.dumps({"prompt": "fine"}), json.dumps({"prompt": 5})])
    file = {"name": "cases.jsonl", "mimeType": "application/jsonl", "buffer": bad.encode()}
    page.get_by_label("CSV or JSON Lines").set_input_files([file])
    expect(page.get_by_role("region", name="Beginning of the file")).to_contain_text("fine")
    page.get_by_role("button", name="Import into").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was imported")
    expect(page.get_by_role("alert")).to_contain_text("lines.2: prompt")
    good = {**file, "name": "cases.csv", "buffer": b"prompt,name\nhello,one more\n"}
    page.get_by_label("CSV or JSON Lines").set_input_files([good])
    page.get_by_role("button", name="Import into").click()
    expect(page.get_by_text("Imported: 1 scenario.")).to_be_visible()
    expect(count_of(page, 4)).to_be_visible()
    assert client.get(f"/v1/definitions/{definition}").json()["scenarioCount"] == 4


def test_scenarios_are_generated_from_the_template(open_page: Open, client: Client, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios", reduced_motion="reduce")
    page.get_by_text("Generate scenarios from the template").click()
    expect(page.get_by_text("4 combinations of levels")).to_be_visible()
    page.get_by_role("group", name="").get_by_label("Replace").locator("visible=true").check()
    button = page.get_by_role("button", name="Generate")
    button.hover()
    expect(button).to_have_css("background-color", "rgb(31, 95, 191)")
    button.click()
    expect(count_of(page, 4)).to_be_visible()
    assert client.get(f"/v1/definitions/{definition}").json()["scenarioCount"] == 4


def test_a_model_writes_scenarios_within_a_budget(open_page: Open, client: Client, definition: str) -> None:
    client.put("/v1/providers/sim", {"prices": [{"model": "bold", "inputUsdPerMillion": 1, "outputUsdPerMillion": 2}]})
    page = open_page(f"/definitions/{definition}/scenarios")
    page.get_by_text("Generate scenarios from the template").click()
    budget = page.get_by_label("Budget in USD")
    expect(budget).to_have_count(0)
    page.get_by_label("Texts", exact=True).select_option("sim/bold")
    budget.fill("a lot")
    expect(page.get_by_role("button", name="Generate")).to_be_disabled()
    budget.fill("0.001")
    page.get_by_role("button", name="Generate").click()
    expect(
        page.get_by_text(re.compile(r"^It is less than the \$0\.0\d+ that its first call may cost$"))
    ).to_be_visible()
    expect(budget).to_have_attribute("aria-invalid", "true")
    budget.fill("3")
    page.get_by_role("button", name="Generate").click()
    expect(page.get_by_text("0 of 4 texts written, for $0 of $3.00.")).to_be_visible()


def test_an_evaluation_of_another_tool_is_previewed_and_imported(open_page: Open, client: Client) -> None:
    config = {
        "description": "Greetings",
        "prompts": ["Say {{word}}"],
        "providers": ["openai:gpt-4.1"],
        "tests": [{"vars": {"word": PAYLOADS[0]}, "assert": [{"type": "javascript", "value": "true"}]}],
    }
    page = open_page("/definitions/import")
    file = {"name": "promptfooconfig.json", "mimeType": "application/json", "buffer": json.dumps(config).encode()}
    page.get_by_label("File", exact=True).set_input_files([file])
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("region", name="Import preview")
    expect(preview).to_contain_text("1 scenario")
    expect(preview).to_contain_text("Left out: 1")
    assert client.get("/v1/definitions").json()["items"] == []
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    assert len(client.get("/v1/definitions").json()["items"]) == 1


def test_a_viewer_is_offered_no_change(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}/scenarios", role=AccessRole.VIEWER)
    expect(count_of(page, 3)).to_be_visible()
    expect(page.get_by_text("Import scenarios from a file")).to_have_count(0)
    expect(page.get_by_role("link", name="New run")).to_have_count(1)  # In the navigation, where its page says why not.
    expect(open_page("/definitions/import", role=AccessRole.VIEWER).get_by_text("role member or admin")).to_be_visible()


def test_a_version_that_does_not_exist_is_named(open_page: Open, definition: str) -> None:
    page = open_page(f"/definitions/{definition}%3Fv=99")
    expect(page.get_by_role("heading", name=f"Version 99 of definition {definition}: not found")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, definition: str, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "definitions": "/definitions",
        "definitions-none": "/definitions?name=none",
        "definition": f"/definitions/{definition}?v=1",
        "scenarios": f"/definitions/{definition}/scenarios",
        "changes": f"/definitions/{definition}/changes",
        "import": "/definitions/import",
    }
    check_screens(page, paths)
