import json
from itertools import pairwise

import pytest

from cupel_core.interop.imports.json_documents import InvalidDocument
from tests.unit.interop.imports.reading import first_assertions, last_messages, read_suite, scenarios, skipped

PROMPT = {"prompts": ["{{x}}{{y}}"]}


def test_lists_make_every_combination_and_the_first_changes_slowest() -> None:
    assert last_messages({**PROMPT, "tests": [{"vars": {"x": ["a", "b"], "y": ["1", "2"]}}]}) == [
        "a1",
        "a2",
        "b1",
        "b2",
    ]


def test_tests_with_one_description_have_names_of_their_own() -> None:
    """A definition file with two scenarios of one name would be refused."""
    tests = [{"description": "greets", "vars": {"x": each, "y": ""}} for each in "abc"]
    named = [each.name for each in scenarios({**PROMPT, "tests": tests})]
    assert named == ["greets", "greets (2)", "greets (3)"]


def test_a_list_of_numbers_is_one_value() -> None:
    assert last_messages({**PROMPT, "tests": [{"vars": {"x": [1, 2]}}]}) == ["1,2"]


def test_expansion_can_be_disabled() -> None:
    test = {"vars": {"x": ["a", "b"]}, "options": {"disableVarExpansion": True}}
    assert last_messages({**PROMPT, "tests": [test]}) == ["a,b"]


def test_a_tests_own_variables_override_the_defaults() -> None:
    config = {**PROMPT, "defaultTest": {"vars": {"x": "a", "y": "1"}}, "tests": [{"vars": {"y": "2"}}]}
    assert last_messages(config) == ["a2"]


def test_default_assertions_come_before_the_tests_own() -> None:
    config = {
        **PROMPT,
        "defaultTest": {"assert": [{"type": "contains", "value": "a"}]},
        "tests": [{"vars": {"x": "a"}, "assert": [{"type": "is-json"}]}],
    }
    assert [each["type"] for each in first_assertions(config)] == ["contains", "is-json"]


def test_default_assertions_can_be_disabled() -> None:
    config = {
        **PROMPT,
        "defaultTest": {"assert": [{"type": "contains", "value": "a"}]},
        "tests": [{"vars": {"x": "a"}, "options": {"disableDefaultAsserts": True}, "assert": [{"type": "is-json"}]}],
    }
    assert [each["type"] for each in first_assertions(config)] == ["is-json"]


def test_scenarios_are_each_configuration_with_each_test() -> None:
    config = {
        "prompts": ["{{x}}{{y}}{{z}}"],
        "defaultTest": {"vars": {"z": "!"}},
        "scenarios": [
            {
                "config": [{"vars": {"x": "a"}}, {"vars": {"x": "b"}, "assert": [{"type": "is-json"}]}],
                "tests": [{"vars": {"y": "1"}}, {"vars": {"y": "2"}, "assert": [{"type": "is-xml"}]}],
            }
        ],
    }
    assert last_messages(config) == ["a1!", "a2!", "b1!", "b2!"]
    assert [assertion.kind for assertion in scenarios(config)[3].assertions] == ["is-json", "is-xml"]


def test_without_tests_the_prompt_is_one_scenario() -> None:
    assert last_messages({"prompts": ["Hello"]}) == ["Hello"]


def test_variables_may_contain_variables() -> None:
    config = {**PROMPT, "tests": [{"vars": {"x": "<{{y}}>", "y": "b\n"}}]}
    assert last_messages(config) == ["<b>b"]


def test_variables_are_read_from_text_files() -> None:
    tests = [{"vars": {"x": "file://v/*.txt"}}, {"vars": {"x": "file://v.yaml"}}]
    files = {"v/1__txt": " one\n", "v/2__txt": "two", "v__yaml": "a: 1"}
    assert last_messages({**PROMPT, "tests": tests}, **files) == ["one", "two", '{"a":1}']


