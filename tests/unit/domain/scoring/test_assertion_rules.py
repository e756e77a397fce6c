"""Which assertions are accepted, and what is said about those that are not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS, MAX_ASSERTIONS, AssertionIssue, assertion_issues
from cupel_core.domain.scoring.assertion_values import (
    escape_variables,
    has_variables,
    parse_list,
    render_variables,
    to_text,
)
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.json_schema import schema_errors
from tests.in_one_test import in_one_test

GOOD: list[dict[str, Any]] = [
    {"type": "equals", "value": 4},
    {"type": "not-contains", "value": "sorry", "weight": 0, "metric": "manners", "tag": "RUDE"},
    {"type": "contains-any", "value": 'yes, "no, never"'},
    {"type": "icontains-all", "value": ["a", 2]},
    {"type": "starts-with", "value": "Dear {{name}}"},
    {"type": "regex", "value": r"^(?<year>\d{4})-\d\d$"},
    {"type": "regex", "value": r"(?<=a+)b"},
    {"type": "is-json"},
    {"type": "contains-json", "value": '{"type": "object", "required": ["a"]}'},
    {"type": "is-xml", "value": ["root.item"]},
    {"type": "levenshtein", "value": "", "threshold": 3},
    {"type": "word-count", "value": {"min": 1, "max": 3}},
    {"type": "word-count", "value": "12"},
    {"type": "bleu", "value": ["one", "two"], "threshold": 0.3},
    {"type": "cost", "threshold": 0.01},
    {"type": "similar", "value": "hello", "provider": "openai/text-embedding-3-small"},
    {"type": "llm-rubric", "value": "is kind"},
    {"type": "webhook", "value": "https://checks.example/one"},
    {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "equals", "value": "a"}]},
    {"type": "select-best", "value": "the shortest"},
    {"type": "max-score"},
    {"type": "max-score", "value": {"method": "sum", "weights": {"contains": 2, "bleu": -0.5}, "threshold": 3}},
    {"type": "contains", "value": "yes", "turn": 2},
    {"type": "llm-rubric", "value": "is kind", "config": {"rubricPrompt": "Grade {{output}}"}},
    {"type": "llm-rubric", "config": {"rubricPrompt": "Is it kind? {{output}}"}},
]


@in_one_test("assertion", GOOD, ids=lambda assertion: str(assertion["type"]))
def test_a_valid_assertion_has_no_issues(assertion: dict[str, Any]) -> None:
    assert assertion_issues([assertion]) == ()


@in_one_test("assertion", GOOD, ids=lambda assertion: str(assertion["type"]))
def test_an_assertion_survives_json(assertion: dict[str, Any]) -> None:
    read = Assertion.from_json(assertion)
    assert Assertion.from_json(read.to_json()) == read


@in_one_test(
    ("assertion", "field", "words"),
    [
        ("contains: a", "0", "must be an object"),
        ({"value": "a"}, "0.type", "must be the name"),
        ({"type": "contain", "value": "a"}, "0.type", "did you mean contains?"),
        ({"type": "not-equal", "value": "a"}, "0.type", "did you mean equals?"),
        ({"type": "javascript", "value": "true"}, "0.type", "javascript is code"),
        ({"type": "not-python", "value": "True"}, "0.type", "not-python is code"),
        ({"type": "not-assert-set", "assert": []}, "0.type", "cannot be negated"),
        ({"type": "contains", "value": "a", "turn": 0}, "0.turn", "a whole number from 1 to 100"),
        ({"type": "contains", "value": "a", "turn": True}, "0.turn", "a whole number from 1 to 100"),
        ({"type": "cost", "threshold": 1, "turn": 1}, "0.turn", "about the whole conversation"),
        ({"type": "cost", "threshold": 1, "transform": "output"}, "0.transform", "not check the text"),
        ({"type": "contains", "value": "a", "transform": "f()"}, "0.transform", "code that is not run here"),
        ({"type": "contains", "value": "a", "transform": ["output", "output"]}, "0.transform", "must be an expression"),
        (
            {"type": "llm-rubric", "value": "a", "config": {"rubricPrompt": "Grade it"}},
            "0.config.rubricPrompt",
            "must contain {{output}}",
        ),
        (
            {"type": "llm-rubric", "value": "a", "config": {"rubricPrompt": [{"role": "tool", "content": "x"}]}},
            "0.config.rubricPrompt",
            "a list of messages",
        ),
        ({"type": "not-select-best", "value": "short"}, "0.type", "cannot be negated"),
        ({"type": "not-max-score"}, "0.type", "cannot be negated"),
        ({"type": "max-score", "value": "the best"}, "0.value", "an object with method, weights and threshold"),
        ({"type": "max-score", "value": {"weight": 2}}, "0.value", "an object with method, weights and threshold"),
        ({"type": "max-score", "value": {"method": "max"}}, "0.value", "average or sum"),
        ({"type": "max-score", "value": {"method": []}}, "0.value", "average or sum"),
        ({"type": "max-score", "value": {"weights": {"contains": "2"}}}, "0.value", "numbers by assertion type"),
        ({"type": "max-score", "value": {"weights": [1]}}, "0.value", "numbers by assertion type"),
        ({"type": "max-score", "value": {"threshold": "0.5"}}, "0.value", "a threshold that is a number"),
        ({"type": "max-score", "turn": 1}, "0.turn", "the whole conversation"),
        ({"type": "assert-set", "assert": [{"type": "max-score"}]}, "0.assert", "compares models"),
        ({"type": "equals"}, "0.value", "is required"),
        ({"type": "contains", "value": ""}, "0.value", "must be a non-empty string or a number"),
        ({"type": "contains", "value": True}, "0.value", "must be a non-empty string or a number"),
        ({"type": "contains-any", "value": [{}]}, "0.value", "list of strings"),
        ({"type": "contains-any", "value": []}, "0.value", "at least one"),
        ({"type": "contains-all", "value": 'a, "b'}, "0.value", "unclosed quote"),
        ({"type": "contains-all", "value": '"a" b'}, "0.value", "without a comma"),
        ({"type": "regex", "value": "("}, "0.value", "is not a regular expression"),
        ({"type": "regex", "value": "(a+)+$"}, "0.value", "must not repeat"),
        ({"type": "regex", "value": "a" * 1001}, "0.value", "at most 1000"),
        ({"type": "is-json", "value": "{"}, "0.value", "must be a JSON Schema"),
        ({"type": "is-json", "value": {"type": "text"}}, "0.value", "the schema: type must be one of"),
        ({"type": "word-count", "value": {"min": 3, "max": 1}}, "0.value", "at most its max"),
        ({"type": "word-count", "value": {}}, "0.value", "min, max or both"),
        ({"type": "word-count", "value": "few"}, "0.value", "must be a number"),
        ({"type": "bleu", "value": []}, "0.value", "list of strings"),
        ({"type": "bleu", "value": "a", "threshold": 2}, "0.threshold", "from 0 to 1"),
        ({"type": "latency"}, "0.threshold", "is required"),
        ({"type": "latency", "threshold": -1}, "0.threshold", "at least 0"),
        ({"type": "equals", "value": 1, "weight": "2"}, "0.weight", "must be a number"),
        ({"type": "equals", "value": 1, "weight": float("nan")}, "0.weight", "must be a number"),
        ({"type": "equals", "value": 1, "metric": " "}, "0.metric", "must be a string"),
        ({"type": "equals", "value": 1, "config": []}, "0.config", "must be an object"),
        ({"type": "equals", "value": 1, "treshold": 1}, "0.treshold", "is not a known field (did you mean threshold?)"),
        ({"type": "equals", "value": 1, "assert": []}, "0.assert", "only allowed in an assert-set"),
        ({"type": "llm-rubric"}, "0.value", "must be a rubric"),
        ({"type": "llm-rubric", "value": "kind", "provider": "gpt-5"}, "0.provider", "provider/name"),
        ({"type": "webhook", "value": "ftp://a"}, "0.value", "must be a URL"),
        ({"type": "webhook", "value": "https://a", "config": {"headers": {"a": "b"}}}, "0.config.headers", "secrets"),
        ({"type": "assert-set", "assert": []}, "0.assert", "must be a list"),
        ({"type": "assert-set"}, "0.assert", "is required, and must be a list"),
        ({"value": "Paris"}, "0.type", "is required, and must be the name"),
        ({"type": None, "value": "Paris"}, "0.type", "is required, and must be the name"),
        ({"type": "", "value": "Paris"}, "0.type", "must be the name"),
        ({"type": "icontains"}, "0.value", "is required, and must be a non-empty string or a number"),
        ({"type": "trajectory:tool-used"}, "0.value", "is required, and must be the name of a function"),
        ({"type": "string-check"}, "0.value", "is required, and must be an object with these fields: input, "),
        ({"type": "string-check", "value": {"input": "a"}}, "0.value", "must have reference and operation; its fields"),
        ({"type": "label-model", "value": {"labels": ["a"]}}, "0.value", "must have messages and passingLabels; its"),
        ({"type": "assert-set", "assert": [{"type": "equals"}]}, "0.assert.0.value", "is required"),
        ({"type": "assert-set", "assert": [{"type": "select-best", "value": "a"}]}, "0.assert", "compares models"),
    ],
)
def test_an_issue_names_the_field_and_what_is_wrong(assertion: Any, field: str, words: str) -> None:
    issues = assertion_issues([assertion])
    assert [issue.field for issue in issues] == [f"assertions.{field}"]
    assert words in issues[0].message


def test_assertions_are_a_list() -> None:
    assert assertion_issues({}, "content.assertions") == (AssertionIssue("content.assertions", "must be a list"),)


def test_sets_are_three_deep_at_most() -> None:
    innermost: dict[str, Any] = {"type": "assert-set", "assert": [{"type": "equals", "value": 1}]}
    three = {"type": "assert-set", "assert": [{"type": "assert-set", "assert": [innermost]}]}
    assert assertion_issues([three]) == ()
    assert (
        assertion_issues([{"type": "assert-set", "assert": [three]}])[0].field
        == "assertions.0.assert.0.assert.0.assert"
    )


def test_parts_of_sets_count() -> None:
    parts = [{"type": "equals", "value": 1}] * MAX_ASSERTIONS
    assert assertion_issues(parts) == ()
    assert len(assertion_issues([{"type": "assert-set", "assert": parts}])) == 1


def test_a_value_with_variables_is_not_validated_yet() -> None:
    assert assertion_issues([{"type": "regex", "value": "({{word}}"}]) == ()


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_any_value_is_accepted_or_has_an_issue(value: Any) -> None:
    for kind in ASSERTION_KINDS:
        issues = assertion_issues([{"type": kind, "value": value, "threshold": 1}])
        assert all(issue.field.startswith("assertions.0.") for issue in issues)


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("a,b", ("a", "b")),
        (" a b ,, c ", ("a b", "c")),
        ('"a, b", c', ("a, b", "c")),
        (r'"say \"hi\"", "it ""is"""', ('say "hi"', 'it "is"')),
        ('a "b", c', ('a "b"', "c")),
        (["x, y", 1, 2.5], ("x, y", "1", "2.5")),
    ],
)
def test_texts_are_listed_as_promptfoo_lists_them(cell: Any, texts: tuple[str, ...]) -> None:
    assert parse_list(cell) == texts


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (1, "1"), (2.0, "2"), (2.5, "2.5"), (True, "true"), ([1], "[1]")]
)
def test_a_value_is_written_as_javascript_writes_it(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_variables_are_filled_in() -> None:
    variables = {"name": "Ada", "order": {"id": 7}, "a.b": "dotted"}
    assert render_variables("{{ name }} has {{order.id}}, {{a.b}}", variables) == "Ada has 7, dotted"
    assert render_variables(["{{name}}", 3], variables) == ["Ada", 3]


@pytest.mark.parametrize("name", ["Expected Output", "2nd", "Größe (cm)", "答案", "Right?", "q1 - answer", "x" * 100])
def test_a_variable_may_have_the_name_of_any_column(name: str) -> None:
    assert render_variables(f"<{{{{ {name} }}}}>", {name: "five"}) == "<five>"


@pytest.mark.parametrize(
    "text", ["{{ x | upper }}", "{{#if x}}", "{{'x'}}", "{{}}", "{{ }}", "{{x\ny}}", "{{" + "x" * 101 + "}}"]
)
def test_templates_of_other_languages_are_no_variables(text: str) -> None:
    assert render_variables(text, {}) == text


@pytest.mark.parametrize("inner", ["answer|upper", "'a'", " ", "-1", "a\nb", "x" * 101])
def test_braces_without_a_variable_in_them_are_refused(inner: str) -> None:
    for value in (f"It is {{{{{inner}}}}}", ["{{name}}", f"{{{{{inner}}}}}"]):
        [issue] = assertion_issues([{"type": "contains-any", "value": value}])
        assert issue.field == "assertions.0.value"
        assert "which is no variable: write {{name}}" in issue.message
    prompt = f"{{{{output}}}} {{{{{inner}}}}}"
    [issue] = assertion_issues([{"type": "llm-rubric", "value": "a", "config": {"rubricPrompt": prompt}}])
    assert (issue.field, "is no variable" in issue.message) == ("assertions.0.config.rubricPrompt", True)


@pytest.mark.parametrize(
    "text", ["{{a|b}}", "{{ 'x' }}", "a {{name}} {{}} }}{{", r"\{{a|b}}", '{"a": {"b": {}}}', "{{{a}}}"]
)
def test_an_escaped_text_is_accepted_and_rendered_as_it_is(text: str) -> None:
    escaped = escape_variables(text)
    assert assertion_issues([{"type": "contains", "value": escaped}]) == ()
    assert render_variables(escaped, {"a": 1, "name": 2}) == text


def test_code_may_have_any_braces() -> None:
    code = {"type": "python", "value": "f\"{{'a': 1}}\" == output"}
    assert assertion_issues([code], allow_code=True) == ()
    assert render_variables(code["value"], {}) == code["value"]


def test_an_escaped_variable_is_left_in_place() -> None:
    assert render_variables(r"\{{name}}", {}) == "{{name}}"


def test_an_unknown_variable_is_named() -> None:
    with pytest.raises(ValueError, match="unknown variable nobody"):
        render_variables("{{nobody}}", {"name": "Ada"})


@pytest.mark.parametrize("value", ["a{2}", "{{}}", 3, {"a": "{{name}}"}])
def test_other_values_have_no_variables(value: Any) -> None:
    assert not has_variables(value)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ([], "the schema: must be an object"),
        ({"required": "a"}, "the schema: required must be a list of names"),
        ({"properties": {"a": {"type": 1}}}, "properties.a: type must be one of"),
        ({"items": {"pattern": "("}}, "items: pattern is not a regular expression"),
        ({"$ref": "https://elsewhere.example/schema"}, "the schema: $ref must be a reference within"),
        ({"anyOf": []}, "the schema: anyOf must be a list of schemas"),
        ({"patternProperties": {"(a+)+": {}}}, "the schema: patternProperties has a pattern that must not repeat"),
        ({"minLength": 1.5}, "the schema: minLength must be an integer"),
        ({"$defs": {"a": {"allOf": [{"enum": 1}]}}}, "$defs.a.allOf.0: enum must be a list"),
    ],
)
def test_an_invalid_schema_is_refused(schema: Any, words: str) -> None:
    assert next(schema_errors(schema)).startswith(words)


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"$defs": {"node": {"type": ["object", "null"], "properties": {"next": {"$ref": "#/$defs/node"}}}}}
    assert list(schema_errors({**tree, "$ref": "#/$defs/node", "additionalProperties": False})) == []
