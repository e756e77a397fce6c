import json
from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import MessageRole
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interop.imports.datasets import read_dataset
from cupel_core.interop.imports.json_documents import InvalidDocument


def sample(kind: DatasetFormat, scorer: DatasetScorer | None = None, **fields: object) -> Scenario:
    return read_dataset(json.dumps(fields), kind, "Samples", scorer).drafts[0].scenarios[0]


def checks(scenario: Scenario) -> list[tuple[str, object]]:
    return [(assertion.type, assertion.value) for assertion in scenario.assertions]


@pytest.mark.parametrize("text", ['[{"input": "Q"}]', '{"input": "Q"}\n'], ids=["json", "jsonl"])
def test_inspect_samples_become_scenarios(text: str) -> None:
    [scenario] = read_dataset(text, DatasetFormat.INSPECT, "Samples").drafts[0].scenarios
    assert scenario.messages[0].content == "Q"


def test_includes_finds_the_target_in_any_case() -> None:
    assert checks(sample(DatasetFormat.INSPECT, input="Q", target=["4", "Four"])) == [("icontains-any", ["4", "Four"])]


@pytest.mark.parametrize(
    ("scorer", "kind", "config"),
    [
        (None, "icontains-any", None),
        (DatasetScorer.MATCH, "match", None),
        (DatasetScorer.EXACT, "exact-match", None),
        (DatasetScorer.NUMERIC, "match", {"numeric": True}),
        (DatasetScorer.FUZZY, "fuzzy-match", None),
    ],
)
@pytest.mark.parametrize("kind_of_file", [DatasetFormat.INSPECT, DatasetFormat.JSONL])
def test_the_scorer_is_that_of_inspect(kind_of_file: DatasetFormat, scorer: Any, kind: str, config: Any) -> None:
    [assertion] = sample(kind_of_file, scorer, input="Q", target=["4.5 (b)", "5"]).assertions
    assert (assertion.kind, assertion.value, assertion.config) == (kind, ["4.5 (b)", "5"], config)


@pytest.mark.parametrize(
    ("scorer", "kind", "value"),
    [
        (None, "starts-with", "4"),
        (DatasetScorer.MATCH, "starts-with", "4"),
        (DatasetScorer.INCLUDES, "contains", "4"),
        (DatasetScorer.EXACT, "equals", "4"),
        (DatasetScorer.FUZZY, "fuzzy-match", ["4"]),
        (DatasetScorer.JSON, "json-match", ["4"]),
        (DatasetScorer.NUMERIC, "match", ["4"]),
    ],
)
def test_the_scorer_of_evals_is_that_of_openai(scorer: Any, kind: str, value: Any) -> None:
    assert checks(sample(DatasetFormat.OPENAI_EVALS, scorer, input="Q", ideal="4")) == [(kind, value)]


def test_a_placeholder_in_a_target_is_plain_text() -> None:
    assert checks(sample(DatasetFormat.INSPECT, input="Q", target="{{x}}")) == [("icontains-any", [r"\{{x}}"])]


def test_a_multiple_choice_question_is_checked_by_letter() -> None:
    scenario = sample(DatasetFormat.INSPECT, input="Q?", choices=["x", "y"], target="B")
    assert scenario.messages[0].content.endswith("Q?\n\nA) x\nB) y")
    assert "LETTER is one of A,B." in scenario.messages[0].content
    assert checks(scenario) == [("choice", {"target": "B", "choices": 2})]


def test_several_right_choices_are_asked_for_as_such() -> None:
    scenario = sample(DatasetFormat.INSPECT, input="Q?", choices=["x", "y", "z"], target=["A", "C"])
    assert "where multiple answers may be correct" in scenario.messages[0].content
    assert "LETTERS is one or more of A,B,C." in scenario.messages[0].content
    assert checks(scenario) == [("choice", {"target": ["A", "C"], "choices": 3})]


