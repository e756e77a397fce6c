"""Targets, their parameters, and prompts as an axis of the plan."""

from typing import Any

import pytest

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.model_parameters import ModelParameters, merge_parameters
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.prompts import MissingValue, Prompt, opening_messages, prompt_errors, prompt_ids
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.plan import Column, Plan, ProbePosition
from cupel_core.domain.runs.targets import Target, plain_targets

LABELLED = Target("a/x", "creative", {"temperature": 1.5}, max_attempts=2, call_timeout_seconds=30.0)
ASKED = Scenario(
    "scn_1",
    "one",
    (Message(MessageRole.USER, "Where is it?"),),
    dimensions={"risk": 5.0},
    metadata={"vars": {"city": "Bonn", "people": 2}},
)


def test_a_target_is_stored_without_what_it_does_not_have() -> None:
    assert encode(Target("a/x")) == {"model": "a/x"}


@pytest.mark.parametrize("target", [Target("a/x"), LABELLED])
def test_a_stored_target_is_read_as_it_was(target: Target) -> None:
    assert decode(Target, encode(target)) == target


def test_a_target_is_called_by_its_label() -> None:
    assert (LABELLED.id, Target("connector/con_1").id) == ("creative", "connector/con_1")
    assert (LABELLED.connector_id, Target("connector/con_1").connector_id) == (None, "con_1")


def test_null_removes_a_default_and_later_layers_take_precedence() -> None:
    merged = merge_parameters({"temperature": 0.0, "seed": 1}, {"temperature": 1.0}, {"seed": None, "topP": 0.5})
    assert merged == {"temperature": 1.0, "topP": 0.5}


def test_parameters_are_read_from_the_contracts_names() -> None:
    parameters = decode(
        ModelParameters,
        {"topP": 0.5, "stop": ["END"], "toolChoice": {"name": "f"}, "tools": [{"name": "f"}], "reasoningEffort": "low"},
    )
    assert (parameters.top_p, parameters.stop, parameters.tools[0].name) == (0.5, ("END",), "f")
    assert parameters.names == {"topP", "stop", "toolChoice", "tools", "reasoningEffort"}


class TestColumns:
    PLAN = Plan(plain_targets("a/x", "b/y"), (2, 1), repeats=2, prompt_ids=("p", "q"))

    def test_a_column_is_a_target_with_a_prompt(self) -> None:
        assert [column.name for column in self.PLAN.columns] == ["a/x · p", "a/x · q", "b/y · p", "b/y · q"]

    def test_every_index_has_one_position(self) -> None:
        positions = [self.PLAN.probe(index) for index in range(self.PLAN.total)]
        assert [self.PLAN.index(position) for position in positions] == list(range(24))
        assert len(set(positions)) == 24

    def test_the_probes_of_a_target_are_adjacent_in_a_segment(self) -> None:
        assert self.PLAN.ranges(self.PLAN.columns_of("b/y")) == (
            range(8, 12),
            range(12, 16),
            range(20, 22),
            range(22, 24),
        )

    def test_one_prompt_has_the_indexes_of_no_prompt(self) -> None:
        without, one = Plan(plain_targets("a/x", "b/y"), (3,), 2), Plan(plain_targets("a/x", "b/y"), (3,), 2, ("p",))
        assert [without.probe(index) for index in range(12)] == [one.probe(index) for index in range(12)]

    @pytest.mark.parametrize(
        ("target", "prompt", "expected"),
        [(None, None, (0, 1, 2, 3)), ("b/y", None, (2, 3)), (None, "q", (1, 3)), ("a/x", "q", (1,)), ("c/z", None, ())],
    )
    def test_columns_are_found_by_target_and_prompt(
        self, target: str | None, prompt: str | None, expected: tuple[int, ...]
    ) -> None:
        assert self.PLAN.columns_of(target, prompt) == expected

    def test_the_targets_of_a_model_are_found_by_the_model_and_by_their_labels(self) -> None:
        plan = Plan((LABELLED, Target("a/x", "sober")), (1,))
        assert (plan.columns_of("a/x"), plan.columns_of("sober")) == ((0, 1), (1,))

    def test_a_case_is_answered_once_per_column_and_repeat(self) -> None:
        assert [self.PLAN.probe(index) for index in self.PLAN.case_indexes(2)] == [
            ProbePosition(2, column, repeat) for column in range(4) for repeat in range(2)
        ]

    def test_simulated_answers_of_a_plain_target_are_those_of_earlier_releases(self) -> None:
        assert Column(Target("sim/steady")).variant == ""
        assert Column(LABELLED, "p").variant == "creative\np"


def opening(system: str | None = "Be brief.", scenario: Scenario = ASKED, **prompt: Any) -> list[str]:
    messages = opening_messages(system, scenario, {"risk": "high"}, Prompt.from_json({"id": "p", **prompt}))
    return [f"{message.role}: {message.content}" for message in messages]


class TestPrompts:
    def test_a_template_takes_variables_labels_and_the_scenarios_message(self) -> None:
        texts = opening(template="[City], [people] people, [risk] risk: [message]")
        assert texts == ["system: Be brief.", "user: Bonn, 2 people, high risk: Where is it?"]

    def test_a_system_prompt_of_its_own_replaces_the_definitions(self) -> None:
        assert opening(system="Old.") == ["system: Old.", "user: Where is it?"]
        prompt = Prompt("p", system="You know [city].")
        messages = opening_messages("Old.", ASKED, {}, prompt)
        assert messages[0] == Message(MessageRole.SYSTEM, "You know Bonn.")

    def test_messages_rendered_elsewhere_are_sent_as_they_are(self) -> None:
        rendered = (Message(MessageRole.USER, "[not a placeholder]"),)
        scenario = Scenario("scn_1", "one", (), messages_by_prompt={"p": rendered})
        assert opening(None, scenario) == ["user: [not a placeholder]"]

    def test_a_missing_value_is_named(self) -> None:
        with pytest.raises(MissingValue, match=r"the prompt p needs a value for \[country\]"):
            opening(template="[country]?")

    def test_a_prompt_is_read_as_it_was_written(self) -> None:
        written = {"id": "p", "label": "Terse", "template": "[city]?", "params": {"topP": 0.5}}
        assert Prompt.from_json(written).to_json() == written

    def test_ids_are_unique_and_texts_are_not_empty(self) -> None:
        prompts = (Prompt("p"), Prompt("p", messages=(Message(MessageRole.USER, " "),)))
        assert [field for field, _ in prompt_errors(prompts)] == ["prompts.1.id", "prompts.1"]


def test_ids_of_prompts_are_made_of_their_names_and_distinct() -> None:
    names = ["What is it?", "a", "a", "a-3", "…", "x" * 50]
    assert list(prompt_ids(names, {"a"})) == ["What-is-it", "a-2", "a-3", "a-3-4", "prompt-5", "x" * 40]
