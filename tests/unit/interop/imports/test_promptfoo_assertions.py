import json
from typing import Any

import pytest

from cupel_core.interop.imports.files import InMemoryFiles
from cupel_core.interop.imports.promptfoo import read_config
from tests.unit.interop.imports.reading import first_assertions, read_suite, scenarios, skipped


def test_of(*assertions: object, **test: object) -> dict[str, object]:
    return {"prompts": ["{{x}}"], "tests": [{"vars": {"x": "blue"}, "assert": list(assertions), **test}]}


test_of.__test__ = False  # type: ignore[attr-defined]


def test_values_metrics_and_lists_are_rendered() -> None:
    entry = {"type": "contains-any", "value": ["{{x}}", "b"], "metric": "m-{{x}}", "threshold": 0.5, "weight": 2}
    assert first_assertions(test_of(entry)) == [
        {"type": "contains-any", "value": ["blue", "b"], "metric": "m-blue", "threshold": 0.5, "weight": 2}
    ]


def test_a_value_may_be_read_from_a_file() -> None:
    config = test_of({"type": "is-json", "value": "file://s.json"}, {"type": "equals", "value": "file://t.txt"})
    found = first_assertions(config, s__json='{"type": "object"}', t__txt=" text \n")
    assert [each["value"] for each in found] == [{"type": "object"}, "text"]


def test_the_threshold_of_a_test_becomes_a_set_around_its_assertions() -> None:
    [assert_set] = first_assertions(test_of({"type": "contains", "value": "a"}, {"type": "is-json"}, threshold=0.5))
    assert (assert_set["type"], assert_set["threshold"], len(assert_set["assert"])) == ("assert-set", 0.5, 2)


def test_a_set_keeps_its_parts() -> None:
    [assertion] = first_assertions(
        test_of({"type": "assert-set", "threshold": 0.5, "assert": [{"type": "not-equals", "value": "{{x}}"}]})
    )
    assert assertion["assert"] == [{"type": "not-equals", "value": "blue"}]


@pytest.mark.parametrize("inner", [True, 3, "contains", {"type": "is-json"}])
def test_a_set_whose_parts_are_no_list_is_skipped(inner: object) -> None:
    [report] = skipped(test_of({"type": "assert-set", "assert": inner}))
    assert "its `assert` is not a list" in str(report)


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "is-valid-openai-tools-call"},
        {"type": "not-is-valid-openai-function-call"},
        {"type": "is-valid-function-call"},
        {"type": "tool-call-f1", "value": ["find", "pay"], "threshold": 0.8},
        {"type": "not-trajectory:tool-used", "value": {"name": "pay", "max": 2}},
        {"type": "trajectory:tool-args-match", "value": {"name": "find", "args": {"city": "blue"}, "mode": "exact"}},
        {"type": "trajectory:tool-sequence", "value": {"steps": ["find", {"pattern": "p*"}]}},
        {"type": "trajectory:step-count", "value": {"type": "tool", "max": 3}},
    ],
)
def test_checks_of_calls_are_taken(entry: dict[str, Any]) -> None:
    assert first_assertions(test_of(entry)) == [entry]
    assert not skipped(test_of(entry))


def test_a_transform_of_the_options_is_not_that_of_a_trajectory() -> None:
    config = test_of({"type": "trajectory:tool-used", "value": "find"}, options={"transform": "output.trim()"})
    assert "transform" not in first_assertions(config)[0]


def test_steps_that_are_not_recorded_are_reported() -> None:
    [note] = skipped(test_of({"type": "trajectory:step-count", "value": {"type": "span", "max": 3}}))
    assert "no other steps are recorded" in note.why


@pytest.mark.parametrize("kind", ["javascript", "python", "ruby", "not-javascript"])
def test_code_is_stored_in_the_metadata_and_reported(kind: str) -> None:
    entry = {"type": kind, "value": "output.length"}
    [scenario] = scenarios(test_of(entry))
    assert scenario.assertions == ()
    assert scenario.metadata["promptfoo"]["unsupported"][0]["assertion"] == entry  # type: ignore[index]
    [note] = skipped(test_of(entry))
    assert (note.where, note.what) == ("tests.0.assert.0", kind)


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "context-recall", "value": "x"},
        {"type": "contains", "value": "x", "transform": "output.map(f)"},
        {"type": "equals", "value": "file://x.js"},
        {"type": "equals", "value": "{{ x === 1 }}"},
        {"type": "regex", "value": "("},
        {"type": "levenshtein", "value": "x", "threshold": -1},
        {"value": "x"},
    ],
)
def test_an_assertion_that_cannot_be_checked_is_skipped(entry: dict[str, object]) -> None:
    assert first_assertions(test_of(entry)) == []
    assert [note.where for note in skipped(test_of(entry))] == ["tests.0.assert.0"]


