from collections.abc import Mapping, Sequence
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval
from cupel_core.domain.text import figures
from cupel_core.domain.text.figures import format_decimal, format_percent


@dataclass(frozen=True)
class Insight:
    kind: str
    text: str
    facts: Mapping[str, Any]


def format_value(value: float | None, metric: Metric) -> str:
    """Return a mean code as `3.42`, a share as `86.0%`."""
    return format_decimal(value) if metric is Metric.DECISION else format_percent(value)


def format_interval(interval: Interval, metric: Metric) -> str:
    """Return an interval as `3.10 to 3.74`."""
    return f"{format_value(interval.low, metric)} to {format_value(interval.high, metric)}"


def format_p(p: float | None) -> str:
    """Return a p-value as `p 0.012` or `p < 0.001`."""
    return "no p" if p is None else f"p {figures.format_p(p)}"


def measure(metric: Metric) -> str:
    return "mean" if metric is Metric.DECISION else "pass rate"


def enumerate_names(names: Sequence[str]) -> str:
    """Return at most five names and the number of the others."""
    shown = names[:5]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
