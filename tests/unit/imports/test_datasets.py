import json
import re

import pytest

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.turns.model_request import Role
from cupel_core.imports.datasets import Format, Scorer, read
from cupel_core.imports.json_documents import Unreadable


def sample(kind: Format, scorer: Scorer | None = None, **fields: object) -> Scenario:
    return read(json.dumps(fields), kind, "Samples", scorer).drafts[0].scenarios[0]


def checks(scenario: Scenario) -> list[tuple[str, object]]:
    return [(assertion.type, assertion.value) for assertion in scenario.assertions]


@pytest.mark.parametrize("text", ['[{"input": "Q"}]', '{"input": "Q"}\n'], ids=["json", "jsonl"])
def test_inspects_samples_are_scenarios(text: str) -> None:
    [scenario] = read(text, Format.INSPECT, "Samples").drafts[0].scenarios
    assert scenario.messages[0].content == "Q"


def test_the_target_is_in_the_answer_in_any_case() -> None:
    assert checks(sample(Format.INSPECT, input="Q", target=["4", "Four"])) == [("icontains-any", ["4", "Four"])]


@pytest.mark.parametrize(("answer", "right"), [("It is 4.5 (b)!", True), ("4.5 (B)", True), ("4.5 (b) or 5", False)])
def test_match_looks_at_the_end(answer: str, right: bool) -> None:
    [(kind, pattern)] = checks(sample(Format.INSPECT, Scorer.MATCH, input="Q", target="4.5 (b)"))
    assert kind == "regex"
    assert bool(re.search(str(pattern), answer)) is right


def test_what_looks_like_a_variable_is_text() -> None:
    assert checks(sample(Format.INSPECT, input="Q", target="{{x}}")) == [("icontains-any", [r"\{{x}}"])]


def test_a_multiple_choice_is_asked_and_checked_by_letter() -> None:
    scenario = sample(Format.INSPECT, input="Q?", choices=["x", "y"], target="B")
    assert scenario.messages[0].content.endswith("Q?\n\nA) x\nB) y")
    [(_, pattern)] = checks(scenario)
    assert re.search(str(pattern), "ANSWER: B")
    assert not re.search(str(pattern), "ANSWER: BA")


def test_id_target_and_metadata_are_kept() -> None:
    scenario = sample(Format.INSPECT, input="Q", target="4", id=7, metadata={"topic": "sums"})
    assert scenario.name == "7"
    assert scenario.metadata == {"topic": "sums", "id": 7, "target": "4"}


def test_messages_keep_their_roles() -> None:
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "Q"}]}]
    scenario = sample(Format.OPENAI_EVALS, input=messages, ideal="4")
    assert [(message.role, message.content) for message in scenario.messages] == [(Role.SYSTEM, "S"), (Role.USER, "Q")]


def test_openais_match_looks_at_the_start() -> None:
    assert checks(sample(Format.OPENAI_EVALS, input="Q", ideal="4")) == [("starts-with", "4")]


def test_one_of_several_ideals_is_enough() -> None:
    [assertion] = sample(Format.OPENAI_EVALS, input="Q", ideal=["4", "Four"]).assertions
    assert (assertion.kind, assertion.threshold) == ("assert-set", 0.5)
    assert [(part.kind, part.value) for part in assertion.parts] == [("starts-with", "4"), ("starts-with", "Four")]


def test_a_table_has_an_input_and_a_target() -> None:
    [scenario] = read("id,input,target,topic\n1,Q,4,sums\n", Format.CSV, "Sums").drafts[0].scenarios
    assert (scenario.name, scenario.messages[0].content) == ("1", "Q")
    assert scenario.metadata == {"target": "4", "topic": "sums"}
    assert checks(scenario) == [("icontains-any", ["4"])]


def test_json_lines_may_have_messages() -> None:
    scenario = sample(Format.JSONL, messages=[{"role": "user", "content": "Q"}], topic="sums")
    assert (scenario.messages[0].content, scenario.metadata) == ("Q", {"topic": "sums"})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Format.INSPECT, "[]"),
        (Format.INSPECT, "["),
        (Format.INSPECT, '{"target": "4"}'),
        (Format.OPENAI_EVALS, '{"input": [{"role": "tool", "content": "x"}]}'),
        (Format.OPENAI_EVALS, "3"),
        (Format.CSV, "a,b\n1,2\n"),
        (Format.CSV, "input,target\nQ\n"),
        (Format.JSONL, '{"input": "Q"}\n{"input": ""}'),
        (Format.JSONL, '{"input": "Q", "n": 1e999}'),
    ],
)
def test_one_sample_that_is_wrong_stops_the_import(kind: Format, text: str) -> None:
    with pytest.raises(Unreadable):
        read(text, kind, "Samples")
