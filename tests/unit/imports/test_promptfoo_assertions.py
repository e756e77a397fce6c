import pytest

from tests.unit.imports.reading import asserted, left, scenarios, suite


def test_of(*assertions: object, **test: object) -> dict[str, object]:
    return {"prompts": ["{{x}}"], "tests": [{"vars": {"x": "blue"}, "assert": list(assertions), **test}]}


test_of.__test__ = False  # type: ignore[attr-defined]


def test_values_metrics_and_lists_are_rendered() -> None:
    written = {"type": "contains-any", "value": ["{{x}}", "b"], "metric": "m-{{x}}", "threshold": 0.5, "weight": 2}
    assert asserted(test_of(written)) == [
        {"type": "contains-any", "value": ["blue", "b"], "metric": "m-blue", "threshold": 0.5, "weight": 2}
    ]


def test_a_value_may_come_out_of_a_file() -> None:
    config = test_of({"type": "is-json", "value": "file://s.json"}, {"type": "equals", "value": "file://t.txt"})
    found = asserted(config, s__json='{"type": "object"}', t__txt=" text \n")
    assert [each["value"] for each in found] == [{"type": "object"}, "text"]


def test_the_threshold_of_a_test_is_a_set_around_its_assertions() -> None:
    [whole] = asserted(test_of({"type": "contains", "value": "a"}, {"type": "is-json"}, threshold=0.5))
    assert (whole["type"], whole["threshold"], len(whole["assert"])) == ("assert-set", 0.5, 2)


def test_a_set_keeps_its_parts() -> None:
    [kept] = asserted(
        test_of({"type": "assert-set", "threshold": 0.5, "assert": [{"type": "not-equals", "value": "{{x}}"}]})
    )
    assert kept["assert"] == [{"type": "not-equals", "value": "blue"}]


@pytest.mark.parametrize("kind", ["javascript", "python", "ruby", "not-javascript"])
def test_code_is_kept_in_the_metadata_and_reported(kind: str) -> None:
    written = {"type": kind, "value": "output.length"}
    [scenario] = scenarios(test_of(written))
    assert scenario.assertions == ()
    assert scenario.metadata["promptfoo"]["unsupported"][0]["assertion"] == written  # type: ignore[index]
    [note] = left(test_of(written))
    assert (note.where, note.what) == ("tests.0.assert.0", kind)


@pytest.mark.parametrize(
    "written",
    [
        {"type": "context-recall", "value": "x"},
        {"type": "contains", "value": "x", "transform": "output.trim()"},
        {"type": "equals", "value": "file://x.js"},
        {"type": "equals", "value": "{{ x === 1 }}"},
        {"type": "regex", "value": "("},
        {"type": "levenshtein", "value": "x", "threshold": -1},
        {"value": "x"},
    ],
)
def test_what_cannot_be_checked_is_left(written: dict[str, object]) -> None:
    assert asserted(test_of(written)) == []
    assert [note.where for note in left(test_of(written))] == ["tests.0.assert.0"]


def test_an_answer_that_code_would_change_first_is_not_judged() -> None:
    config = test_of(
        {"type": "contains", "value": "x"}, {"type": "latency", "threshold": 9}, options={"transform": "x"}
    )
    assert [each["type"] for each in asserted(config)] == ["latency"]
    assert {note.where for note in left(config)} == {"tests.0.options.transform", "tests.0.assert.0"}


def test_the_model_that_grades_is_cupels() -> None:
    config = test_of({"type": "llm-rubric", "value": "kind"}, options={"provider": "openai:chat:gpt-5-mini"})
    assert asserted(config)[0]["provider"] == "openai/gpt-5-mini"


def test_one_that_is_not_known_is_the_runs() -> None:
    found = suite(test_of({"type": "llm-rubric", "value": "kind", "provider": "file://judge.py"}))
    assert "provider" not in found.drafts[0].scenarios[0].assertions[0].to_json()
    assert [note.where for note in found.report.changes] == ["tests.0.assert.0.provider"]


def test_a_schema_in_yaml_becomes_json() -> None:
    [kept] = asserted(test_of({"type": "is-json", "value": "type: object\nrequired: [a]\n"}))
    assert kept["value"] == {"type": "object", "required": ["a"]}


def test_what_looks_like_a_variable_in_the_end_is_text() -> None:
    [kept] = asserted(test_of({"type": "contains", "value": "{% raw %}{{x}}{% endraw %} {{x}}"}))
    assert kept["value"] == r"\{{x}} blue"
