"""Values of a definition that have fields of their own instead of JSON, in a browser."""

import base64
import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, load
from tests.web.samples import HOSTILE, PAYLOADS
from tests.web.test_definition_form import as_json, focused, make, part, review, save, stored, tab_to

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
IMAGE = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
DIMENSIONS = [
    {"name": "delay", "levels": [{"score": 1, "label": "two days"}, {"score": 5, "label": f"long {PAYLOADS[0]}"}]},
    {"name": "mood", "levels": [{"score": score, "label": f"mood {score}"} for score in (1, 2, 3)]},
]
CONTENT: dict[str, Any] = {
    "system": "You are a clerk.",
    "template": "[delay] and [mood]",
    "dimensions": DIMENSIONS,
    "matchingRules": [{"exclude": {"delay": 1, "mood": [2, 3]}}, {"when": {"Delay": [5]}, "only": {"mood": 1}}],
    "params": {"temperature": None, "responseFormat": {"type": "json_schema", "schema": {"type": "object"}}},
    "prompts": [
        {"id": "polite", "template": "A customer writes: [message]", "params": {"temperature": 0.2, "seed": None}},
        {
            "id": "chat",
            "messages": [
                {"role": "user", "content": f"Where is it? {HOSTILE}"},
                {
                    "role": "assistant",
                    "content": "Let me see.",
                    "toolCalls": [{"id": "c1", "name": "find", "arguments": '{"number": "A-17"}'}],
                },
                {"role": "tool", "content": "down", "toolCallId": "c1", "isError": True},
            ],
        },
    ],
    "toolResults": [
        {
            "name": "find",
            "arguments": {"a.b": HOSTILE, "open": False, "limit": 5, "tags": ["x"], "none": None},
            "result": {"status": "lost"},
        }
    ],
    "assertions": [
        {
            "type": "score-model",
            "value": {
                "messages": [{"role": "user", "content": "Rate {{sample.output_text}}"}],
                "range": [1, 5],
                "params": {"temperature": 0, "reasoningEffort": "low"},
            },
        },
        {"type": "trajectory:tool-args-match", "value": {"name": "find", "args": {}, "defaults": {"limit": 5}}},
        {"type": "equals", "value": True},
        {"type": "is-xml", "value": {"requiredElements": ["order.item"]}},
    ],
}
MESSAGES = [{"role": "user", "content": "Look"}, {"role": "assistant", "content": "A dot."}]
OTHERS = ("Other fields, as JSON", "Not of the usual form")


def unfold(page: Page, name: str) -> Locator:
    """A part that is seldom set."""
    region = page.locator("details", has=page.get_by_role("heading", name=name, exact=True)).first
    if region.get_attribute("open") is None:
        region.locator("summary").first.click()
    return region


def unfold_all(page: Page) -> None:
    closed = page.locator("main form details:not([open]) > summary").locator("visible=true")
    while closed.count():
        closed.first.click()


def entry(group: Locator, number: int, name: str = "Argument") -> Locator:
    return group.get_by_role("group", name=f"{name} {number}", exact=True)


def test_everything_has_fields_and_stays_as_it_is(open_page: Open, client: Client) -> None:
    definition = make(client, CONTENT)
    before = stored(client, definition)
    page = open_page(f"/definitions/{definition}/edit")
    part(page, "System prompt").get_by_role("textbox").wait_for()
    unfold_all(page)
    for text in OTHERS:
        expect(page.get_by_text(text)).to_have_count(0)
    assert as_json(page)["prompts"] == CONTENT["prompts"]
    assert as_json(page)["matchingRules"] == CONTENT["matchingRules"]
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
    part(page, "Maximum turns").get_by_role("textbox").fill("2")
    save(page)
    assert stored(client, definition) == {**before, "maxTurns": 2}