def test_assertions_behind_a_transform_are_skipped() -> None:
    config = test_of(
        {"type": "contains", "value": "x"}, {"type": "latency", "threshold": 9}, options={"transform": "x"}
    )
    assert [each["type"] for each in first_assertions(config)] == ["latency"]
    assert {note.where for note in skipped(config)} == {"tests.0.options.transform", "tests.0.assert.0"}


def test_the_grader_becomes_a_cupel_model() -> None:
    config = test_of({"type": "llm-rubric", "value": "kind"}, options={"provider": "openai:chat:gpt-5-mini"})
    assert first_assertions(config)[0]["provider"] == "openai/gpt-5-mini"


def test_parameters_of_a_grader_are_reported_if_they_would_matter() -> None:
    def notes(**config: object) -> list[tuple[str, str]]:
        grader = {"id": "openai:gpt-5-mini", "config": config}
        changed = read_suite(test_of({"type": "llm-rubric", "value": "x", "provider": grader})).report.changed
        return [(note.where, note.what) for note in changed]

    assert notes(temperature=0) == []
    assert notes(temperature=1, max_tokens=9) == [("tests.0.assert.0.provider.config", "max_tokens, temperature")]


def test_the_address_of_a_grader_is_that_of_a_server_of_ones_own() -> None:
    grader = {"id": "openai:llama", "config": {"apiBaseUrl": "http://gpu.test:8000/v1"}}
    config = test_of({"type": "llm-rubric", "value": "x", "provider": grader})
    assert first_assertions(config)[0]["provider"] == "custom-gpu-test-8000/llama"
    assert "--base-url http://gpu.test:8000/v1" in list(read_suite(config).report.changed)[-1].why


def test_an_unknown_grader_is_replaced_by_the_runs_judge() -> None:
    found = read_suite(test_of({"type": "llm-rubric", "value": "kind", "provider": "file://judge.py"}))
    assert "provider" not in found.drafts[0].scenarios[0].assertions[0].to_json()
    assert [note.where for note in found.report.changed] == ["tests.0.assert.0.provider"]


def test_a_schema_in_yaml_becomes_json() -> None:
    [assertion] = first_assertions(test_of({"type": "is-json", "value": "type: object\nrequired: [a]\n"}))
    assert assertion["value"] == {"type": "object", "required": ["a"]}


def test_a_placeholder_that_remains_after_rendering_is_plain_text() -> None:
    [assertion] = first_assertions(test_of({"type": "contains", "value": "{% raw %}{{x}}{% endraw %} {{x}}"}))
    assert assertion["value"] == r"\{{x}} blue"


CODE = {"prompts": ["{{x}}"], "tests": [{"vars": {"x": "blue"}, "assert": []}]}


def code_assertions(test: dict[str, Any], code_folder: str | None = "../") -> list[dict[str, Any]]:
    suite = read_config(
        json.dumps({**CODE, "tests": [{"vars": {"x": "blue"}, **test}]}), InMemoryFiles({}), code_folder
    )
    return [assertion.to_json() for assertion in suite.drafts[0].scenarios[0].assertions]


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("output == '{{x}}'", "output == 'blue'"),
        ("file://a/check.py:short", "file://../a/check.py:short"),
        ("'{{ '{{' }}y}}'", r"'\{{y}}'"),
    ],
)
def test_code_is_imported_for_those_who_run_it(value: str, becomes: str) -> None:
    written = {"type": "not-python", "value": value, "config": {"a": 1}, "threshold": 0.5}
    assert code_assertions({"assert": [written]}) == [{**written, "value": becomes}]


def test_a_scoring_function_becomes_that_of_a_set() -> None:
    test = {"assertScoringFunction": "file://s.py", "threshold": 0.5, "assert": [{"type": "is-json"}]}
    assert code_assertions(test) == [
        {
            "type": "assert-set",
            "threshold": 0.5,
            "config": {"scoringFunction": "file://../s.py"},
            "assert": [{"type": "is-json"}],
        }
    ]


def test_a_scoring_function_is_left_out_where_code_is_not_run() -> None:
    test = {"assertScoringFunction": "file://s.py", "threshold": 0.5, "assert": [{"type": "is-json"}]}
    assert code_assertions(test, None) == [{"type": "assert-set", "threshold": 0.5, "assert": [{"type": "is-json"}]}]
    notes = read_suite({**CODE, "tests": [{"vars": {"x": "blue"}, **test}]}).report.skipped
    assert [note.where for note in notes] == ["tests.0.assertScoringFunction"]


