"""Figures as text. The cases are those of the web page (`web/src/lib/format.test.ts`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cupel_core.domain.text import figures

CASES = json.loads((Path(__file__).parents[4] / "web/src/lib/figure_cases.json").read_text())
FORMS: dict[str, Callable[[Any], str]] = {
    "percent": figures.format_percent,
    "points": figures.format_points,
    "points apart": figures.format_points_apart,
    "decimal": figures.format_decimal,
    "difference": figures.format_difference,
    "p": figures.format_p,
    "confidence": figures.format_confidence,
    "usd": figures.format_usd,
    "interval of percents": lambda interval: figures.format_interval(interval, figures.format_percent),
    "decimal with interval": lambda both: figures.with_interval(*both, figures.format_decimal),
}


def test_every_kind_of_figure_has_cases() -> None:
    assert CASES.keys() == FORMS.keys()


@pytest.mark.parametrize(("kind", "value", "text"), [(kind, *case) for kind in CASES for case in CASES[kind]])
def test_a_figure_is_written_as_on_the_page(kind: str, value: Any, text: str) -> None:
    assert FORMS[kind](value) == text