@pytest.mark.parametrize("value", ["file://v.py", "file://v.js", "file://nowhere.txt", "file://../secret.txt"])
def test_a_test_with_an_unreadable_variable_is_skipped(value: str) -> None:
    config = {**PROMPT, "tests": [{"vars": {"x": value}}, {"vars": {"x": "a"}}]}
    assert last_messages(config, v__py="x", v__js="x") == ["a"]
    assert skipped(config, v__py="x", v__js="x")[0].where.startswith("tests.0")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", json.dumps([{"vars": {"x": "a"}}])),
        ("t.jsonl", json.dumps({"vars": {"x": "a"}})),
        ("t.yaml", "- vars: {x: a}"),
        ("t.csv", "x\na\n"),
    ],
)
@pytest.mark.parametrize("shape", [lambda name: f"file://{name}", lambda name: [name], lambda name: [{"path": name}]])
def test_tests_are_read_from_files(name: str, content: str, shape) -> None:
    assert last_messages({**PROMPT, "tests": shape(name)}, **{name.replace(".", "__"): content}) == ["a"]


@pytest.mark.parametrize("tests", ["https://example.org/t.csv", "t.py", "t.xlsx", "nowhere.csv"])
def test_unreadable_tests_are_skipped(tests: str) -> None:
    assert len(skipped({**PROMPT, "tests": [{"vars": {"x": "a"}}, tests]}, t__py="x", t__xlsx="x")) == 1


def test_prefix_and_suffix_go_around_the_prompt() -> None:
    assert last_messages({**PROMPT, "tests": [{"vars": {"x": "a"}, "options": {"prefix": "<", "suffix": ">"}}]}) == [
        "<a>"
    ]


def test_an_empty_prefix_of_a_test_does_not_override_the_default_one() -> None:
    default = {"options": {"prefix": "<", "suffix": ">"}}
    tests = [{"vars": {"x": "a"}, "options": {"prefix": "", "suffix": "]"}}]
    assert last_messages({**PROMPT, "defaultTest": default, "tests": tests}) == ["<a]"]


def test_references_are_replaced_by_their_targets() -> None:
    config = {
        **PROMPT,
        "assertionTemplates": {"t": {"type": "contains", "value": "{{x}}", "weight": 2}},
        "tests": [{"vars": {"x": "a"}, "assert": [{"$ref": "#/assertionTemplates/t", "weight": 3}]}],
    }
    assert first_assertions(config) == [{"type": "contains", "value": "a", "weight": 3}]


def test_an_unresolved_reference_is_reported() -> None:
    config = {**PROMPT, "tests": [{"vars": {"x": "a"}, "assert": [{"$ref": "#/nowhere"}]}]}
    assert skipped(config)[0].what == "#/nowhere"