def test_a_prompt_has_parameters_by_fields(open_page: Open, client: Client) -> None:
    definition = make(client, {"prompts": [{"id": "polite", "template": "[message]"}, {"id": "plain"}]})
    page = open_page(f"/definitions/{definition}/edit")
    prompts = unfold(page, "Prompts")
    first = prompts.get_by_role("group", name="Prompt 1", exact=True)
    tab_to(page, first.locator("summary", has_text="Parameters (optional)"))
    page.keyboard.press("Enter")
    params = first.get_by_role("group", name="Parameters (optional)")
    tab_to(page, params.get_by_role("textbox", name="Temperature"))
    page.keyboard.type("3")
    tab_to(page, params.get_by_role("button", name="Add a stop sequence"))
    page.keyboard.press("Enter")
    page.keyboard.type("END")
    expect(params.get_by_role("textbox", name="JSON Schema")).to_have_count(0)
    params.get_by_label("Format", exact=True).select_option("json_schema")
    params.get_by_role("textbox", name="JSON Schema").fill('{"type": "object"}')
    tab_to(page, params.locator("summary", has_text="Defaults of the provider"))
    page.keyboard.press("Enter")
    tab_to(page, params.get_by_role("checkbox", name="Seed"))
    page.keyboard.press("Space")
    expect(params.get_by_role("textbox", name="Seed")).to_have_count(0)
    params.get_by_role("checkbox", name="Top k").check()
    params.get_by_role("checkbox", name="Top k").uncheck()
    expect(params.get_by_role("textbox", name="Top k")).to_be_visible()
    first.locator("summary", has_text="Parameters (optional)").click()
    expect(params).to_have_count(0)
    review(page).get_by_role("button", name="Save").click()
    temperature = params.get_by_role("textbox", name="Temperature")
    expect(temperature).to_be_focused()
    expect(temperature).to_have_accessible_description("must be at most 2, not 3")
    expect(temperature).to_have_attribute("aria-invalid", "true")
    temperature.fill("0.5")
    save(page)
    assert stored(client, definition)["prompts"][0]["params"] == {
        "temperature": 0.5,
        "stop": ["END"],
        "responseFormat": {"type": "json_schema", "schema": {"type": "object"}, "name": None},
        "seed": None,
    }
    load(page, f"/definitions/{definition}/edit")
    params.get_by_role("checkbox", name="Seed").uncheck()
    params.get_by_role("textbox", name="Seed").fill("7")
    params.get_by_role("textbox", name="JSON Schema").fill("")
    params.get_by_label("Format", exact=True).select_option("text")
    params.get_by_role("button", name="Remove stop sequence 1").click()
    save(page)
    assert stored(client, definition)["prompts"][0]["params"] == {
        "temperature": 0.5,
        "responseFormat": {"type": "text", "schema": None, "name": None},
        "seed": 7,
    }


