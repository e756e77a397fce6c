"""What a conversation comes to: promptfoo's rule, and Cupel's for what could not be computed."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, Tag
from cupel_core.domain.scoring.scoring import Scoring, combine, conclude, metrics, tag_of
from cupel_core.domain.turns.conversation import Ruling, Verdict

VERDICT = Verdict(True, False, 0.9, "it booked the flight", "{}")


def passed(score: float = 1.0, weight: float = 1.0, **more: Any) -> AssertionResult:
    return AssertionResult("equals", True, score, "equal", weight, **more)


def failed(score: float = 0.0, weight: float = 1.0, **more: Any) -> AssertionResult:
    return AssertionResult("equals", False, score, "not equal", weight, **more)


def broken(weight: float = 1.0) -> AssertionResult:
    return AssertionResult("similar", None, None, "", weight, error="no embedding model")


def results() -> st.SearchStrategy[AssertionResult]:
    weights, shares = st.sampled_from([0.0, 0.1, 1.0, 3.0]), st.floats(0, 1)
    return st.one_of(st.builds(passed, shares, weights), st.builds(failed, shares, weights), st.builds(broken, weights))


def test_everything_that_passes_passes() -> None:
    assert combine([passed(), passed(0.5)]) == (True, 0.75, "everything passed")


def test_one_failure_fails_the_whole_and_is_told() -> None:
    assert combine([passed(), failed()]) == (False, 0.5, "equals: not equal")


def test_weights_weigh() -> None:
    assert combine([passed(1, 3), passed(0, 1)]).score == 0.75


def test_what_weighs_nothing_decides_nothing() -> None:
    assert combine([passed(), failed(weight=0), broken(weight=0)]) == (True, 1.0, "everything passed")


def test_only_weightless_results_leave_it_open() -> None:
    assert combine([failed(weight=0)]) == (None, None, "nothing decides")


def test_a_threshold_stands_in_place_of_every_single_pass() -> None:
    assert combine([passed(), failed()], 0.5) == (True, 0.5, "the score 0.50 is at least 0.5")
    assert combine([passed(), failed()], 0.6).passed is False


def test_what_could_not_be_computed_leaves_it_open_and_is_named() -> None:
    assert combine([failed(), broken()]) == (None, None, "could not be computed: similar: no embedding model")


def test_three_reasons_are_told() -> None:
    assert combine([failed()] * 5).reason.endswith("equals: not equal; and 2 more")


@given(st.lists(results()))
def test_a_score_lies_between_the_lowest_and_the_highest(several: list[AssertionResult]) -> None:
    whole = combine(several)
    if whole.score is not None:
        scores = [result.score for result in several if result.weight > 0 and result.score is not None]
        assert min(scores) - 1e-9 <= whole.score <= max(scores) + 1e-9


@given(st.lists(results()), st.permutations(range(3)))
def test_order_does_not_matter(several: list[AssertionResult], order: Sequence[int]) -> None:
    shuffled = [several[n] for n in order if n < len(several)] + several[3:]
    assert combine(shuffled)[:2] == pytest.approx(combine(several)[:2])


@given(st.lists(results()))
def test_whole_passes_when_all_that_weighs_does(several: list[AssertionResult]) -> None:
    weighing = [result.passed for result in several if result.weight > 0]
    expected = None if not weighing or None in weighing else all(weighing)
    assert combine(several).passed is expected


def test_a_verdict_is_a_component_like_any_other() -> None:
    scoring = conclude(Ruling.PASSED, VERDICT, [failed()])
    assert (scoring.success, scoring.score) == (False, 0.5)
    assert scoring.results[0] == AssertionResult("criteria", True, 1.0, "it booked the flight")


def test_a_missed_goal_is_tagged() -> None:
    scoring = conclude(Ruling.FAILED, VERDICT, [])
    assert (scoring.success, scoring.score, scoring.tags) == (False, 0.0, (Tag.GOAL_MISS,))


def test_nothing_asked_is_nothing_said() -> None:
    assert conclude(None, None, []) == Scoring(None, None, "nothing was asked")


def test_a_conversation_that_goes_on_is_not_scored() -> None:
    with pytest.raises(ValueError, match="goes on"):
        conclude(Ruling.CONTINUE, VERDICT, [])


def test_tags_are_those_of_failures_that_weigh_each_once() -> None:
    scoring = conclude(None, None, [failed(tag="A"), failed(tag="A"), failed(tag="B", weight=0), failed(tag="C")])
    assert scoring.tags == ("A", "C")


def test_a_failed_set_has_the_tags_of_its_parts() -> None:
    whole = failed(tag="GOAL_MISS", parts=(failed(tag="REFUSAL"), passed()))
    assert conclude(None, None, [whole]).tags == ("REFUSAL",)


def test_a_pass_has_no_tags() -> None:
    whole = passed(parts=(failed(tag="REFUSAL"), passed()))
    assert conclude(None, None, [whole]).tags == ()


def test_a_metric_is_the_mean_by_weight() -> None:
    several = [passed(1, 3, metric="tone"), failed(0, 1, metric="tone"), passed(0.5, metric="length")]
    assert metrics(several) == {"tone": 0.75, "length": 0.5}


def test_a_metric_that_weighs_nothing_is_told() -> None:
    assert metrics([passed(1, 0, metric="tone"), passed(0, 0, metric="tone")]) == {"tone": 0.5}


def test_metrics_within_sets_weigh_as_the_set_does() -> None:
    whole = passed(1, 3, parts=(passed(1, 1, metric="tone"),))
    assert metrics([whole, failed(0, 1, metric="tone")]) == {"tone": 0.75}


def test_a_metric_of_a_set_is_the_set_s() -> None:
    whole = passed(0.5, metric="tone", parts=(passed(1, metric="tone"),))
    assert metrics([whole]) == {"tone": 0.5}


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
    assert tag_of(Assertion.from_json(assertion)) == tag


def test_a_scoring_survives_the_way_to_json_and_back() -> None:
    scoring = conclude(Ruling.FAILED, VERDICT, [passed(parts=(failed(tag="A", metric="m"),)), broken()], "unreachable")
    assert Scoring.from_json(scoring.to_json()) == scoring
    assert Scoring.from_json(conclude(None, None, []).to_json()) == conclude(None, None, [])
