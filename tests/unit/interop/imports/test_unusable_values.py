"""A known key with a value that cannot be used is refused or reported, like an unknown key: it is never just lost."""

from typing import Any

import pytest

from cupel_core.interop.imports.json_documents import InvalidDocument
from tests.in_one_test import in_one_test
from tests.unit.interop.imports.cases import config_path
from tests.unit.interop.imports.reading import first_assertions, read_suite, skipped

HTTP = {"url": "https://a.example/", "body": {"q": "{{prompt}}"}}


def config(place: str, value: Any) -> dict[str, Any]:
    """A configuration with this value at a place such as `tests.0.options`."""
    made: dict[str, Any] = {
        "prompts": [{"raw": "Say {{q}}", "label": "say"}],
        "providers": [{"id": "openai:gpt-5-mini", "config": {}}, {"id": "http", "config": dict(HTTP)}],
        "tests": [{"vars": {"q": "hi"}, "options": {}, "assert": [{"type": "llm-rubric", "value": "hi"}]}],
        "defaultTest": {"options": {}},
        "evaluateOptions": {},
        "commandLineOptions": {},
        "scenarios": [{"config": [{"vars": {"q": "a"}}], "tests": [{"vars": {"q": "b"}}]}],
    }
    *steps, last = place.split(".")
    target: Any = made
    for step in steps:
        target = target[int(step)] if step.isdigit() else target[step]
    target[last] = value
    return made


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("tests.0.assert", {"type": "contains", "value": "zz"}),
        ("tests.0.assert", "icontains: zz"),
        ("tests.0.assert", 7),
        ("tests.0.assert", False),
        ("defaultTest.assert", {"type": "contains", "value": "zz"}),
        ("scenarios.0.config.0.assert", {"type": "contains"}),
        ("scenarios.0.tests.0.assert", "x"),
        ("scenarios", {}),
        ("scenarios", 3),
        ("scenarios.0.tests", {"vars": {"q": "b"}}),
        ("derivedMetrics", {}),
        ("derivedMetrics", "a + b"),
        ("defaultTest", ["x"]),
    ],
)
def test_what_promptfoo_refuses_is_refused_with_its_place(place: str, value: Any) -> None:
    with pytest.raises(InvalidDocument, match=rf"^{place} must be .*, not "):
        read_suite(config(place, value))


@in_one_test(
    ("place", "value"),
    [
        ("tests.0.threshold", "0.5"),
        ("tests.0.threshold", True),
        ("tests.0.options", ["prefix"]),
        ("tests.0.options", "prefix"),
        ("tests.0.metadata", "x"),
        ("tests.0.metadata", [1]),
        ("tests.0.prompts", "say"),
        ("tests.0.providers", "openai:gpt-5-mini"),
        ("tests.0.options.disableDefaultAsserts", "true"),
        ("tests.0.options.disableVarExpansion", 1),
        ("tests.0.options.storeOutputAs", ["x"]),
        ("tests.0.options.factuality", "x"),
        ("tests.0.assert.0.provider", ["openai:gpt-5"]),
        ("defaultTest.threshold", "1"),
        ("defaultTest.options", "x"),
        ("defaultTest.metadata", ["x"]),
        ("scenarios.0.config.0.options", 1),
        ("scenarios.0.tests.0.metadata", "x"),
        ("evaluateOptions", "repeat"),
        ("evaluateOptions.repeat", "3"),
        ("evaluateOptions.repeat", 0),
        ("evaluateOptions.repeat", 1.5),
        ("commandLineOptions", []),
        ("commandLineOptions.repeat", True),
        ("repeat", "2"),
        ("assertionTemplates", []),
        ("prompts.0.config", "x"),
        ("providers.0.config", "x"),
        ("providers.0.prompts", "say"),
        ("providers.0.config.generationConfig", 5),
        ("providers.0.config.apiBaseUrl", 5),
        ("providers.1.config.headers", ["X-A: b"]),
        ("providers.1.config.queryParams", "a=b"),
        ("providers.1.config.auth", "bearer"),
        ("providers.1.config.useHttps", "yes"),
        ("providers.1.prompts", ["say"]),
    ],
)
def test_a_value_without_effect_is_reported_at_its_place(place: str, value: Any) -> None:
    assert place in [note.where for note in skipped(config(place, value))]


def test_nothing_is_reported_about_usable_values() -> None:
    usable = {"threshold": 0, "metadata": {}, "prompts": ["say"], "options": None, "providers": None}
    made = config("tests", [{"vars": {"q": "hi"}, "assert": None, **usable}])
    assert skipped({**made, "repeat": 2, "providers": ["echo"]}) == []


@pytest.mark.parametrize("name", ["assert_is_a_mapping", "default_assert_is_a_mapping"])
def test_assertions_that_are_no_list_are_refused(name: str) -> None:
    with pytest.raises(InvalidDocument, match=r"assert must be a list, not a mapping"):
        read_suite(config_path(name).read_text())


def test_an_assertion_that_is_a_text_is_reported() -> None:
    assert ("tests.0.assert.0", "contains: zz", "it has no type") in [
        (note.where, note.what, note.why) for note in skipped(config("tests.0.assert", ["contains: zz"]))
    ]


@pytest.mark.parametrize(
    ("metrics", "why"),
    [
        ([{"name": "a", "value": 5}], "its value must be an expression, not 5"),
        ([{"name": "a", "value": "b"}, {"name": "a", "value": "c"}], "a is used twice"),
        ([{"name": "two\nlines", "value": "b"}], "must be text in one line, and not blank"),
        ([{"name": "x" * 201, "value": "b"}], "its name has more than 200 characters"),
        ([{"name": f"m{n}", "value": "b"} for n in range(52)], "a definition has at most 50 of them"),
    ],
)
def test_a_derived_metric_that_no_definition_may_have_is_reported(metrics: list[Any], why: str) -> None:
    assert why in [note.why for note in skipped(config("derivedMetrics", metrics))]


def test_a_key_that_occurs_twice_is_refused_with_its_line() -> None:
    text = config_path("duplicate_keys").read_text()
    with pytest.raises(InvalidDocument, match=r"not valid YAML at line 6: assert: this key occurs twice"):
        read_suite(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"prompts": ["a"], "prompts": ["b"]}',
        "prompts: [a]\n'prompts': [b]",
        "prompts: [a]\ntests:\n- vars: {a: 1, b: {c: 1, c: 2}}",
        "prompts: [a]\ntests: [{vars: {1: x, '1': y}}]",
    ],
)
def test_a_key_that_occurs_twice_is_refused_in_json_and_below(text: str) -> None:
    with pytest.raises(InvalidDocument, match="this key occurs twice"):
        read_suite(text)


def test_merged_keys_may_be_overridden() -> None:
    text = """
prompts: ['{{q}}']
base: &base {value: a, weight: 2}
other: &other {<<: *base, metric: m}
tests:
- {vars: {q: hi}, assert: [{type: contains, <<: *other, value: hi}, {type: contains, <<: [*base, *other]}]}
"""
    expected = {"type": "contains", "value": "hi", "weight": 2, "metric": "m"}
    assert first_assertions(text) == [expected, {**expected, "value": "a"}]
