"""Draws charts of a report as SVG within its HTML, without scripts. Each has a text for screen readers."""

from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

from cupel_core.analysis.reports.markup import Element, element

_WIDTH, _LABELS, _ROW, _BAR = 720, 240, 26, 14
_VALUES = 90
"""Width for the figure to the right of a bar."""
_WIDE_LETTERS = frozenset("mwMW@%—…")
_MAX_LETTERS = 32
_LETTER, _CAPITAL, _WIDE = 8.5, 10.0, 13.5
"""Characters are at most this wide in common fonts of the chart's size, in its units; most letters are narrower."""
MAX_BARS = 30


class Bar(NamedTuple):
    label: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None


def bar_chart(title: str, bars: Sequence[Bar], maximum: float) -> Element:
    shown = bars[:MAX_BARS]
    height = _ROW * len(shown) + 8
    rows = [part for number, bar in enumerate(shown) for part in _row(number, bar, maximum)]
    return element(
        "svg",
        element("title", title),
        *rows,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=f"{title}: {'; '.join(f'{bar.label} {bar.text}' for bar in shown)}",
    )


def _row(number: int, bar: Bar, maximum: float) -> list[Element]:
    top = number * _ROW + 8
    middle = top + _BAR / 2
    parts = [
        element("text", _label(bar.label), x=_LABELS - 8, y=middle + 4, text_anchor="end"),
        element("rect", x=_LABELS, y=top, width=_length(bar.value, maximum), height=_BAR, class_="bar"),
        element("text", bar.text, x=_WIDTH - _VALUES + 8, y=middle + 4, class_="value"),
    ]
    if bar.low is not None and bar.high is not None:
        left, right = (_LABELS + _length(bound, maximum) for bound in (bar.low, bar.high))
        parts.append(element("line", x1=left, x2=right, y1=middle, y2=middle, class_="whisker"))
        parts += [element("line", x1=x, x2=x, y1=middle - 4, y2=middle + 4, class_="whisker") for x in (left, right)]
    return parts


def _length(value: float, maximum: float) -> float:
    share = value / maximum if maximum > 0 else 0.0
    return round(max(0.0, min(1.0, share)) * (_WIDTH - _LABELS - _VALUES), 1)


def _label(text: str) -> str:
    if _fits(text):
        return text
    shortened = (f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}" for kept in range(_MAX_LETTERS, 0, -1))
    return next(filter(_fits, shortened))


def _fits(text: str) -> bool:
    return len(text) <= _MAX_LETTERS and sum(map(_width, text)) <= _LABELS - 16


def _width(character: str) -> float:
    if character in _WIDE_LETTERS or east_asian_width(character) in "WF":
        return _WIDE
    return _CAPITAL if character.isupper() else _LETTER
