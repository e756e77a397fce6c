"""Checks that an import left out are counted with every verdict, and decide nothing."""

import pytest

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.left_out_checks import NOTHING_LEFT, add_checks, describe_checks, left_out_message
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.selections import with_selection_results

PASSED = AssertionResult("contains", True, 1.0, "")
LEFT_OUT = {"javascript": 2, "is-sql": 1}


def test_the_most_frequent_types_are_named_first() -> None:
    assert describe_checks({"a": 1, "b": 1_200, "c": 3}) == "b 1,200, c 3, a 1"
    assert describe_checks(dict.fromkeys("abcdefg", 1)) == "a 1, b 1, c 1, d 1, e 1 and 2 others"


@pytest.mark.parametrize(
    ("of", "words"), [(1, "1 of 1 conversation lacks checks that its author wrote"), (9, "1 of 9 conversations lack")]
)
def test_a_message_counts_conversations(of: int, words: str) -> None:
    assert left_out_message(1, of, LEFT_OUT).startswith(words)


def test_a_scoring_has_them_and_they_decide_nothing() -> None:
    scoring = build_scoring(None, None, (PASSED,), left_out=LEFT_OUT)
    assert (scoring.success, scoring.is_unscored, scoring.left_out) == (True, False, LEFT_OUT)
    assert decode(Scoring, encode(scoring)) == scoring
    assert Scoring.from_digest(scoring.digest()).left_out == LEFT_OUT
    assert with_selection_results(scoring, []).left_out == LEFT_OUT


def test_a_scoring_without_any_check_says_why() -> None:
    scoring = build_scoring(None, None, (), left_out=LEFT_OUT)
    assert (scoring.success, scoring.reason) == (None, NOTHING_LEFT)


def test_the_totals_of_a_column_count_conversations_and_checks() -> None:
    totals, others = ColumnTotals(), ColumnTotals()
    totals.add(CountedOutcome(0, is_completed=True, left_out=LEFT_OUT))
    totals.add(CountedOutcome(1, is_completed=True))
    others.add(CountedOutcome(2, is_completed=True, left_out={"is-sql": 1}))
    totals.merge(others)
    assert (totals.partly_checked, dict(totals.left_out)) == (2, {"javascript": 2, "is-sql": 2})
    assert ColumnTotals.from_json(totals.to_json()) == totals
    assert "leftOut" not in ColumnTotals().to_json()


def test_sums_are_by_type() -> None:
    assert add_checks([LEFT_OUT, {}, {"is-sql": 4}]) == {"javascript": 2, "is-sql": 5}
