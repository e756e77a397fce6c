"""What a conversation comes to: promptfoo's rule, and Cupel's for what could not be computed."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import ConversationOutcome, Verdict
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, FailureTag
from cupel_core.domain.scoring.scoring import Scoring, build_scoring, combine, failure_tag, metrics
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode

VERDICT = Verdict(True, False, 0.9, "it booked the flight", "{}")


def passed(score: float = 1.0, weight: float = 1.0, **more: Any) -> AssertionResult:
    return AssertionResult("equals", True, score, "equal", weight, **more)


def failed(score: float = 0.0, weight: float = 1.0, **more: Any) -> AssertionResult:
    return AssertionResult("equals", False, score, "not equal", weight, **more)


def broken(weight: float = 1.0) -> AssertionResult:
    return AssertionResult.uncomputed("similar", "no embedding model", UnscoredCause(UnscoredCode.NO_JUDGE), weight)


def results() -> st.SearchStrategy[AssertionResult]:
    weights, shares = st.sampled_from([0.0, 0.1, 1.0, 3.0]), st.floats(0, 1)
    return st.one_of(st.builds(passed, shares, weights), st.builds(failed, shares, weights), st.builds(broken, weights))


def test_everything_that_passes_passes() -> None:
    assert combine([passed(), passed(0.5)]) == (True, 0.75, "everything passed")


def test_one_failure_fails_the_conversation_and_is_the_reason() -> None:
    assert combine([passed(), failed()]) == (False, 0.5, "equals: not equal")


def test_the_score_is_weighted() -> None:
    assert combine([passed(1, 3), passed(0, 1)]).score == 0.75


def test_a_result_without_weight_decides_nothing() -> None:
    assert combine([passed(), failed(weight=0), broken(weight=0)]) == (True, 1.0, "everything passed")


def test_results_without_weight_alone_pass_with_a_score_of_0() -> None:
    assert combine([failed(weight=0), broken(weight=0)]) == (True, 0.0, "no result has a weight")
    assert combine([passed(weight=0)], 0.1).passed is False


def test_nothing_at_all_leaves_it_unscored() -> None:
    assert combine([]) == (None, None, "no criteria or assertions")


def compared(won: bool, weight: float = 1.0) -> AssertionResult:
    return AssertionResult("max-score", won, float(won), "compared", weight)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([passed(0.6), compared(True, weight=9)], (True, 0.6)),
        ([passed(0.6), compared(False)], (False, 0.0)),
        ([failed(0.6), compared(True)], (False, 0.6)),
        ([passed(0.6), compared(False, weight=0)], (True, 0.6)),
        ([compared(True)], (True, 1.0)),
        ([compared(False)], (False, 0.0)),
        ([passed(0.6, weight=0), compared(True)], (True, 0.0)),
        ([passed(0.6), compared(True), compared(False)], (False, 0.0)),
    ],
)
def test_a_comparison_is_not_part_of_the_mean(results: list[AssertionResult], expected: tuple[bool, float]) -> None:
    assert combine(results)[:2] == expected


def test_a_threshold_replaces_the_need_for_every_pass() -> None:
    assert combine([passed(), failed()], 0.5) == (True, 0.5, "the score 0.50 is at least 0.5")
    assert combine([passed(), failed()], 0.6).passed is False


def test_a_result_that_could_not_be_computed_leaves_it_unscored_and_is_the_reason() -> None:
    assert combine([failed(), broken()]) == (None, None, "could not be computed: similar: no embedding model")


def test_at_most_three_reasons_are_reported() -> None:
    assert combine([failed()] * 5).reason.endswith("equals: not equal; and 2 more")


@given(st.lists(results()))
def test_a_score_is_between_the_lowest_and_the_highest(many: list[AssertionResult]) -> None:
    combined = combine(many)
    if combined.score is not None and any(result.weight > 0 for result in many):
        scores = [result.score for result in many if result.weight > 0 and result.score is not None]
        assert min(scores) - 1e-9 <= combined.score <= max(scores) + 1e-9


@given(st.lists(results()), st.permutations(range(3)))
def test_order_does_not_matter(many: list[AssertionResult], order: Sequence[int]) -> None:
    shuffled = [many[n] for n in order if n < len(many)] + many[3:]
    assert combine(shuffled)[:2] == pytest.approx(combine(many)[:2])


@given(st.lists(results()))
def test_it_passes_when_every_weighted_result_passes(many: list[AssertionResult]) -> None:
    weighted = [result.passed for result in many if result.weight > 0]
    expected = None if not many or None in weighted else all(weighted)
    assert combine(many).passed is expected


def test_a_verdict_is_a_component_like_any_other() -> None:
    scoring = build_scoring(ConversationOutcome.PASSED, VERDICT, [failed()])
    assert (scoring.success, scoring.score) == (False, 0.5)
    assert scoring.results[0] == AssertionResult("criteria", True, 1.0, "it booked the flight")


def test_a_missed_goal_is_tagged() -> None:
    scoring = build_scoring(ConversationOutcome.FAILED, VERDICT, [])
    assert (scoring.success, scoring.score, scoring.tags) == (False, 0.0, (FailureTag.GOAL_MISS,))


def test_without_criteria_and_assertions_it_is_unscored() -> None:
    assert build_scoring(None, None, []) == Scoring(None, None, "no criteria or assertions")


def test_a_conversation_that_has_not_ended_is_not_scored() -> None:
    with pytest.raises(ValueError, match="continues"):
        build_scoring(ConversationOutcome.CONTINUE, VERDICT, [])


def test_tags_are_the_distinct_tags_of_weighted_failures() -> None:
    scoring = build_scoring(None, None, [failed(tag="A"), failed(tag="A"), failed(tag="B", weight=0), failed(tag="C")])
    assert scoring.tags == ("A", "C")


def test_a_failed_set_has_the_tags_of_its_parts() -> None:
    combined = failed(tag="GOAL_MISS", parts=(failed(tag="REFUSAL"), passed()))
    assert build_scoring(None, None, [combined]).tags == ("REFUSAL",)


def test_a_pass_has_no_tags() -> None:
    combined = passed(parts=(failed(tag="REFUSAL"), passed()))
    assert build_scoring(None, None, [combined]).tags == ()


def test_a_metric_is_the_weighted_mean() -> None:
    many = [passed(1, 3, metric="tone"), failed(0, 1, metric="tone"), passed(0.5, metric="length")]
    assert metrics(many) == {"tone": 0.75, "length": 0.5}


def test_a_metric_without_weight_is_reported() -> None:
    assert metrics([passed(1, 0, metric="tone"), passed(0, 0, metric="tone")]) == {"tone": 0.5}


def test_metrics_within_sets_are_weighted_by_the_set() -> None:
    combined = passed(1, 3, parts=(passed(1, 1, metric="tone"),))
    assert metrics([combined, failed(0, 1, metric="tone")]) == {"tone": 0.75}


def test_a_metric_of_a_set_is_the_set_s() -> None:
    combined = passed(0.5, metric="tone", parts=(passed(1, metric="tone"),))
    assert metrics([combined]) == {"tone": 0.5}


@pytest.mark.parametrize(
    ("assertion", "tag"),
    [
        ({"type": "equals", "value": 1}, "GOAL_MISS"),
        ({"type": "not-is-refusal"}, "REFUSAL"),
        ({"type": "is-refusal"}, "GOAL_MISS"),
        ({"type": "contains-json"}, "FORMAT_ERROR"),
        ({"type": "llm-rubric", "value": "is clean", "metric": "Toxicity"}, "TOXICITY"),
        ({"type": "equals", "value": 1, "tag": "OWN"}, "OWN"),
    ],
)
def test_a_failure_is_tagged_by_its_kind_or_its_own_word(assertion: dict[str, object], tag: str) -> None:
    assert failure_tag(Assertion.from_json(assertion)) == tag


def test_a_scoring_survives_json() -> None:
    scoring = build_scoring(
        ConversationOutcome.FAILED, VERDICT, [passed(parts=(failed(tag="A", metric="m"),)), broken()], "unreachable"
    )
    assert decode(Scoring, encode(scoring)) == scoring
    assert decode(Scoring, encode(build_scoring(None, None, []))) == build_scoring(None, None, [])