def test_choices_after_z_have_numbers() -> None:
    scenario = sample(DatasetFormat.INSPECT, input="Q?", choices=[f"c{number}" for number in range(30)], target="4")
    assert scenario.messages[0].content.endswith("Z) c25\n1) c26\n2) c27\n3) c28\n4) c29")


@pytest.mark.parametrize("target", ["C", "?", "0", ["A", "C"]])
def test_a_target_that_is_no_choice_is_refused(target: object) -> None:
    with pytest.raises(InvalidDocument, match="line 1 has choices, so it must have"):
        sample(DatasetFormat.INSPECT, input="Q?", choices=["x", "y"], target=target)


def test_id_target_and_metadata_are_kept() -> None:
    scenario = sample(DatasetFormat.INSPECT, input="Q", target="4", id=7, metadata={"topic": "sums"})
    assert scenario.name == "7"
    assert scenario.metadata == {"topic": "sums", "id": 7, "target": "4"}


def test_messages_keep_their_roles() -> None:
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "Q"}]}]
    scenario = sample(DatasetFormat.OPENAI_EVALS, input=messages, ideal="4")
    assert [(message.role, message.content) for message in scenario.messages] == [
        (MessageRole.SYSTEM, "S"),
        (MessageRole.USER, "Q"),
    ]


def test_openais_match_compares_the_start_of_the_answer() -> None:
    assert checks(sample(DatasetFormat.OPENAI_EVALS, input="Q", ideal="4")) == [("starts-with", "4")]


def test_one_of_several_ideals_is_enough() -> None:
    [assertion] = sample(DatasetFormat.OPENAI_EVALS, input="Q", ideal=["4", "Four"]).assertions
    assert (assertion.kind, assertion.threshold) == ("assert-set", 0.5)
    assert [(part.kind, part.value) for part in assertion.parts] == [("starts-with", "4"), ("starts-with", "Four")]


def test_a_table_has_an_input_and_a_target() -> None:
    [scenario] = read_dataset("id,input,target,topic\n1,Q,4,sums\n", DatasetFormat.CSV, "Sums").drafts[0].scenarios
    assert (scenario.name, scenario.messages[0].content) == ("1", "Q")
    assert scenario.metadata == {"vars": {"id": "1", "input": "Q", "target": "4", "topic": "sums"}, "target": "4"}
    assert checks(scenario) == [("icontains-any", ["4"])]


def test_json_lines_may_have_messages() -> None:
    scenario = sample(DatasetFormat.JSONL, messages=[{"role": "user", "content": "Q"}], topic="sums")
    assert (scenario.messages[0].content, scenario.metadata) == ("Q", {"vars": {"topic": "sums"}})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (DatasetFormat.INSPECT, "[]"),
        (DatasetFormat.INSPECT, "["),
        (DatasetFormat.INSPECT, '{"target": "4"}'),
        (DatasetFormat.OPENAI_EVALS, '{"input": [{"role": "tool", "content": "x"}]}'),
        (DatasetFormat.OPENAI_EVALS, "3"),
        (DatasetFormat.CSV, "a,b\n1,2\n"),
        (DatasetFormat.CSV, "input,target\nQ\n"),
        (DatasetFormat.JSONL, '{"input": "Q"}\n{"input": "", "target": "4"}'),
        (DatasetFormat.JSONL, '{"input": "Q", "n": 1e999}'),
    ],
)
def test_one_invalid_sample_stops_the_import(kind: DatasetFormat, text: str) -> None:
    with pytest.raises(InvalidDocument):
        read_dataset(text, kind, "Samples")


def report(kind: DatasetFormat, text: str, scorer: DatasetScorer | None = None) -> list[tuple[str, str]]:
    """Where and what was changed or skipped."""
    found = read_dataset(text, kind, "Samples", scorer).report
    return [(note.where, note.what) for note in (*found.changed, *found.skipped)]


