"""Markup, charts and escaping of reports."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.analysis.reports.charts import MAX_BARS, Bar, bar_chart
from cupel_core.analysis.reports.formats import difference_table
from cupel_core.analysis.reports.markup import element
from cupel_core.analysis.reports.render_markdown import fenced, inline
from cupel_core.contract.report_content import ReportContentResponse, ReportDifferenceResponse, ReportRatioResponse
from cupel_core.domain.analysis.metrics import Metric

HOSTILE = st.text(alphabet="`~<>&\"'[]()!*_#|\\\n\x1b\x00 a:/", max_size=60)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(HOSTILE, HOSTILE)
def test_no_text_becomes_an_element_or_leaves_its_attribute(text: str, value: str) -> None:
    reader = _Reader()
    reader.feed(element("p", text, title=value).render())
    assert reader.tags == ["p"]
    shown = re.sub(r"[\x00-\x08\x0b-\x1f]", "", text)
    assert reader.text == shown


@given(HOSTILE)
def test_no_text_ends_its_code_block(text: str) -> None:
    first, *lines, last = fenced(text).split("\n")
    assert first == f"{last}text"
    assert not any(line.strip().startswith(last) for line in lines)


@given(HOSTILE)
def test_no_text_within_a_line_is_markdown(text: str) -> None:
    shown = inline(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[`*_\[\]|:]", shown.replace("\\\\", ""))
    assert not re.search(r"[<>\x1b]", shown)


def test_a_chart_has_its_bars_in_words() -> None:
    svg = bar_chart("Win rate", [Bar("a<b", 0.5, "50%", 0.25, 0.75)], 1.0).render()
    assert 'aria-label="Win rate: a&lt;b 50%"' in svg
    assert svg.count('class="whisker"') == 3


def test_a_chart_is_bounded() -> None:
    svg = bar_chart("Many", [Bar(f"{n}", n, str(n)) for n in range(500)], 500).render()
    assert svg.count("<rect") == MAX_BARS


@pytest.mark.parametrize("maximum", [0.0, -1.0])
def test_a_chart_without_values_has_empty_bars(maximum: float) -> None:
    assert 'width="0"' in bar_chart("None", [Bar("a", 0.0, "0")], maximum).render()


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("openai/gpt-5-mini", "openai/gpt-5-mini"),
        ("a" + "m" * 40 + "-7", "ammmmmmm…mmmmmm-7"),
        ("語" * 40, "語" * 8 + "…" + "語" * 7),
    ],
)
def test_a_label_is_cut_where_wide_letters_would_leave_the_chart(label: str, shown: str) -> None:
    assert f">{shown}</text>" in bar_chart("Win rate", [Bar(label, 0.5, "50%")], 1.0).render()


def test_a_ratio_names_its_scenarios_if_the_difference_has_others() -> None:
    def shown(scenarios: int) -> str:
        ratio = ReportRatioResponse(
            scenarios=5, left_out={"unknown": 3}, ratio=3.0, interval=[1.5, 6.0], adjusted_p=0.02
        )
        difference = ReportDifferenceResponse(
            first="a",
            second="b",
            metric=Metric.PASS_RATE,
            scenarios=scenarios,
            difference=0.1,
            interval=None,
            adjusted_p=None,
            cost_ratio=ratio,
            time_ratio=ratio,
        )
        return difference_table(ReportContentResponse.model_construct(differences=[difference])).rows[0][-1]

    assert shown(8) == "×3.0 (×1.50 to ×6.0), adjusted p 0.020, n = 5"
    assert shown(5) == "×3.0 (×1.50 to ×6.0), adjusted p 0.020"
