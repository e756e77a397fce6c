"""Sentences about figures: each number in them is one that they cite."""

import pytest

from cupel_core.domain.analysis.narratives import (
    UNAVAILABLE,
    DroppedFinding,
    NarrativeFact,
    NarrativeFinding,
    NarrativeTopic,
    check_finding,
)
from cupel_core.domain.statistics import Interval

FACTS = (
    NarrativeFact("gain", "rise of alpha", 0.6142),
    NarrativeFact("alpha", "alpha", -0.3138, Interval(-0.4211, -0.2073), 1_036),
    NarrativeFact("p", "adjusted p", 0.00021),
    NarrativeFact("share", "share", 0.874),
)
NAMES = ("openai/gpt-5", "openai/gpt-5.1", "5", "stakes 2")


def check(text: str, *facts: str) -> str | None:
    """Why it is dropped; None if it is shown."""
    checked = check_finding(NarrativeFinding(NarrativeTopic.AGREEMENT, text, facts), FACTS, NAMES)
    return checked.reason if isinstance(checked, DroppedFinding) else None


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("alpha is -0.31 (95% interval -0.42 to -0.21) over 1,036 scenarios", ("alpha",)),
        ("alpha is −0.314", ("alpha",)),
        ("alpha is 0.31 below zero", ("alpha",)),
        ("it rises by +0.61", ("gain",)),
        ("openai/gpt-5.1 explains 87% (p < 0.001)", ("share", "p")),
        ("87% go with stakes 2", ("share",)),
        ("it falls by −31.4 pp", ("alpha",)),
        ("31.4 percentage points below zero", ("alpha",)),
        ("nothing is said in numbers", ("gain",)),
        (UNAVAILABLE, ()),
    ],
)
def test_numbers_that_are_cited_are_shown(text: str, facts: tuple[str, ...]) -> None:
    assert check(text, *facts) is None


@pytest.mark.parametrize(
    ("text", "facts", "reason"),
    [
        ("alpha is -0.32", ("alpha",), "says -0.32, which it does not cite"),
        ("alpha is +0.31", ("alpha",), "says +0.31, which it does not cite"),
        ("alpha is -0.31 and rises by 0.61", ("alpha",), "says 0.61, which it does not cite"),
        ("it rises by 0.6143", ("gain",), "says 0.6143, which it does not cite"),
        ("it rises by 0.61 (p < 0.0001)", ("gain", "p"), "says < 0.0001, which it does not cite"),
        ("86% agree", ("share",), "says 86%, which it does not cite"),
        ("it falls by −0.3 pp", ("alpha",), "says −0.3 pp, which it does not cite"),
        ("0.87% agree", ("share",), "says 0.87%, which it does not cite"),
        ("openai/gpt-52 is better", ("share",), "says -52, which it does not cite"),
        ("a 95% majority", ("share",), "says 95%, which it does not cite"),
        ("it rises", (), "cites 0 figures"),
        ("it rises", ("invented",), "cites invented, which is no figure"),
        ("it rises", ("gain",) * 6, "cites 6 figures"),
    ],
)
def test_what_is_not_cited_is_dropped_and_named(text: str, facts: tuple[str, ...], reason: str) -> None:
    assert check(text, *facts) == reason