@pytest.mark.parametrize("kind", [DatasetFormat.OPENAI_EVALS, DatasetFormat.INSPECT])
def test_the_last_of_system_messages_only_is_sent_as_the_users(kind: DatasetFormat) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "system", "content": "What is 1+1?"}]
    fields = {"input": messages, "ideal": "2", "target": "2"}
    assert [message.role for message in sample(kind, **fields).messages] == [MessageRole.SYSTEM, MessageRole.USER]
    assert report(kind, json.dumps(fields)) == [("line 1", "system message")]


def test_missing_expected_answers_are_reported_once() -> None:
    lines = ['{"input": "Q", "target": "4"}', '{"input": "Q"}', '{"input": "Q"}', '{"input": "Q"}']
    assert report(DatasetFormat.INSPECT, "\n".join(lines)) == [("line 2 and 2 more", "expected answer")]


@pytest.mark.parametrize(("choices", "read"), [("x y, z", ["x y", "z"]), ("x y z", ["x", "y", "z"]), ("x,,", ["x"])])
def test_choices_may_be_a_text(choices: str, read: list[str]) -> None:
    assert sample(DatasetFormat.INSPECT, input="Q?", choices=choices, target="A").metadata["choices"] == read


def test_metadata_may_be_json_as_a_text() -> None:
    found = sample(DatasetFormat.INSPECT, input="Q", target="4", metadata='{"topic": "sums"}')
    assert found.metadata == {"topic": "sums", "target": "4"}


def test_inspect_reads_tables() -> None:
    table = 'input,target,choices\n"[{""role"": ""user"", ""content"": ""Q?""}]",B,"x,y"\n'
    [scenario] = read_dataset(table, DatasetFormat.INSPECT, "Samples").drafts[0].scenarios
    assert scenario.messages[0].content.endswith("Q?\n\nA) x\nB) y")


def test_several_answers_to_an_exported_sample_are_one_scenario() -> None:
    items = [{"item": {"input": "Q", "ideal": "4", "scenario_id": "scn_1", "epoch": n}} for n in (1, 2, 3)]
    text = "\n".join(map(json.dumps, items))
    assert len(read_dataset(text, DatasetFormat.OPENAI_EVALS, "Again").drafts[0].scenarios) == 1
    assert report(DatasetFormat.OPENAI_EVALS, text) == [("line 2 and 1 more", "output")]


EXPORTED = {
    "item": {"ticket": "My screen is black", "label": "Hardware"},
    "data_source_idx": 3,
    "sample": {
        "model": "gpt-4o",
        "input": [{"role": "developer", "content": "Label it."}, {"role": "user", "content": "My screen is black"}],
        "output": [{"role": "assistant", "content": "Hardware"}],
        "error": None,
    },
    "grades": {"label": 1.0},
    "passes": {"label": True},
}


def test_an_item_of_openai_s_dashboard_is_asked_as_its_answer_was() -> None:
    scenario = sample(DatasetFormat.OPENAI_EVALS, **EXPORTED)
    assert [message.content for message in scenario.messages] == ["Label it.", "My screen is black"]
    assert scenario.variables == {"item": EXPORTED["item"]}
    assert scenario.metadata["openai"] == {
        "model": "gpt-4o",
        "output": [{"role": "assistant", "content": "Hardware"}],
        "grades": {"label": 1.0},
        "passes": {"label": True},
        "data_source_idx": 3,
    }


def test_an_item_whose_question_was_not_recorded_is_asked_as_json() -> None:
    scenario = sample(DatasetFormat.OPENAI_EVALS, **{**EXPORTED, "sample": {"output_text": "Hardware"}})
    assert json.loads(scenario.messages[0].content) == EXPORTED["item"]


def test_other_answers_to_a_row_of_the_data_are_imported_once_and_reported() -> None:
    other = {**EXPORTED, "item": {"ticket": "another"}}
    lines = "\n".join(json.dumps(each) for each in (EXPORTED, EXPORTED, other))
    suite = read_dataset(lines, DatasetFormat.OPENAI_EVALS, "Samples")
    assert len(suite.drafts[0].scenarios) == 2
