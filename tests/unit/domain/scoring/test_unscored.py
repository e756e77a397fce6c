"""Why answers are unscored: each counts for one cause, and every unscored answer is counted."""

import pytest

from cupel_core.domain.analysis.column_totals import MAX_NAMES, CauseCount, ColumnTotals, ErrorCount
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import DESCRIPTIONS, UnscoredCause, UnscoredCode

REPLY = UnscoredCause(UnscoredCode.JUDGE_REPLY, "sim/judge")
REFUSED_KEY = UnscoredCause(UnscoredCode.JUDGE_FAILED, "openai/o9", "auth")
NO_PRICE = UnscoredCause(UnscoredCode.INPUT)


def uncomputed(cause: UnscoredCause, weight: float = 1.0) -> AssertionResult:
    return AssertionResult.uncomputed("llm-rubric", "no verdict", cause, weight)


def totals(*causes: UnscoredCause) -> ColumnTotals:
    found = ColumnTotals()
    for index, cause in enumerate(causes):
        found.add(CountedOutcome(index, is_completed=True, cause=cause))
    return found


def test_every_code_is_described() -> None:
    assert DESCRIPTIONS.keys() == set(UnscoredCode)


@pytest.mark.parametrize("cause", [REPLY, REFUSED_KEY, NO_PRICE])
def test_a_cause_is_read_as_it_was_stored(cause: UnscoredCause) -> None:
    assert decode(UnscoredCause, encode(cause)) == cause
    assert decode(AssertionResult, encode(uncomputed(cause))) == uncomputed(cause)


def test_the_first_weighted_check_without_a_result_is_the_cause() -> None:
    passed = AssertionResult("contains", True, 1.0, "")
    scoring = build_scoring(None, None, (uncomputed(NO_PRICE, 0.0), passed, uncomputed(REPLY), uncomputed(REFUSED_KEY)))
    assert (scoring.cause, scoring.unscored_error, scoring.is_unscored) == (REPLY, "no verdict", True)
    assert decode(Scoring, encode(scoring)).cause == REPLY


def test_a_scored_answer_has_no_cause() -> None:
    scoring = build_scoring(None, None, (AssertionResult("contains", False, 0.0, ""), uncomputed(REPLY, 0.0)))
    assert (scoring.cause, scoring.unscored_error, scoring.digest().get("cause")) == (None, None, None)


def test_causes_are_counted_with_their_first_probe_the_most_frequent_first() -> None:
    found = totals(REFUSED_KEY, REPLY, REPLY)
    assert found.unscored_causes == [CauseCount(REPLY, 2, 1), CauseCount(REFUSED_KEY, 1, 0)]


def test_the_sum_of_parts_is_that_of_all() -> None:
    merged = totals(REPLY, REFUSED_KEY)
    merged.merge(totals(NO_PRICE, REPLY))
    assert merged.causes == {REPLY: ErrorCount(2, 0), REFUSED_KEY: ErrorCount(1, 1), NO_PRICE: ErrorCount(1, 0)}
    assert sum(each.probes for each in merged.unscored_causes) == merged.unscored == 4
    assert ColumnTotals.from_json(merged.to_json()) == merged


def test_the_number_of_causes_is_bounded_and_all_answers_are_counted() -> None:
    found = totals(*(REPLY._replace(model=f"sim/{number}") for number in range(MAX_NAMES + 5)))
    assert (len(found.causes), found.unscored) == (MAX_NAMES, MAX_NAMES + 5)