def test_arguments_are_names_with_values(open_page: Open, client: Client) -> None:
    definition = make(client, {"toolResults": [{"name": "find", "arguments": {"a.b": "x"}, "result": "lost"}]})
    page = open_page(f"/definitions/{definition}/edit")
    results = unfold(page, "Results of tools")
    arguments = results.get_by_role("group", name="Only calls with these arguments (optional)")
    add = arguments.get_by_role("button", name="Add an argument")
    tab_to(page, add)
    page.keyboard.press("Enter")
    expect(entry(arguments, 2).get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("a.b")
    expect(entry(arguments, 2).get_by_label("Name", exact=True)).to_have_accessible_description(
        "Another row has the same name"
    )
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
    page.keyboard.type(".c")
    tab_to(page, entry(arguments, 2).get_by_label("Form of value"))
    page.keyboard.type("number")
    number = entry(arguments, 2).get_by_label("Value", exact=True)
    number.fill("five")
    expect(number).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
    number.fill("5")
    add.click()
    expect(entry(arguments, 3).get_by_text("A name is missing")).to_be_visible()
    entry(arguments, 3).get_by_label("Name", exact=True).fill("open")
    entry(arguments, 3).get_by_label("Form of value").select_option("false")
    expect(entry(arguments, 3).get_by_label("Value", exact=True)).to_have_count(0)
    add.click()
    entry(arguments, 4).get_by_label("Name", exact=True).fill("tags")
    entry(arguments, 4).get_by_label("Form of value").select_option("JSON")
    entry(arguments, 4).get_by_label("Value", exact=True).fill('["x"')
    expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
    entry(arguments, 4).get_by_label("Value", exact=True).fill('["x"]')
    arguments.get_by_role("button", name="Remove argument 1").press("Enter")
    assert focused(page) == "Remove argument 1"
    save(page)
    assert stored(client, definition)["toolResults"][0]["arguments"] == {"a.b.c": 5, "open": False, "tags": ["x"]}
    load(page, f"/definitions/{definition}/edit")
    for _ in range(3):
        arguments.get_by_role("button", name="Remove argument 1").click()
    save(page)
    assert stored(client, definition)["toolResults"][0]["arguments"] is None


def test_a_rule_chooses_levels(open_page: Open, client: Client) -> None:
    definition = make(client, {"template": "[delay] [mood]", "dimensions": DIMENSIONS})
    page = open_page(f"/definitions/{definition}/edit")
    rules = unfold(page, "Matching rules")
    rules.get_by_role("button", name="Add a rule").click()
    review(page).get_by_role("button", name="Save").click()
    refused = rules.get_by_text("must be an object of scores by dimension")
    expect(refused).to_be_focused()
    left_out = rules.get_by_role("group", name="Combinations to leave out")
    tab_to(page, left_out.get_by_role("checkbox", name="1: two days"))
    page.keyboard.press("Space")
    for score in (3, 2):
        left_out.get_by_role("group", name="mood").get_by_role("checkbox", name=f"{score}: mood").check()
    expect(refused).to_have_count(0)
    rules.get_by_role("button", name="Add a rule").click()
    second = rules.locator("li").nth(1)
    second.get_by_label("What it does").select_option("keeps only some combinations")
    kept = second.get_by_role("group", name="Combinations to keep of these")
    kept.get_by_role("checkbox", name="1: mood").check()
    applies = second.get_by_role("group", name="Combinations it applies to (optional)")
    applies.get_by_role("checkbox", name="5: long").check()
    save(page)
    rules_before = [{"exclude": {"delay": 1, "mood": [2, 3]}}, {"when": {"delay": 5}, "only": {"mood": 1}}]
    assert stored(client, definition)["matchingRules"] == rules_before
    load(page, f"/definitions/{definition}/edit")
    applies.get_by_role("checkbox", name="5: long").uncheck()
    part(page, "Dimensions").get_by_role("group", name="Dimension 2").get_by_label("Score").first.fill("7")
    gone = kept.get_by_role("checkbox", name="1: no such level")
    expect(gone).to_be_checked()
    review(page).get_by_role("button", name="Save").click()
    expect(kept.get_by_role("group", name="mood")).to_have_accessible_description(
        "must be scores of this dimension: 7, 2, 3"
    )
    expect(gone).to_have_attribute("aria-invalid", "true")
    gone.click()
    expect(gone).to_have_count(0)
    expect(kept).to_be_focused()
    kept.get_by_role("checkbox", name="7: mood").check()
    save(page)
    assert stored(client, definition)["matchingRules"] == [rules_before[0], {"only": {"mood": 7}}]


def test_a_rule_of_too_many_levels_is_edited_as_json(open_page: Open, client: Client) -> None:
    levels = [{"score": score, "label": f"level {score}"} for score in range(101)]
    content = {"template": "[delay]", "dimensions": [{"name": "delay", "levels": levels}]}
    definition = make(client, {**content, "matchingRules": [{"exclude": {"delay": [1, 2]}}]})
    page = open_page(f"/definitions/{definition}/edit")
    field = unfold(page, "Matching rules").get_by_role("textbox", name="Combinations to leave out")
    assert json.loads(field.input_value()) == {"delay": [1, 2]}
    field.fill('{"delay": 100}')
    save(page)
    assert stored(client, definition)["matchingRules"] == [{"exclude": {"delay": 100}}]


def test_a_judge_has_a_range_and_parameters(open_page: Open, client: Client) -> None:
    messages = [{"role": "user", "content": "Rate it"}]
    assertions = [{"type": "score-model", "value": {"messages": messages}}, {"type": "equals", "value": "5"}]
    definition = make(client, {"assertions": assertions})
    page = open_page(f"/definitions/{definition}/edit")
    judged = part(page, "Assertions").get_by_role("group", name="Assertion 1", exact=True)
    least, most = judged.get_by_label("Lowest score"), judged.get_by_label("Highest score")
    least.fill("5")
    expect(most).to_have_accessible_description("Both are needed, or none")
    most.fill("1")
    expect(most).to_have_accessible_description("Greater than the lowest")
    review(page).get_by_role("button", name="Save").click()
    expect(judged.get_by_text("must have a range of two numbers, the lower one first")).to_be_visible()
    most.fill("10")
    judged.locator("summary", has_text="Parameters of the judge").click()
    expect(judged.get_by_label("Top k")).to_have_count(0)
    judged.get_by_label("Maximum output tokens").fill("200")
    judged.get_by_label("Reasoning effort").select_option("low")
    other = part(page, "Assertions").get_by_role("group", name="Assertion 2", exact=True)
    other.get_by_label("Form of value").select_option("number")
    other.get_by_label("Value", exact=True).fill("4.5")
    save(page)
    value = {"messages": messages, "range": [5, 10], "params": {"maxOutputTokens": 200, "reasoningEffort": "low"}}
    expected = [{"type": "score-model", "value": value}, {"type": "equals", "value": 4.5}]
    assert stored(client, definition)["assertions"] == expected
    load(page, f"/definitions/{definition}/edit")
    for field in (least, most, judged.get_by_label("Maximum output tokens")):
        field.fill("")
    judged.get_by_label("Reasoning effort").select_option("not set")
    save(page)
    assert stored(client, definition)["assertions"] == [assertions[0], expected[1]]


def test_a_message_has_files_and_calls(open_page: Open, client: Client) -> None:
    definition = make(client, {"prompts": [{"id": "chat", "messages": MESSAGES}]})
    page = open_page(f"/definitions/{definition}/edit")
    prompts = unfold(page, "Prompts")
    first = prompts.get_by_role("group", name="Message 1", exact=True)
    first.get_by_label("Content", exact=True).select_option("texts, images and PDFs")
    expect(entry(first, 1, "Part").get_by_label("Text", exact=True)).to_have_value("Look")
    first.get_by_label("Content", exact=True).select_option("text")
    expect(first.get_by_label("Text", exact=True)).to_have_value("Look")
    first.get_by_label("Content", exact=True).select_option("texts, images and PDFs")
    image = entry(first, 2, "Part")
    expect(image.get_by_label("Text", exact=True)).to_have_count(0)
    image.get_by_label("The file itself").fill("https://example.com/cat.png")
    review(page).get_by_role("button", name="Save").click()
    address = image.get_by_label("The file itself")
    expect(address).to_be_focused()
    expect(address).to_have_accessible_description(
        "must be a data URL with the file itself: nothing is fetched from addresses"
    )
    address.fill(IMAGE)
    image.get_by_label("Name of the file").fill("dot.png")
    expect(first.get_by_role("button", name="Add a call")).to_have_count(0)
    second = prompts.get_by_role("group", name="Message 2", exact=True)
    second.get_by_role("button", name="Add a call").click()
    expect(second.get_by_label("Id of the call")).to_be_focused()
    page.keyboard.type("c1")
    second.get_by_label("Name of the function").fill("draw")
    second.get_by_label("Arguments, as the model wrote them").fill('{"x": 1}')
    prompts.get_by_role("button", name="Add a message").click()
    third = prompts.get_by_role("group", name="Message 3", exact=True)
    third.get_by_label("Role").select_option("tool")
    third.get_by_label("Text", exact=True).fill("failed")
    third.get_by_label("Id of the call that it answers").fill("c1")
    third.get_by_role("checkbox", name="It says why the call failed").check()
    save(page)
    before = stored(client, definition)
    look, call, failed = before["prompts"][0]["messages"]
    assert (look["content"][0]["type"], look["content"][0]["text"]) == ("text", "Look")
    assert (look["content"][1]["mediaType"], look["content"][1]["name"]) == ("image/png", "dot.png")
    assert call["toolCalls"] == [{"id": "c1", "name": "draw", "arguments": '{"x": 1}'}]
    assert (failed["toolCallId"], failed["isError"]) == ("c1", True)
    load(page, f"/definitions/{definition}/edit")
    unfold_all(page)
    for text in OTHERS:
        expect(page.get_by_text(text)).to_have_count(0)
    entry(first, 1, "Part").get_by_label("Text", exact=True).fill("Look here")
    save(page)
    look["content"][0]["text"] = "Look here"
    assert stored(client, definition) == before


def test_a_scenario_has_messages_by_prompt(open_page: Open, client: Client) -> None:
    prompts = [{"id": "short", "template": "[message]"}, {"id": "long.er", "template": "Please: [message]"}]
    definition = make(client, {"prompts": prompts})
    made = client.post(f"/v1/definitions/{definition}/scenarios", {"items": [{"prompt": "Hello"}]})
    assert made.status == 201, made.text
    [scenario] = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    page = open_page(f"/definitions/{definition}/scenarios/{scenario['id']}")
    page.get_by_text("More fields of a scenario").click()
    group = page.get_by_role("group", name="Messages by prompt")
    group.get_by_role("button", name="Add a prompt").click()
    group.get_by_label("Id of the prompt").fill("long.er")
    message = group.get_by_role("group", name="Message 1", exact=True)
    page.get_by_role("button", name="Save", exact=True).click()
    text = message.get_by_label("Text", exact=True)
    expect(group.get_by_text("must have a content that is not blank")).to_be_visible()
    text.fill("Hello, please")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved in version 2")).to_be_visible()
    [scenario] = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    assert scenario["messagesByPrompt"] == {"long.er": [{"role": "user", "content": "Hello, please"}]}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_fields_are_accessible_and_safe(open_page: Open, client: Client, theme: str) -> None:
    definition = make(client, CONTENT)
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screen(load(page, f"/definitions/{definition}/edit"), "definition-values")
