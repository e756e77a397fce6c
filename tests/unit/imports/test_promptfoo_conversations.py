"""Tests that see earlier turns (`_conversation`) or earlier answers (`storeOutputAs`)."""

from typing import Any

import pytest

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.turns.model_request import MessageRole
from tests.unit.imports.reading import read_suite

HISTORY = """[
  {"role": "system", "content": "Be brief."},
  {% for turn in _conversation %}
  {"role": "user", "content": "{{ turn.input }}"},
  {"role": "assistant", "content": "{{ turn.output }}"},
  {% endfor %}
  {"role": "user", "content": "{{ question }}"}
]"""
TEXT = "{% for turn in _conversation %}User: {{ turn.input }} You: {{ turn.output }}\n{% endfor %}User: {{ question }}"


def case(question: str, *, conversation: str | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"metadata": {"conversationId": conversation}} if conversation else {}
    return {"vars": {"question": question}, **metadata, **fields}


def said(scenario: Scenario) -> list[str]:
    """All user messages."""
    opening = [message.content for message in scenario.messages if message.role is MessageRole.USER]
    return [*opening, *scenario.follow_ups]


def test_tests_with_the_earlier_turns_are_one_conversation() -> None:
    tests = [case("Who wrote Emma?"), case("When?"), case("Where?")]
    suite = read_suite({"prompts": ["file://p.json"], "tests": tests}, p__json=HISTORY)
    [draft] = suite.drafts
    assert draft.content == {"system": "Be brief.", "maxTurns": 3}
    assert [said(scenario) for scenario in draft.scenarios] == [["Who wrote Emma?", "When?", "Where?"]]
    assert [(note.where, note.why) for note in suite.report.changed] == [
        ("tests.0", "3 tests become the turns of one conversation")
    ]


def test_the_earlier_prompt_of_a_chat_is_its_messages() -> None:
    history = HISTORY.replace("{{ turn.input }}", "{{ turn.prompt[turn.prompt.length - 1].content }}")
    suite = read_suite({"prompts": ["file://p.json"], "tests": [case("A?"), case("B?")]}, p__json=history)
    assert said(suite.drafts[0].scenarios[0]) == ["A?", "B?"]
    assert [note.why for note in suite.report.changed] == ["2 tests become the turns of one conversation"]


def test_a_history_that_is_written_in_another_way_is_reported() -> None:
    history = HISTORY.replace("{{ turn.input }}", "{{ turn.metadata.question }}")
    suite = read_suite({"prompts": ["file://p.json"], "tests": [case("A?"), case("B?")]}, p__json=history)
    assert said(suite.drafts[0].scenarios[0]) == ["A?", "B?"]
    assert "of this prompt, only the last message is sent" in list(suite.report.changed)[-1].why


def test_a_history_in_the_prompts_text_is_sent_as_messages_and_reported() -> None:
    suite = read_suite({"prompts": [TEXT], "tests": [case("A?"), case("B?")]})
    assert said(suite.drafts[0].scenarios[0]) == ["User: A?", "User: B?"]
    assert "of this prompt, only the last message is sent" in list(suite.report.changed)[-1].why


def test_conversations_are_told_apart_by_their_id() -> None:
    tests = [case("A1", conversation="a"), case("B1", conversation="b"), case("A2", conversation="a"), case("C")]
    [draft] = read_suite({"prompts": [TEXT], "tests": tests}).drafts
    assert list(map(said, draft.scenarios)) == [["User: A1", "User: A2"], ["User: B1"], ["User: C"]]
    assert draft.content["maxTurns"] == 2


def test_a_scenarios_tests_are_a_conversation_of_their_own() -> None:
    one = {"config": [{"vars": {"question": "A"}}], "tests": [{}, case("B")]}
    [draft] = read_suite({"prompts": [TEXT], "scenarios": [one, one]}).drafts
    assert list(map(said, draft.scenarios)) == [["User: A", "User: B"]] * 2


def test_each_assertion_names_its_turn() -> None:
    tests = [
        case("A", **{"assert": [{"type": "contains", "value": "{{question}}"}]}),
        case("B", threshold=0.5, **{"assert": [{"type": "contains", "value": "{{question}}"}]}),
    ]
    [scenario] = read_suite({"prompts": [TEXT], "tests": tests}).drafts[0].scenarios
    first, second = scenario.assertions
    assert (first.value, first.turn) == ("A", 1)
    assert (second.kind, second.turn, second.parts[0].value, second.parts[0].turn) == ("assert-set", None, "B", 2)


def test_what_is_measured_once_per_conversation_is_reported() -> None:
    tests = [case("A", **{"assert": [{"type": "latency", "threshold": 5}]}), case("B")]
    suite = read_suite({"prompts": [TEXT], "tests": tests})
    assert suite.drafts[0].scenarios[0].assertions == ()
    assert [(note.where, note.what) for note in suite.report.skipped] == [("tests.0", "latency")]


def test_more_turns_than_a_conversation_has_are_reported() -> None:
    suite = read_suite({"prompts": [TEXT], "tests": [case(f"Q{number}") for number in range(102)]})
    assert len(suite.drafts[0].scenarios[0].follow_ups) == 99
    assert [note.where for note in suite.report.skipped] == ["tests.100", "tests.101"]


def test_without_the_variable_each_test_is_a_scenario() -> None:
    tests = [case("A", options={"disableConversationVar": True}), case("B", options={"disableConversationVar": True})]
    assert list(map(said, read_suite({"prompts": [TEXT], "tests": tests}).drafts[0].scenarios)) == [
        ["User: A"],
        ["User: B"],
    ]


def test_a_prompt_that_ends_with_an_answer_is_no_turn() -> None:
    earlier = {"role": "user", "content": "Earlier: {{ _conversation }}"}
    prompt = [earlier, {"role": "assistant", "content": "{{question}}"}]
    suite = read_suite({"prompts": ["Say {{question}}", prompt], "tests": [case("A")]})
    assert len(suite.drafts) == 1
    assert "does not end with a user message" in next(iter(suite.report.skipped)).why


@pytest.mark.parametrize(
    "dependant",
    [
        {"vars": {"question": "Do you like {{fruit}}?"}},
        {"vars": {"question": "x"}, "assert": [{"type": "contains", "value": "{{ fruit | upper }}"}]},
        {"vars": {"question": "{% if fruit %}x{% endif %}"}},
    ],
)
def test_what_needs_a_stored_answer_is_left_out(dependant: dict[str, Any]) -> None:
    tests = [case("A", options={"storeOutputAs": "fruit"}), dependant, case("C: fruit")]
    suite = read_suite({"prompts": ["{{question}}"], "tests": tests})
    assert [said(scenario) for scenario in suite.drafts[0].scenarios] == [["A"], ["C: fruit"]]
    assert ("tests.1", "it needs fruit, in which storeOutputAs puts another answer") in [
        (note.where, note.why) for note in suite.report.skipped
    ]


def test_a_prompt_that_needs_a_stored_answer_is_left_out_after_it_is_stored() -> None:
    tests = [case("A", options={"storeOutputAs": "fruit"}), case("B")]
    suite = read_suite({"prompts": ["{{question}} {{fruit}}"], "tests": tests})
    assert [said(scenario) for scenario in suite.drafts[0].scenarios] == [["A "]]
