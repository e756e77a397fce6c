"""Figures as text. The cases are those of the web page (`web/src/lib/format.test.ts`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cupel_core.domain.text import figures

CASES = json.loads((Path(__file__).parents[3] / "web/src/lib/figure_cases.json").read_text())
FORMS: dict[str, Callable[[Any], str]] = {
    "percent": figures.format_percent,
    "points": figures.format_points,
    "decimal": figures.format_decimal,
    "difference": figures.format_difference,
    "usd": figures.format_usd,
    "interval of percents": lambda interval: figures.format_interval(interval, figures.format_percent),
}


def test_every_kind_of_figure_has_cases() -> None:
    assert CASES.keys() == FORMS.keys()


@pytest.mark.parametrize(("kind", "value", "text"), [(kind, *case) for kind in CASES for case in CASES[kind]])
def test_a_figure_is_written_as_on_the_page(kind: str, value: Any, text: str) -> None:
    assert FORMS[kind](value) == text


@pytest.mark.parametrize(
    ("value", "interval", "text"),
    [(0.5, (0.25, 0.75), "50.0% (25.0% to 75.0%)"), (0.5, None, "50.0%"), (None, (0.25, 0.75), "–")],
)
def test_a_value_has_its_interval_in_parentheses(
    value: float | None, interval: tuple[float, float] | None, text: str
) -> None:
    assert figures.with_interval(value, interval, figures.format_percent) == text
