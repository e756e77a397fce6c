"""max-score: the answer whose other results have the highest aggregate score is selected, as by promptfoo."""

from typing import Any

import pytest

from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.max_score import select_max_score
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.selections import Selection, assertion_result
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode


def result(score: float, type_name: str = "contains", **more: Any) -> AssertionResult:
    return AssertionResult(type_name, score >= 0.5, score, "", **more)


def scoring(*results: AssertionResult) -> Scoring:
    return build_scoring(None, None, results)


def select(*groups: tuple[AssertionResult, ...], **value: Any) -> Selection:
    """The selection among answers of these results, whose probes are 10, 20 and so on."""
    scorings = {10 * number: scoring(*results) for number, results in enumerate(groups, start=1)}
    return select_max_score(scorings, Assertion("max-score", value=value or None))


def test_the_answer_with_the_highest_mean_is_selected() -> None:
    found = select((result(0.5), result(0.5)), (result(1), result(0.5)), (result(0), result(1)))
    assert (found.winner, found.candidates) == (20, (10, 20, 30))
    assert found.reason == "the highest average of scores is 0.750, the next is 0.500"


def test_the_first_of_equal_answers_is_selected() -> None:
    assert select((result(0.1),), (result(0.7),), (result(0.7),)).winner == 20


def test_the_weights_of_the_assertions_do_not_count() -> None:
    assert select((result(0.6, weight=9), result(0, weight=0)), (result(0), result(0.7))).winner == 20


def test_types_have_weights() -> None:
    groups = ((result(0.6), result(0.9, "bleu")), (result(1), result(0.4, "bleu")))
    assert select(*groups).winner == 10
    assert select(*groups, weights={"contains": 3}).winner == 20
    assert select(*groups, weights={"contains": -1}).winner == 10


def test_a_sum_counts_how_many_there_are() -> None:
    groups = ((result(0.9),), (result(0.5), result(0.5)))
    assert select(*groups).winner == 10
    assert select(*groups, method="sum").winner == 20


def test_weights_without_a_sum_make_every_mean_0() -> None:
    assert select((result(0.1),), (result(1),), weights={"contains": 0}).winner == 10


def test_no_answer_below_the_threshold_is_selected() -> None:
    found = select((result(0.5),), (result(0.8),), threshold=0.9)
    assert (found.winner, found.error) == (None, None)
    assert select((result(0.5),), (result(0.9),), threshold=0.9).winner == 20
    failed = assertion_result(found, Assertion("max-score"), 20)
    assert (failed.passed, failed.score, failed.tag) == (False, 0, "GOAL_MISS")
    assert failed.reason == "none of 2 answers is better: the highest average of scores is 0.800, below 0.9"


def test_a_set_counts_by_its_parts() -> None:
    parts = (result(0), result(0), result(1, metric="named"))
    in_set = AssertionResult(
        "assert-set", True, 1.0, "", parts=(AssertionResult("assert-set", True, 1.0, "", parts=parts),)
    )
    assert select((in_set,), (result(0.34),)).winner == 20
    assert select((in_set,), (result(0.33),)).winner == 10


def test_components_of_code_count_and_scores_for_metrics_do_not() -> None:
    named = result(1, "javascript", metric="brevity")
    code = result(0.5, "javascript", parts=(result(0.2, "javascript"), named))
    assert select((code,), (result(0.36),)).winner == 20
    assert select((code,), (result(0.34),)).winner == 10


def test_other_comparisons_do_not_count() -> None:
    best = result(1, "select-best")
    assert select((result(0.2), best), (result(0.3),)).winner == 20


@pytest.mark.parametrize(
    ("groups", "why", "code"),
    [
        (((result(1),),), "two targets", UnscoredCode.INPUT),
        (((result(1),), ()), "needs another assertion", UnscoredCode.ASSERTION),
        (((result(1, "select-best"),), (result(0, "select-best"),)), "another assertion", UnscoredCode.ASSERTION),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    groups: tuple[tuple[AssertionResult, ...], ...], why: str, code: UnscoredCode
) -> None:
    found = select(*groups)
    assert (found.winner, found.cause and found.cause.code) == (None, code)
    assert why in str(found.error)


def test_a_score_that_is_missing_makes_the_comparison_impossible_unless_its_weight_is_0() -> None:
    cause = UnscoredCause(UnscoredCode.JUDGE_FAILED, "sim/judge")
    missing = AssertionResult.uncomputed("llm-rubric", "the call failed", cause)
    found = select((result(1),), (result(0), missing))
    assert (found.winner, found.cause) == (None, cause)
    assert found.error == "llm-rubric could not be computed for one of the answers"
    assert select((result(1),), (result(0), missing), weights={"llm-rubric": 0}).winner == 10


def test_an_answer_that_came_later_is_not_compared() -> None:
    late = assertion_result(select((result(1),), (result(0),)), Assertion("max-score"), 30)
    assert (late.passed, late.error) == (None, "completed after the answers were compared")