def test_code_outside_the_folder_is_left_out() -> None:
    assert code_assertions({"assert": [{"type": "python", "value": "file://../../check.py"}]}) == []


def test_transforms_of_options_and_assertions_are_combined() -> None:
    entries = [{"type": "equals", "value": "a", "transform": "output.trim()"}, {"type": "is-json"}]
    config = test_of(*entries, options={"transform": "JSON.parse(output).text"})
    assert [data["transform"] for data in first_assertions(config)] == [
        "JSON.parse(output).text.trim()",
        "JSON.parse(output).text",
    ]
    notes = read_suite(config).report.changed
    assert [note.what for note in notes] == ["transform"]


def test_code_that_makes_a_value_is_run_where_code_is_run() -> None:
    test = {"assert": [{"type": "equals", "value": "file://expected.js:upper"}]}
    assert code_assertions(test) == [{"type": "equals", "config": {"valueFunction": "file://../expected.js:upper"}}]
    assert code_assertions(test, None) == []


def test_transforms_of_code_are_applied_one_after_another() -> None:
    entry = {"type": "equals", "value": "a", "transform": "output.map(f)"}
    test = {"options": {"transform": "file://lib/parse.py:items"}, "assert": [entry]}
    assert [data["transform"] for data in code_assertions(test)] == [["file://../lib/parse.py:items", "output.map(f)"]]


def test_a_transform_of_code_is_reported_with_the_assertions_behind_it() -> None:
    config = test_of({"type": "is-json"}, {"type": "cost", "threshold": 1}, options={"transform": "file://t.js"})
    assert first_assertions(config) == [{"type": "cost", "threshold": 1}]
    assert [note.what for note in skipped(config)] == ["transform", "is-json"]


CHAT_PROMPT = '[{"role": "system", "content": "Grade by {{rubric}}."}, {"role": "user", "content": "{{ output }}"}]'


def test_a_rubric_prompt_of_plain_variables_is_the_judges() -> None:
    entries = [
        {"type": "llm-rubric", "value": "a", "rubricPrompt": "Own: {{output}}"},
        {"type": "llm-rubric", "value": "b"},
    ]
    config = test_of(*entries, options={"rubricPrompt": CHAT_PROMPT})
    assert [data["config"]["rubricPrompt"] for data in first_assertions(config)] == [
        "Own: {{output}}",
        json.loads(CHAT_PROMPT),
    ]


@pytest.mark.parametrize("value", [{}, {"value": ""}])
def test_a_rubric_prompt_may_be_all_of_the_rubric(value: dict[str, str]) -> None:
    config = test_of({"type": "llm-rubric", **value}, options={"rubricPrompt": "Is it kind? {{output}}"})
    assert [data["config"] for data in first_assertions(config)] == [{"rubricPrompt": "Is it kind? {{output}}"}]


@pytest.mark.parametrize("prompt", ["{{ output | upper }}", "{% if rubric %}{{output}}{% endif %}", "no output", 3])
def test_another_rubric_prompt_is_reported(prompt: object) -> None:
    config = test_of({"type": "llm-rubric", "value": "a", "rubricPrompt": prompt})
    assert first_assertions(config) == [{"type": "llm-rubric", "value": "a"}]
    assert [note.what for note in read_suite(config).report.changed] == ["rubricPrompt"]


def test_a_rubric_prompt_of_another_type_is_reported() -> None:
    config = test_of(
        {"type": "factuality", "value": "a", "rubricPrompt": "x {{output}}"}, options={"factuality": {"agree": 1}}
    )
    assert first_assertions(config)[0]["config"] == {"agree": 1}
    assert [note.where for note in read_suite(config).report.changed] == ["tests.0.assert.0.rubricPrompt"]


@pytest.mark.parametrize("parts", [True, "is-json", {"type": "is-json"}])
def test_a_set_whose_parts_are_no_list_is_reported(parts: object) -> None:
    config = test_of({"type": "assert-set", "assert": parts})
    assert [note.where for note in skipped(config)] == ["tests.0.assert.0"]


def test_a_comparison_is_beside_the_set_of_a_threshold() -> None:
    config = test_of({"type": "max-score"}, {"type": "contains", "value": "a"}, threshold=0.5)
    assert first_assertions(config) == [
        {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": "a"}]},
        {"type": "max-score"},
    ]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"method": "sum", "threshold": 1}, {"method": "sum", "threshold": 1}),
        (
            {"weights": {"not-model-graded-factuality": 2, "similar:cosine": 3, "bleu": 4}},
            {"weights": {"not-factuality": 2, "similar": 3, "bleu": 4}},
        ),
    ],
)
def test_the_weights_of_a_comparison_have_the_names_of_types(value: object, read: object) -> None:
    assert first_assertions(test_of({"type": "max-score", "value": value})) == [{"type": "max-score", "value": read}]


