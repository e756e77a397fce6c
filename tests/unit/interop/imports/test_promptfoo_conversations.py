"""Tests that see earlier turns (`_conversation`) or earlier answers (`storeOutputAs`)."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import MessageRole
from cupel_core.domain.definitions.drafts import ImportedSuite
from cupel_core.domain.definitions.scenarios import Scenario
from tests.unit.interop.imports.reading import read_suite

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


def stored(*dependants: dict[str, Any], prompt: Any = "{{question}}", **options: Any) -> ImportedSuite:
    tests = [case("Name a fruit.", options={"storeOutputAs": "fruit", **options}), *dependants]
    return read_suite({"prompts": [prompt], "tests": tests})


def reasons(suite: ImportedSuite) -> list[tuple[str, str]]:
    return [(note.where, note.why) for note in suite.report.skipped]


def test_tests_that_use_a_stored_answer_are_separate_turns() -> None:
    suite = stored(case("What color is a {{fruit}}?"), case("Name a tree."), case("Is {{ fruit }} sweet?"))
    chain, other = suite.drafts[0].scenarios
    assert (said(chain), chain.separate_turns) == (
        ["Name a fruit.", "What color is a [answer 1]?", "Is [answer 1] sweet?"],
        True,
    )
    assert (said(other), other.separate_turns) == (["Name a tree."], False)
    assert suite.drafts[0].content["maxTurns"] == 3
    assert reasons(suite) == []
    assert [(note.where, note.what) for note in suite.report.changed] == [("tests.0", "storeOutputAs")]


def test_an_answer_that_uses_another_one_can_be_stored_too() -> None:
    second = case("Its color, {{fruit}}?", options={"storeOutputAs": "color"})
    [scenario] = stored(second, case("{{fruit}} and {{color}}?")).drafts[0].scenarios
    assert said(scenario) == ["Name a fruit.", "Its color, [answer 1]?", "[answer 1] and [answer 2]?"]


def test_the_latest_answer_that_was_stored_is_used() -> None:
    again = case("Name another one.", options={"storeOutputAs": "fruit"})
    scenarios = stored(again, case("Is {{fruit}} sweet?")).drafts[0].scenarios
    assert list(map(said, scenarios)) == [["Name a fruit."], ["Name another one.", "Is [answer 1] sweet?"]]


def test_answers_may_come_from_several_tests() -> None:
    second = case("Name a tree.", options={"storeOutputAs": "tree"})
    [scenario] = stored(second, case("{{fruit}} or {{tree}}?")).drafts[0].scenarios
    assert said(scenario) == ["Name a fruit.", "Name a tree.", "[answer 1] or [answer 2]?"]


def test_a_prompt_may_use_a_stored_answer() -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{question}} {{fruit}}"}]
    suite = stored(case("Color of"), prompt=chat)
    assert suite.drafts[0].content["system"] == "Be brief."
    assert said(suite.drafts[0].scenarios[0]) == ["Name a fruit. ", "Color of [answer 1]"]


def test_each_assertion_of_a_separate_turn_names_its_turn() -> None:
    uses = case("Color of {{fruit}}?", **{"assert": [{"type": "contains", "value": "green"}]})
    [scenario] = stored(uses).drafts[0].scenarios
    assert [(each.value, each.turn) for each in scenario.assertions] == [("green", 2)]


def test_an_assertion_about_a_stored_answer_is_reported() -> None:
    checks = [{"type": "contains", "value": "a {{fruit}}"}, {"type": "contains", "value": "b"}]
    suite = stored(case("{{fruit}}?", **{"assert": checks}))
    assert [each.value for each in suite.drafts[0].scenarios[0].assertions] == ["b"]
    assert reasons(suite) == [("tests.1", "it compares an answer with another one, which is stored")]


@pytest.mark.parametrize(
    ("options", "dependant", "reason"),
    [
        ({}, case("{{ fruit | upper }}"), "it uses fruit of storeOutputAs in another way than {{fruit}}"),
        ({}, case("{% if fruit %}x{% endif %}"), "it uses fruit of storeOutputAs in another way than {{fruit}}"),
        ({"transform": "output.x"}, case("{{fruit}}"), "it needs fruit, in which storeOutputAs puts another answer"),
    ],
)
def test_what_needs_a_stored_answer_in_another_way_is_left_out(
    options: dict[str, Any], dependant: dict[str, Any], reason: str
) -> None:
    suite = stored(dependant, case("C: fruit"), **options)
    assert [said(scenario) for scenario in suite.drafts[0].scenarios] == [["Name a fruit."], ["C: fruit"]]
    assert ("tests.1", reason) in reasons(suite)


def test_an_answer_of_several_cases_is_not_stored() -> None:
    tests = [
        {"vars": {"question": ["A", "B"]}, "options": {"storeOutputAs": "fruit"}},
        case("Is {{fruit}} sweet?"),
    ]
    suite = read_suite({"prompts": ["{{question}}"], "tests": tests})
    assert list(map(said, suite.drafts[0].scenarios)) == [["A"], ["B"]]
    assert reasons(suite) == [("tests.1", "it needs fruit, in which storeOutputAs puts another answer")]


def test_a_turn_with_other_messages_before_its_question_is_left_out() -> None:
    chat = [{"role": "system", "content": "{{who}}"}, {"role": "user", "content": "{{question}}"}]
    tests = [
        {"vars": {"question": "A", "who": "a cook"}, "options": {"storeOutputAs": "fruit"}},
        {"vars": {"question": "{{fruit}}?", "who": "a poet"}},
    ]
    suite = read_suite({"prompts": [chat], "tests": tests})
    assert list(map(said, suite.drafts[0].scenarios)) == [["A"]]
    assert ["messages before the last one" in why for _, why in reasons(suite)] == [True]


def test_the_earlier_turns_and_a_stored_answer_are_not_combined() -> None:
    suite = stored(case("{{fruit}}?"), prompt=TEXT)
    assert list(map(said, suite.drafts[0].scenarios)) == [["User: Name a fruit."]]
    assert ["the earlier turns" in why for _, why in reasons(suite)] == [True]