def test_circular_references_terminate() -> None:
    read_suite({**PROMPT, "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}})


def test_references_that_multiply_are_rejected() -> None:
    doubling = {f"a{n}": [{"$ref": f"#/a{n + 1}"}] * 9 for n in range(12)}
    with pytest.raises(InvalidDocument, match="too large"):
        read_suite({**PROMPT, **doubling, "a12": 1})


def test_too_many_scenarios_are_rejected() -> None:
    with pytest.raises(InvalidDocument, match="100,000"):
        read_suite({**PROMPT, "tests": [{"vars": {name: [str(n) for n in range(200)] for name in ("x", "y", "z")}}]})


def test_outputs_of_a_test_are_reported() -> None:
    config = {**PROMPT, "tests": [{"vars": {"x": "a"}, "providerOutput": "b"}]}
    assert {note.what for note in skipped(config)} == {"providerOutput"}


def test_the_source_of_a_scenario_is_in_its_metadata() -> None:
    config = {**PROMPT, "tests": [{"description": "One", "vars": {"x": "a"}, "metadata": {"team": "red"}}]}
    [scenario] = scenarios(config)
    assert scenario.name == "One"
    assert scenario.metadata["vars"] == {"x": "a"}
    assert scenario.metadata["team"] == "red"


@pytest.mark.parametrize("value", [2**70, json.loads("[" * 25 + "]" * 25)], ids=["large", "deep"])
def test_values_that_cannot_be_stored_are_skipped(value: object) -> None:
    config = {**PROMPT, "tests": [{"vars": {"x": "a"}, "assert": [{"type": "equals", "value": value}]}]}
    assert last_messages(config) == []


def test_a_blank_prompt_makes_no_definition() -> None:
    assert [
        draft.name for draft in read_suite({"prompts": [" {{x}}", "\n"], "tests": [{"vars": {"x": "a"}}]}).drafts
    ] == ["{{x}}"]


def test_repeats_are_suggested_for_the_run() -> None:
    assert read_suite({**PROMPT, "evaluateOptions": {"repeat": 3}, "tests": [{"vars": {"x": "a"}}]}).repeats == 3


def test_yaml_is_read_as_in_javascript() -> None:
    text = "prompts: ['{{a}} {{b}} {{c}} {{d}}']\ntests:\n- vars: {a: yes, b: 010, c: 2026-01-01, d: 12:30}\n"
    assert last_messages(text) == ["yes 10 2026-01-01 12:30"]


@pytest.mark.parametrize(
    "text",
    [
        "- 1",
        "a: [",
        '{"a": "\\ud800"}',
        "a: !!python/object/apply:os.system ['true']",
        "[" * 5_000,
        "x: " + "- " * 5_000,
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{c}: &{c} [{','.join([f'*{b}'] * 9)}]\n" for b, c in pairwise("abcdefgh")),
    ],
)
def test_text_that_is_not_a_configuration_is_rejected(text: str) -> None:
    with pytest.raises(InvalidDocument):
        read_suite(text)


def test_derived_metrics_of_arithmetic_are_imported() -> None:
    metrics = [{"name": "f1", "value": "2 * p * r / (p + r)"}, {"name": "x", "value": "file://m.js"}, {"name": "y"}]
    suite = read_suite({"prompts": ["a"], "derivedMetrics": metrics})
    assert suite.drafts[0].content["derivedMetrics"] == [metrics[0]]
    assert [(note.where, note.what) for note in suite.report.skipped] == [
        ("derivedMetrics.1", "x"),
        ("derivedMetrics.2", "{'name': 'y'}"),
    ]


def test_a_null_variable_in_another_is_written_as_javascript_does() -> None:
    tests = [{"vars": {"x": "see {{y}}", "y": None}}]
    assert last_messages({"prompts": ["{{x}}"], "tests": tests}) == ["see null"]


def test_templates_know_the_environment_variables_of_the_configuration() -> None:
    config = {
        "env": {"PRODUCT": "Cupel", "LIMIT": 3},
        "prompts": ["{{env.PRODUCT}} {{x}} {{ env['LIMIT'] }}"],
        "tests": [{"vars": {"x": "for {{env.PRODUCT}}"}, "assert": [{"type": "contains", "value": "{{env.PRODUCT}}"}]}],
    }
    assert last_messages(config) == ["Cupel for Cupel 3"]
    assert first_assertions(config) == [{"type": "contains", "value": "Cupel"}]
    assert scenarios(config)[0].metadata["vars"] == {"x": "for {{env.PRODUCT}}"}


@pytest.mark.parametrize("environment", [{}, {"PRODUCT": "{{env.OTHER}}"}])
def test_other_environment_variables_are_reported(environment: dict[str, str]) -> None:
    config = {"env": environment, "prompts": ["{{env.PRODUCT}} {{x}}"], "tests": [{"vars": {"x": "a"}}]}
    assert "environment variables" in str(read_suite(config).report.skipped)


def test_an_empty_list_is_one_value() -> None:
    config = {**PROMPT, "tests": [{"vars": {"x": [], "y": ["1", "2"]}}]}
    assert last_messages(config) == ["1", "2"]
    assert [scenario.metadata["vars"]["x"] for scenario in scenarios(config)] == [[], []]