@pytest.mark.parametrize(
    ("entries", "read", "why"),
    [
        ([{"type": "max-score", "value": "the best"}], ["max-score"], "it is not an object"),
        ([{"type": "max-score"}, {"type": "max-score", "value": {"method": "sum"}}], ["max-score"], "first comparison"),
        (
            [{"type": "assert-set", "assert": [{"type": "select-best", "value": "a"}, {"type": "is-json"}]}],
            ["assert-set"],
            "compares nothing in a set",
        ),
    ],
)
def test_what_has_no_effect_in_a_comparison_is_reported(entries: list[object], read: list[str], why: str) -> None:
    found = read_suite(test_of(*entries))
    assertions = found.drafts[0].scenarios[0].assertions
    assert [assertion.type for assertion in assertions] == read
    assert all(assertion.value is None for assertion in assertions)
    assert [note for note in found.report.changed if why in note.why]
    assert not list(found.report.skipped)


def test_a_comparison_whose_test_is_in_several_definitions_is_reported() -> None:
    providers = [{"id": "openai:a", "transform": "output.trim()"}, "openai:b"]
    config = {**test_of({"type": "contains", "value": "a"}, {"type": "max-score"}), "providers": providers}
    notes = [note.why for note in read_suite(config).report.changed if note.what == "max-score"]
    assert notes == ["compares the answers of each definition by itself, and its test is in 2 definitions"]
    alone = read_suite({**config, "providers": ["openai:a", "openai:b"]})
    assert not [note for note in alone.report.changed if note.what == "max-score"]


def written_test(config: dict[str, object]) -> object:
    """What code of assertions is given of the imported test."""
    found = read_config(json.dumps(config), InMemoryFiles({}), "")
    source = found.drafts[0].scenarios[0].metadata["promptfoo"]
    assert isinstance(source, dict)
    return source.get("test")


def test_code_that_may_read_its_test_is_given_it_as_written() -> None:
    written = {"type": "javascript", "value": "context.test.options.limit > 2"}
    other = {"type": "contains", "value": "{{x}}"}
    config = {**test_of(written, threshold=0.5, options={"limit": 3}), "defaultTest": {"assert": [other]}}
    assert written_test(config) == {"threshold": 0.5, "options": {"limit": 3}, "assert": [other, written]}


@pytest.mark.parametrize(
    ("entry", "is_given"),
    [
        ({"type": "javascript", "value": "output.length > 2"}, False),
        ({"type": "contains", "value": "a test"}, False),
        ({"type": "python", "value": "file://check.py:short"}, True),
        ({"type": "equals", "value": "file://expected.js"}, True),
        ({"type": "assert-set", "assert": [{"type": "python", "value": "len(context['test'])"}]}, True),
    ],
)
def test_only_code_that_may_read_its_test_is_given_it(entry: dict[str, object], is_given: bool) -> None:
    assert (written_test(test_of(entry)) is not None) is is_given


def test_a_test_that_is_nested_too_deeply_for_metadata_is_not_given() -> None:
    value: object = "a"
    for _ in range(17):
        value = [value]
    config = test_of({"type": "python", "value": "context['test']"}, options={"deep": value})
    assert written_test(config) is None


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"type": "contains", "value": "{{ empty }}"}, "{{ empty }}"),
        ({"type": "not-regex", "value": "{{empty}}"}, "{{empty}}"),
        ({"type": "equals", "value": "{{empty}}"}, ""),
        ({"type": "levenshtein", "value": "{{empty}}"}, ""),
    ],
)
def test_an_empty_variable_is_an_error_when_it_is_compared_if_a_type_needs_a_text(
    entry: dict[str, object], value: str
) -> None:
    config = {"prompts": ["{{x}}"], "tests": [{"vars": {"x": "a", "empty": ""}, "assert": [entry]}]}
    assert [each["value"] for each in first_assertions(config)] == [value]


@pytest.mark.parametrize("value", ["", "{{unset}}", "{{x.y}}"])
def test_any_other_empty_text_is_left_out_if_a_type_needs_one(value: str) -> None:
    [note] = skipped(test_of({"type": "contains", "value": value}))
    assert "must be a non-empty string" in note.why


def test_a_set_without_weight_is_reported() -> None:
    config = test_of({"type": "assert-set", "weight": 0, "assert": [{"type": "is-json"}]})
    assert [note.why for note in read_suite(config).report.changed] == ["without weight, it decides nothing"]
