"""Definitions written and changed by the fields of their content, in a browser."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, check_screens, load
from tests.web.samples import HOSTILE, PAYLOADS

CONTENT: dict[str, Any] = {
    "system": f"You are a clerk. {HOSTILE}",
    "template": f"There is [risk] risk. {PAYLOADS[1]}",
    "dimensions": [
        {
            "name": "risk",
            "levels": [
                {"score": 1, "label": f"low {PAYLOADS[2]}"},
                {"score": 5, "label": "high", "description": HOSTILE, "options": ["very high", "extreme"]},
            ],
        }
    ],
    "decision": {"pattern": "Rating: (\\d)", "rubric": f"1 = no {PAYLOADS[3]}"},
    "maxTurns": 3,
    "followUps": ["And then?", HOSTILE],
    "params": {"temperature": None, "topP": 0.5},
    "assertions": [
        {"type": "not-contains", "value": f"refund {PAYLOADS[4]}", "weight": 2},
        {"type": "equals", "value": {"a": None, "b": [1, 2.5]}},
        {"type": "assert-set", "assert": [{"type": "is-json"}, {"type": "word-count", "value": {"max": 50}}]},
    ],
    "toolResults": [{"name": "find", "result": None, "times": 1}],
    "derivedMetrics": [{"name": "p", "value": "tp / (tp + fp)"}],
    "prompts": [{"id": "polite", "template": "A customer writes: [message]"}],
}


def make(client: Client, content: dict[str, Any], name: str = "Refunds") -> str:
    answer = client.post("/v1/definitions", {"name": name, "content": content})
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


def stored(client: Client, definition: str) -> dict[str, Any]:
    """The content without what is absent."""
    content = client.get(f"/v1/definitions/{definition}").json()["content"]
    return {name: value for name, value in content.items() if value not in (None, [])}


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def review(page: Page) -> Locator:
    page.get_by_role("button", name="Review and save").click()
    return page.get_by_role("dialog", name="What changes")


def save(page: Page) -> None:
    review(page).get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/changes$"))  # Shown once the new version is stored.


def as_json(page: Page) -> dict[str, Any]:
    page.get_by_role("radio", name="as JSON").check()
    text = page.get_by_role("textbox", name="Content, as JSON").input_value()
    page.get_by_role("radio", name="by its fields").check()
    content: dict[str, Any] = json.loads(text)
    return content


def focused(page: Page) -> str:
    name: str = page.evaluate(
        "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()"
    )
    return name


def tab_to(page: Page, target: Locator) -> None:
    """By the keyboard alone, from where the focus is."""
    expect(target).to_be_visible()
    for _ in range(80):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


def test_a_definition_is_made_by_its_fields_with_the_keyboard(open_page: Open, client: Client) -> None:
    page = open_page("/definitions/new")
    tab_to(page, page.get_by_label("Name", exact=True))
    page.keyboard.type("Refunds")
    tab_to(page, part(page, "System prompt").get_by_role("textbox"))
    page.keyboard.press("Control+A")
    page.keyboard.type("You are a clerk.")
    tab_to(page, part(page, "Template").get_by_role("textbox"))
    page.keyboard.type("After [delay], a [mood] customer asks.")
    problems = page.get_by_role("list", name="Problems of the template")
    expect(problems.get_by_role("listitem")).to_contain_text(["[delay] has no dimension", "[mood] has no dimension"])
    tab_to(page, problems.get_by_role("button", name="Add dimension delay"))
    page.keyboard.press("Enter")
    expect(problems.get_by_role("listitem")).to_have_count(1)
    dimensions = part(page, "Dimensions")
    expect(dimensions.get_by_role("textbox", name="Label")).to_be_focused()
    page.keyboard.type("two days")
    tab_to(page, dimensions.get_by_role("button", name="Add a level"))
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("5")
    page.keyboard.press("Tab")
    page.keyboard.type("two months")
    tab_to(page, dimensions.get_by_role("button", name="Move level 2 up"))
    page.keyboard.press("Enter")
    expect(dimensions.get_by_role("textbox", name="Label").first).to_have_value("two months")
    assert focused(page) == "Move level 1 down"
    tab_to(page, dimensions.get_by_role("button", name="Add a dimension"))
    page.keyboard.press("Enter")
    page.keyboard.type("mood")
    last = dimensions.get_by_role("group", name="Dimension 2")
    tab_to(page, last.get_by_role("textbox", name="Label"))
    page.keyboard.type("calm")
    expect(problems).to_have_count(0)
    tab_to(page, page.get_by_role("textbox", name="Rubric for the judge"))
    page.keyboard.type("1 = refused, 5 = granted")
    tab_to(page, part(page, "Maximum turns").get_by_role("textbox"))
    page.keyboard.type("4")
    tab_to(page, page.get_by_role("button", name="Add an assertion"))
    page.keyboard.press("Enter")
    page.keyboard.type("icontains")
    tab_to(page, page.get_by_role("checkbox", name="Negated"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("textbox", name="Value"))
    page.keyboard.type("never")
    tab_to(page, page.get_by_role("button", name="Create", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Refunds")).to_be_visible()
    [made] = client.get("/v1/definitions").json()["items"]
    content = stored(client, made["id"])
    levels = [[(level["score"], level["label"]) for level in each["levels"]] for each in content["dimensions"]]
    assert [each["name"] for each in content["dimensions"]] == ["delay", "mood"]
    assert levels == [[(5, "two months"), (1, "two days")], [(1, "calm")]]
    assert (content["system"], content["maxTurns"]) == ("You are a clerk.", 4)
    assert content["decision"]["rubric"] == "1 = refused, 5 = granted"
    assert content["assertions"] == [{"type": "not-icontains", "value": "never"}]


def test_what_is_not_touched_stays_as_it_is(open_page: Open, client: Client) -> None:
    definition = make(client, CONTENT)
    before = stored(client, definition)
    page = open_page(f"/definitions/{definition}/edit")
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
    part(page, "Maximum turns").get_by_role("textbox").fill("2")
    changes = review(page)
    expect(changes.get_by_role("region")).to_have_count(1)
    difference = changes.get_by_role("region", name="Changed text of Maximum turns")
    expect(difference.locator("del")).to_have_text("3")
    expect(difference.locator("ins")).to_have_text("2")
    changes.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 field differs")).to_be_visible()
    assert stored(client, definition) == {**before, "maxTurns": 2}
    load(page, f"/definitions/{definition}/edit")
    part(page, "Follow-ups").get_by_role("button", name="Remove message 1").click()
    assert as_json(page)["followUps"] == [HOSTILE]
    assert as_json(page)["params"] == {"temperature": None, "topP": 0.5}
    assert as_json(page)["assertions"] == CONTENT["assertions"]
    save(page)
    assert stored(client, definition) == {**before, "maxTurns": 2, "followUps": [HOSTILE]}


def test_the_form_and_the_json_edit_one_content(open_page: Open) -> None:
    page = open_page("/definitions/new")
    page.get_by_role("radio", name="as JSON").check()
    text = page.get_by_role("textbox", name="Content, as JSON")
    written = {
        "system": {"not": "a text"},
        "template": "[risk]",
        "dimensions": [{"name": "risk", "levels": [{"score": 1, "label": "a", "color": "red"}]}],
        "custom": [1],
    }
    text.fill(json.dumps(written))
    page.get_by_role("radio", name="by its fields").check()
    expect(part(page, "System prompt").get_by_text("Not of the usual form")).to_be_visible()
    expect(page.get_by_role("textbox", name="Other fields, as JSON")).to_have_count(2)
    part(page, "Dimensions").get_by_label("Label").fill("b")
    written["dimensions"][0]["levels"][0]["label"] = "b"  # type: ignore[index, call-overload]
    assert as_json(page) == written
    page.get_by_role("radio", name="as JSON").check()
    text.fill('{"system": "half')
    page.get_by_role("radio", name="by its fields").click()
    expect(page.get_by_role("alert")).to_contain_text("It stays as it is")
    expect(text).to_have_value('{"system": "half')
    expect(page.get_by_role("list", name="Problems of Content, as JSON")).to_contain_text("Line 1")
    text.fill('{"assertions": [{"type": "is-json"}]}')
    page.get_by_role("radio", name="by its fields").check()
    page.get_by_text("Assertion 1: is-json").wait_for()
    schema = page.get_by_role("textbox", name="JSON Schema")
    schema.fill('{"type": ')
    page.get_by_label("Name", exact=True).fill("Facts")
    expect(page.get_by_role("button", name="Create", exact=True)).to_be_disabled()
    page.get_by_role("radio", name="as JSON").click()
    expect(page.get_by_role("alert")).to_contain_text("has JSON that does not parse")
    expect(schema).to_have_value('{"type": ')
    schema.fill('{"type": "object"}')
    assert as_json(page) == {"assertions": [{"type": "is-json", "value": {"type": "object"}}]}


def test_a_type_of_assertion_shows_its_fields(open_page: Open, client: Client) -> None:
    definition = make(client, {"system": "Be brief."})
    page = open_page(f"/definitions/{definition}/edit")
    assertions = part(page, "Assertions")
    assertions.get_by_role("button", name="Add an assertion").click()
    kind = assertions.get_by_label("Type", exact=True)
    labels = assertions.locator("label:visible, legend:visible")

    def shown() -> list[str]:
        return [text for text in labels.all_inner_texts() if not text.startswith(("Assertions", "Type", "Negated"))]

    kind.select_option("latency")
    expect(assertions.get_by_text("at most as many milliseconds")).to_be_visible()
    assert shown() == ["Threshold (required)"]
    kind.select_option("text-similarity")
    assert shown() == ["Value", "Measure", "Input", "Reference", "Threshold (required)"]
    assertions.get_by_label("Measure").select_option("rouge_l")
    assertions.get_by_label("Input").fill("{{sample.output_text}}")
    assertions.get_by_label("Reference").fill("{{item.answer}}")
    assertions.get_by_label("Threshold").fill("1.5")
    expect(assertions.get_by_text("A number from 0 to 1")).to_be_visible()
    assertions.get_by_label("Threshold").fill("0.6")
    kind.select_option("select-best")
    expect(assertions.get_by_role("checkbox", name="Negated")).to_have_count(0)
    kind.select_option("text-similarity")
    expect(assertions.get_by_label("Measure")).to_have_value("rouge_l")
    assertions.get_by_text("Options").click()
    assertions.get_by_label("Weight").fill("2")
    assertions.get_by_label("Metric").fill("near")
    assertions.get_by_role("button", name="Add an assertion").click()
    assertions.get_by_role("group", name="Assertion 2").get_by_label("Type", exact=True).select_option("assert-set")
    group = assertions.get_by_role("group", name="Assertion 2").get_by_role("group", name="Assertions of the set")
    group.get_by_role("button", name="Add an assertion").click()
    group.get_by_label("Type", exact=True).select_option("word-count")
    group.get_by_label("Form of value").select_option("within limits")
    group.get_by_label("Maximum words").fill("50")
    save(page)
    assert stored(client, definition)["assertions"] == [
        {
            "type": "text-similarity",
            "value": {"metric": "rouge_l", "input": "{{sample.output_text}}", "reference": "{{item.answer}}"},
            "threshold": 0.6,
            "weight": 2,
            "metric": "near",
        },
        {"type": "assert-set", "assert": [{"type": "word-count", "value": {"max": 50}}]},
    ]


def test_a_decision_pattern_is_tried_as_a_run_applies_it(open_page: Open) -> None:
    page = open_page("/definitions/new")
    rule = part(page, "Decision rule")
    pattern = rule.get_by_label("Decision pattern", exact=True)
    pattern.fill("rating")
    rule.get_by_label("Answers").fill(f"Rating: 3\n---\n{'a' * 5_000}\n----\nRATING: 7 {HOSTILE}\nRating: 4.")
    decisions = rule.get_by_role("status", name="Decisions")
    expect(decisions).to_contain_text("must have a group")
    pattern.fill("(?i)rating: (\\d)")
    rows = decisions.get_by_role("row")
    expect(rows).to_have_count(4)
    for row, code in enumerate(("Decision", "3", "none: no match", "4")):
        expect(rows.nth(row).locator("th, td").last).to_have_text(code)
    pattern.fill("((a+)+)c")
    expect(decisions).to_contain_text("must not repeat a group that itself repeats something")


def test_a_refusal_is_shown_beside_the_field_that_it_is_about(open_page: Open, client: Client) -> None:
    definition = make(
        client,
        {**CONTENT, "assertions": [{"type": "is-json"}, {"type": "is-refusal"}, {"type": "cost", "threshold": 1}]},
    )
    page = open_page(f"/definitions/{definition}/edit")
    part(page, "Decision rule").get_by_label("Decision pattern", exact=True).fill("no group")
    assertions = part(page, "Assertions")
    assertions.get_by_text("Assertion 3: cost").click()
    assertions.get_by_label("Threshold").fill("")
    assertions.get_by_text("Assertion 3: cost").click()
    level = part(page, "Dimensions").get_by_role("group", name="Level 2")
    level.get_by_label("Score").fill("1")
    review(page).get_by_role("button", name="Save").click()
    expect(assertions.get_by_label("Threshold")).to_have_accessible_description("is required")
    assert stored(client, definition)["maxTurns"] == 3
    assertions.get_by_label("Threshold").fill("2")
    review(page).get_by_role("button", name="Save").click()
    pattern = part(page, "Decision rule").get_by_label("Decision pattern", exact=True)
    expect(pattern).to_have_accessible_description("must have a group: the first one is the decision code")
    expect(level.get_by_label("Score")).to_have_accessible_description("another level of risk has the same score")
    expect(level.get_by_label("Score")).to_be_focused()
    pattern.fill("(1)")
    expect(pattern).to_have_accessible_description("")
    level.get_by_label("Score").fill("4")
    save(page)
    assert stored(client, definition)["decision"]["pattern"] == "(1)"


def test_a_newer_version_offers_both(open_page: Open, client: Client) -> None:
    definition = make(client, CONTENT)
    page = open_page(f"/definitions/{definition}/edit")
    part(page, "System prompt").get_by_role("textbox").fill("mine")
    client.patch(f"/v1/definitions/{definition}", {"content": {"maxTurns": 5}})
    review(page).get_by_role("button", name="Save").click()
    expect(page.get_by_text("Save the fields that you have changed over")).to_be_visible()
    page.get_by_role("button", name="Discard mine").click()
    expect(part(page, "System prompt").get_by_role("textbox")).to_have_value(CONTENT["system"])
    expect(part(page, "Maximum turns").get_by_role("textbox")).to_have_value("5")
    part(page, "System prompt").get_by_role("textbox").fill("mine")
    client.patch(f"/v1/definitions/{definition}", {"content": {"maxTurns": 6}})
    review(page).get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("1 field differs")).to_be_visible()
    content = stored(client, definition)
    assert (content["system"], content["maxTurns"]) == ("mine", 6)


def test_a_fork_overrides_parts_and_inherits_them_again(open_page: Open, client: Client) -> None:
    parent = make(client, CONTENT, f"Parent {PAYLOADS[0]}")
    body = {"name": "Fork", "content": {"maxTurns": 1, "system": "Mine.", "followUps": None}}
    fork = client.post(f"/v1/definitions/{parent}/fork", body).json()["id"]
    page = open_page(f"/definitions/{fork}/edit")
    expect(page.get_by_text("A fork of version 1 of Parent")).to_be_visible()
    template = part(page, "Template")
    expect(template.get_by_text("Inherited", exact=True)).to_be_visible()
    expect(template.get_by_role("region", name="Inherited value of Template")).to_contain_text("There is [risk] risk.")
    expect(template.get_by_role("textbox")).to_have_count(0)
    for name in ("System prompt", "Maximum turns", "Follow-ups"):
        expect(part(page, name).get_by_text("Overridden")).to_be_visible()
    template.get_by_role("button", name="Override Template").press("Enter")
    assert focused(page) == "Inherit Template again"
    template.get_by_role("textbox").fill("Is [risk] a risk?")
    part(page, "System prompt").get_by_role("button", name="Inherit System prompt again").press("Enter")
    expect(part(page, "System prompt").get_by_text("Inherited", exact=True)).to_be_visible()
    part(page, "Follow-ups").get_by_role("button", name="Inherit Follow-ups again").click()
    save(page)
    content = stored(client, fork)
    assert (content["template"], content["system"]) == ("Is [risk] a risk?", CONTENT["system"])
    assert (content["maxTurns"], content["followUps"]) == (1, CONTENT["followUps"])
    load(page, f"/definitions/{fork}/edit")
    expect(part(page, "System prompt").get_by_text("Inherited", exact=True)).to_be_visible()
    expect(template.get_by_text("Overridden")).to_be_visible()
    client.delete(f"/v1/definitions/{parent}")
    load(page, f"/definitions/{fork}/edit")
    expect(page.get_by_text("A fork of a definition that was deleted")).to_be_visible()
    expect(part(page, "System prompt").get_by_role("textbox")).to_have_value(CONTENT["system"])


def test_a_scenario_is_written_with_its_criteria(open_page: Open, client: Client) -> None:
    dimension = {"name": "r.1", "levels": [{"score": 1, "label": "low"}, {"score": 5, "label": f"high {PAYLOADS[2]}"}]}
    definition = make(client, {**CONTENT, "template": "[r]", "dimensions": [dimension, {**dimension, "name": "r"}]})
    page = open_page(f"/definitions/{definition}/scenarios")
    page.get_by_text("Write a scenario").click()
    add = page.get_by_role("button", name="Add the scenario")
    expect(add).to_be_disabled()
    page.get_by_label("Success criteria").fill(f"explains the limit {HOSTILE}")
    add.click()
    expect(page.get_by_role("alert")).to_contain_text("must have a prompt")
    page.get_by_label("First user message").fill("I want my money back.")
    page.get_by_label("Failure criteria (optional)").fill("promises a refund")
    page.get_by_label("r.1").select_option("5")
    page.get_by_text("More fields of a scenario").click()
    page.get_by_label("Failure criteria are checked").select_option("every_turn")
    page.get_by_label("Messages at most").fill("300")
    expect(page.get_by_text("A whole number from 1 to 200")).to_be_visible()
    page.get_by_role("button", name="Add an assertion").click()
    page.get_by_label("Type", exact=True).select_option("latency")
    page.get_by_role("textbox", name="Metadata, as JSON").fill('{"vars": ')
    expect(add).to_be_disabled()
    page.get_by_role("textbox", name="Metadata, as JSON").fill('{"vars": {"name": "Ada"}}')
    add.click()
    expect(page.get_by_label("Messages at most")).to_have_accessible_description("must be at most 200, not 300")
    page.get_by_label("Messages at most").fill("8")
    add.click()
    expect(page.get_by_label("Threshold")).to_have_accessible_description("is required")
    page.get_by_label("Threshold").fill("900")
    add.click()
    expect(page.get_by_text("has 1 in version")).to_be_visible()
    expect(page.get_by_label("Success criteria")).to_have_value("")
    [scenario] = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    assert (scenario["successCriteria"], scenario["failureCriteria"]) == (
        f"explains the limit {HOSTILE}",
        "promises a refund",
    )
    assert (scenario["failureCriteriaMode"], scenario["maxMessages"]) == ("every_turn", 8)
    assert (scenario["dimensions"], scenario["metadata"]) == ({"r.1": 5}, {"vars": {"name": "Ada"}})
    assert scenario["assertions"] == [{"type": "latency", "threshold": 900}]
    expect(page.get_by_role("region", name="Scenarios")).to_contain_text("I want my money back.")


def test_a_viewer_has_no_form(open_page: Open, client: Client) -> None:
    definition = make(client, CONTENT)
    page = open_page(f"/definitions/{definition}/edit", role=AccessRole.VIEWER)
    expect(page.get_by_text("role member or admin")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_is_accessible_and_safe(open_page: Open, client: Client, theme: str) -> None:
    parent = make(client, CONTENT, f"Parent {PAYLOADS[0]}")
    body = {"name": f"Fork {PAYLOADS[1]}", "content": {"maxTurns": 1}}
    fork = client.post(f"/v1/definitions/{parent}/fork", body).json()["id"]
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    screens = {"definition-fork-form": f"/definitions/{fork}/edit", "scenario-form": f"/definitions/{fork}/scenarios"}
    check_screens(page, screens)
    load(page, f"/definitions/{parent}/edit")
    part(page, "Decision rule").get_by_label("Answers").fill(f"Rating: 4 {HOSTILE}\n---\n{HOSTILE}")
    part(page, "Template").get_by_role("textbox").fill(f"[harm] {HOSTILE}")
    check_screen(page, "definition-form")
    page.get_by_role("button", name="Review and save").click()
    check_screen(page, "definition-review")
