"""What budgets, estimates and reports may take."""

import pytest

from bench import budgets, estimates, reports
from bench.budgets import CASES
from bench.reads import Latency


def test_accounts_take_so_many_writes_and_none_without_a_budget() -> None:
    allowed = {title: budgets.max_writes(each) for title, each in CASES.items()}
    assert list(allowed.values()) == [0, 0.02, 0.02, 0.04]
    assert budgets.violated_writes(allowed) == []
    assert budgets.violated_writes({"without a budget": 0.0005, "with both": 0.041}) == [
        "a run without a budget made more than 0 writes per probe for it",
        "a run with both made more than 0.04 writes per probe for it",
    ]


def test_times_are_compared_round_by_round() -> None:
    """The last round was slow, with and without."""
    slower = budgets.slowdown([40.0, 41.0, 80.0], [40.4, 41.82, 82.4])
    assert slower.median == pytest.approx(1.02)
    assert str(slower) == "1.020 (1.010 to 1.030 in 3 rounds)"
    assert budgets.violated_time(1.02) == []
    assert budgets.violated_time(1.021) == ["runs with a budget took more than 1.02 times as long"]


def test_an_estimate_that_takes_too_long_is_named() -> None:
    taken = {"": Latency(300.0, 900.0), " with a budget": Latency(301.0, 302.0)}
    assert estimates.violated_bounds(taken) == ["an estimate with a budget took more than 300 ms"]


def test_a_report_that_takes_too_much_is_named() -> None:
    assert reports.violated_bounds(reports.Figures(60.0, 300.0)) == []
    assert reports.violated_bounds(reports.Figures(61.0, 301.0)) == [
        "the report took more than 60 s",
        "its worker used more than 300 MB",
    ]
