"""The rules of a definition's content."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.definitions.definitions import (
    Content,
    DecisionMethod,
    Dimension,
    Level,
    content_errors,
    content_warnings,
    merge_overrides,
)
from cupel_core.domain.text.patterns import decision_pattern_error
from cupel_core.domain.text.templates import escape_placeholders, placeholder_names, render

RISK = {"name": "Risk level", "levels": [{"score": 1, "label": "low", "options": ["hardly any risk"]}]}


def content(**fields: Any) -> Content:
    return Content.from_json(fields)


def fields_of(checked: Content) -> list[str]:
    return [issue.field for issue in content_errors(checked)]


def test_a_full_content_survives_json() -> None:
    full = Content(
        system="You advise.",
        template="There is [risk].",
        dimensions=(Dimension("risk", (Level(1, "low", "not much", ("little", "hardly any")), Level(2.5, "high"))),),
        matching_rules=({"exclude": {"risk": 1}},),
        follow_ups=("Are you sure?",),
        max_turns=2,
        decision=DecisionMethod(r"(\d)", "Judge it.", "sim/steady"),
    )
    assert Content.from_json(full.to_json()) == full


def test_unset_fields_are_omitted_from_the_json() -> None:
    assert Content(template="hello").to_json() == {"template": "hello"}


def test_a_good_content_has_neither_errors_nor_warnings() -> None:
    good = content(template="There is [risk level].", dimensions=[RISK], decision={"pattern": "(x)"})
    assert (content_errors(good), content_warnings(good)) == ((), ())


def test_an_empty_content_is_refused() -> None:
    assert fields_of(content()) == [""]


def test_a_content_without_template_may_go_with_explicit_scenarios() -> None:
    assert fields_of(content(decision={"pattern": "(x)"})) == []


def test_a_blank_template_is_refused() -> None:
    assert fields_of(content(template=" \n")) == ["template"]


def test_a_placeholder_without_dimension_is_an_error_that_names_it() -> None:
    errors = content_errors(content(template="[risk level] and [benefit]", dimensions=[RISK]))
    assert [error.field for error in errors] == ["template"]
    assert "[benefit]" in errors[0].message


def test_a_dimension_without_placeholder_is_only_a_warning() -> None:
    checked = content(template="no placeholder", dimensions=[RISK])
    assert fields_of(checked) == []
    assert [warning.field for warning in content_warnings(checked)] == ["dimensions.0"]


@pytest.mark.parametrize("spelling", ["Risk level", "risk_level", "RISK-LEVEL", "risk  level"])
def test_a_placeholder_may_spell_its_dimension_differently(spelling: str) -> None:
    assert fields_of(content(template=f"[{spelling}]", dimensions=[RISK])) == []


def test_two_dimensions_of_one_name_are_refused() -> None:
    assert fields_of(content(template="x", dimensions=[RISK, {**RISK, "name": "risk_LEVEL"}])) == ["dimensions.1.name"]


def test_two_levels_of_one_score_are_refused() -> None:
    levels = [{"score": 1, "label": "low"}, {"score": 1.0, "label": "high"}]
    assert fields_of(content(template="[r]", dimensions=[{"name": "r", "levels": levels}])) == [
        "dimensions.0.levels.1.score"
    ]


def test_a_dimension_needs_levels() -> None:
    assert fields_of(content(template="[r]", dimensions=[{"name": "r", "levels": []}])) == ["dimensions.0.levels"]


def test_a_level_needs_a_label_or_options() -> None:
    levels = [{"score": 1, "label": "low", "options": ["fine", " "]}]
    assert fields_of(content(template="[r]", dimensions=[{"name": "r", "levels": levels}])) == ["dimensions.0.levels.0"]


@pytest.mark.parametrize("pattern", ["(", r"\d", "(a+)+", "(?:(x)*)*", "((a|b)*c){2,}", "(.{1,50}){50}", "(a)" * 400])
def test_a_bad_decision_pattern_is_refused(pattern: str) -> None:
    assert fields_of(content(template="x", decision={"pattern": pattern})) == ["decision.pattern"]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?im)^\s*rating:\s*([1-5])",
        r"answer:\s*([1-5])",
        r"(?P<code>[1-5])\s*$",
        r"[(a+)+](b)",
        r"\(a+\)+(b)",
        r"(a*)?b",
        r"(?:\d{1,3}\.){3}(\d)",
        r"\{}(x){}",
    ],
)
def test_a_usual_decision_pattern_is_accepted(pattern: str) -> None:
    assert decision_pattern_error(pattern) is None


@given(st.text(max_size=60))
def test_any_text_is_accepted_or_refused_as_a_pattern(text: str) -> None:
    if decision_pattern_error(text) is None:
        assert re.compile(text).groups


def test_a_conversation_has_a_turn_per_follow_up_within_the_limit() -> None:
    scripted = ["one", "two", "three"]
    assert [
        content(template="x", followUps=scripted).turns,
        content(template="x", followUps=scripted, maxTurns=2).turns,
        content(template="x", maxTurns=9).turns,
    ] == [4, 2, 1]


def test_a_fork_replaces_what_it_overrides_and_inherits_the_rest() -> None:
    parent = {"system": "s", "template": "t", "decision": {"pattern": "(x)", "rubric": "r"}}
    assert merge_overrides(parent, {"template": "mine", "decision": {"rubric": "mine"}}) == {
        "system": "s",
        "template": "mine",
        "decision": {"rubric": "mine"},
    }


def test_a_fork_overrides_with_null_to_leave_a_field_unset() -> None:
    assert merge_overrides({"system": "s", "template": "t"}, {"system": None}) == {"template": "t"}


def test_brackets_that_are_no_names_are_plain_text() -> None:
    text = "Choose [1-5] or [a, b], see [] and \\[name]; [x](y)"
    assert placeholder_names(text) == ["x"]
    assert render(text, {"X": "z"}) == "Choose [1-5] or [a, b], see [] and [name]; z(y)"


def test_a_placeholder_is_listed_once_as_first_written() -> None:
    assert placeholder_names("[B b] [a] [b_b]") == ["B b", "a"]


@given(st.lists(st.text(st.characters(blacklist_characters="[]\\")), min_size=1, max_size=6), st.text())
def test_rendering_changes_nothing_but_the_placeholders(texts: list[str], value: str) -> None:
    assert render("[x]".join(texts), {"x": value}) == value.join(texts)


@given(st.text(alphabet="\\[]ab 1,"))
def test_a_text_is_rendered_as_it_is_once_its_placeholders_are_escaped(text: str):
    assert render(escape_placeholders(text), {}) == text
