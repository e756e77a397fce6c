"""Figures as text. The cases are those of the web page (`web/src/lib/format.test.ts`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cupel_core.domain.text import figures
from tests.in_one_test import in_one_test

CASES = json.loads((Path(__file__).parents[4] / "web/src/lib/figure_cases.json").read_text())
FORMS: dict[str, Callable[[Any], str]] = {
    "percent": figures.format_percent,
    "points": figures.format_points,
    "points apart": figures.format_points_apart,
    "decimal": figures.format_decimal,
    "difference": figures.format_difference,
    "p": figures.format_p,
    "confidence": figures.format_confidence,
    "ratio": figures.format_ratio,
    "interval of ratios": figures.format_ratio_interval,
    "usd": figures.format_usd,
    "interval of percents": lambda interval: figures.format_interval(interval, figures.format_percent),
    "decimal with interval": lambda both: figures.with_interval(*both, figures.format_decimal),
}


def test_every_kind_of_figure_has_cases() -> None:
    assert CASES.keys() == FORMS.keys()


@in_one_test(("kind", "value", "text"), [(kind, *case) for kind in CASES for case in CASES[kind]])
def test_a_figure_is_written_as_on_the_page(kind: str, value: Any, text: str) -> None:
    assert FORMS[kind](value) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.035, "3.5% more"), (0.8, "20.0% less"), (2.1, "2.1 times as much"), (1 / 5_000, "5,000 times less")],
)
def test_ratios_in_words(ratio: float, text: str) -> None:
    assert figures.format_ratio_words(ratio) == text


@pytest.mark.parametrize("value", [1e300, 1e-300])
def test_numbers_of_any_size_are_written(value: float) -> None:
    for form in (figures.format_signed_percent, figures.format_ratio, figures.format_usd, figures.format_decimal):
        assert form(value)
