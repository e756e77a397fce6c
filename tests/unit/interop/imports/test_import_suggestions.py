"""What an import suggests to run is complete, and what its author may have misspelt is noted."""

import pytest

from cupel.imported_suites import required_model_options
from tests.unit.interop.imports.cases import config_path
from tests.unit.interop.imports.reading import last_messages, read_suite, skipped


@pytest.mark.parametrize(
    ("assertions", "fields"),
    [
        ([{"type": "contains", "value": "x"}], []),
        ([{"type": "llm-rubric", "value": "x"}], ["judgeModel"]),
        ([{"type": "llm-rubric", "value": "x", "provider": "openai:gpt-5"}], []),
        ([{"type": "similar", "value": "x"}], ["embeddingModel"]),
        ([{"type": "answer-relevance"}], ["judgeModel", "embeddingModel"]),
        ([{"type": "assert-set", "assert": [{"type": "not-similar", "value": "x"}]}], ["embeddingModel"]),
    ],
)
def test_a_definition_says_which_models_its_run_must_name(assertions: list[object], fields: list[str]) -> None:
    config = {"prompts": ["{{q}}"], "providers": ["echo"], "tests": [{"vars": {"q": "hi"}, "assert": assertions}]}
    [draft] = read_suite(config).drafts
    assert sorted(each.field for each in draft.missing_models) == sorted(fields)


def test_required_models_are_options_of_the_next_command() -> None:
    assert required_model_options(["embeddingModel"]) == ["--embedding-model", "provider/model"]


def test_equal_prompts_are_asked_once() -> None:
    config = {"prompts": ["Say {{q}}", "Sing {{q}}", "Say {{q}}"], "tests": [{"vars": {"q": "hi"}}]}
    suite = read_suite(config)
    assert [each["label"] for each in suite.drafts[0].content["prompts"]] == ["Say {{q}}", "Sing {{q}}"]
    assert "an equal prompt is asked once" in [note.why for note in suite.report.changed]


def test_a_prompt_with_another_label_is_another_prompt() -> None:
    prompts = [{"raw": "Say {{q}}", "label": "a"}, {"raw": "Say {{q}}", "label": "b"}]
    [draft] = read_suite({"prompts": prompts, "tests": [{"vars": {"q": "hi"}}]}).drafts
    assert [each["label"] for each in draft.content["prompts"]] == ["a", "b"]


def unset(prompt: str, **variables: object) -> list[str]:
    report = read_suite({"prompts": [prompt], "tests": [{"vars": {"q": "hi", **variables}}]}).report
    return [note.what for note in report.changed if "no test sets" in note.why]


def test_a_variable_that_no_test_sets_is_noted() -> None:
    report = read_suite(config_path("unset_variable").read_text()).report
    assert ("{{qestion}}", "no test sets this variable, so nothing stands there") in [
        (note.what, note.why) for note in report.changed
    ]


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("{{q}} {{ other }}{{- last -}}", ["{{last}}", "{{other}}"]),
        ("{% for x in list %}{{x}}{% endfor %}{{q}}", []),
        ("{% set y = 1 %}{{y}}{{q}}", []),
        ("{{ other | default('x') }}{% if more %}a{% endif %}{{q}}", []),
        ('[{"role": "user", "content": "{{q}}{{ask}}"}]', ["{{ask}}"]),
        ("{{q}} {{ open", []),
    ],
)
def test_only_variables_that_are_printed_as_they_are_are_noted(prompt: str, names: list[str]) -> None:
    assert unset(prompt) == names


def test_a_variable_of_another_test_is_set() -> None:
    tests = [{"vars": {"q": "hi"}}, {"vars": {"q": "ho", "more": "x"}}]
    report = read_suite({"prompts": ["{{q}}{{more}}"], "tests": tests}).report
    assert not [note for note in report.changed if "no test sets" in note.why]


def test_a_schema_may_refer_to_itself_without_a_note() -> None:
    suite = read_suite(config_path("schema_references").read_text())
    assert [note for note in suite.report.skipped if "reference" in note.why] == []


def test_a_reference_to_nothing_is_noted() -> None:
    schema = {"properties": {"p": {"$ref": "#/$defs/missing"}}, "$defs": {"q": {}}}
    config = {"prompts": ["{{q}}"], "tests": [{"vars": {"q": "1"}, "assert": [{"type": "is-json", "value": schema}]}]}
    assert "#/$defs/missing" in [note.what for note in skipped(config)]
    assert last_messages(config) == ["1"]
