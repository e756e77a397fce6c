"""The default evaluators of a scale run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertion_values import escape_variables, render_variables
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.default_evaluators import (
    TOXICITY_RUBRIC,
    DefaultEvaluators,
    EvaluatorChoice,
    EvaluatorName,
    EvaluatorStatus,
    format_check,
)
from cupel_core.domain.scoring.scoring import failure_tag

GOAL, REFUSAL, FORMAT, TOXICITY = EvaluatorName
JUDGED = DefaultEvaluators(
    "Explains the limit", (format_check("word-count", {"max": 9}),), judge_model="openai/gpt-5-mini"
)


def of(**fields: object) -> DefaultEvaluators:
    return DefaultEvaluators(**{**vars(JUDGED), **fields})  # type: ignore[arg-type]


def test_all_run_with_a_goal_a_format_and_a_judge() -> None:
    assert set(JUDGED.statuses().values()) == {EvaluatorStatus.ACTIVE}
    assert [(each.type, failure_tag(each)) for each in JUDGED.assertions()] == [
        ("not-is-refusal", "REFUSAL"),
        ("word-count", "FORMAT_ERROR"),
        ("llm-rubric", "TOXICITY"),
    ]


def test_every_assertion_is_marked_and_valid() -> None:
    choices = {GOAL: EvaluatorChoice(threshold=0.8)}
    written = [assertion.to_json() for assertion in of(choices=choices).assertions()]
    assert [each["default"] for each in written] == [True] * 4
    assert assertion_issues(written) == ()
    assert [Assertion.from_json(each).to_json() for each in written] == written


@pytest.mark.parametrize(
    ("changes", "name", "status"),
    [
        ({"goal": None}, GOAL, EvaluatorStatus.NO_GOAL),
        ({"judge_model": None}, GOAL, EvaluatorStatus.NO_JUDGE),
        ({"judge_model": None}, TOXICITY, EvaluatorStatus.NO_JUDGE),
        ({"judge_model": None}, REFUSAL, EvaluatorStatus.ACTIVE),
        ({"format_checks": ()}, FORMAT, EvaluatorStatus.NO_FORMAT),
        ({"choices": {TOXICITY: EvaluatorChoice(is_enabled=False)}}, TOXICITY, EvaluatorStatus.OFF),
    ],
)
def test_an_evaluator_that_does_not_run_says_why(
    changes: dict[str, object], name: EvaluatorName, status: EvaluatorStatus
) -> None:
    assert of(**changes).status(name) is status


def test_without_a_judge_nothing_needs_one() -> None:
    without = of(judge_model=None)
    assert without.criteria is None
    assert [each.kind for each in without.assertions()] == ["is-refusal", "word-count"]


def test_a_judge_of_its_own_decides_the_goal_and_not_toxicity() -> None:
    chosen = of(choices={GOAL: EvaluatorChoice(judge_model="anthropic/claude-sonnet-4-5")})
    assert chosen.criteria_judge == "anthropic/claude-sonnet-4-5"
    assert chosen.assertions()[-1].provider == "openai/gpt-5-mini"


def test_a_threshold_also_scores_the_conversation_by_the_goal() -> None:
    rubric = of(choices={GOAL: EvaluatorChoice(threshold=0.8)}).assertions()[0]
    assert (rubric.kind, rubric.value, rubric.threshold, rubric.tag) == (
        "llm-rubric",
        "Explains the limit",
        0.8,
        "GOAL_MISS",
    )


def test_the_text_of_toxicity_belongs_to_its_version() -> None:
    rubric = JUDGED.assertions()[-1]
    assert (rubric.value, rubric.config, rubric.threshold) == (TOXICITY_RUBRIC, {"version": 1}, 0.5)


@given(st.text(alphabet="{}\\ ab", max_size=30))
def test_a_goal_with_braces_is_rendered_as_it_was_written(goal: str) -> None:
    assert render_variables(escape_variables(goal), {}) == goal
