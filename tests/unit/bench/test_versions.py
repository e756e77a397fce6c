"""How the runs of two commits are compared."""

from dataclasses import replace
from typing import Any

import pytest

from bench.cases import Case, Measurement
from bench.versions import Round, is_slower, measure_rounds

CASE = Case("2,000 at 0.2 s", 2_000, 0.2)
MEASURED = Measurement(
    case=CASE,
    accepted_seconds=0.1,
    first_call_seconds=0.2,
    after_last_answer_seconds=0.1,
    seconds=10.0,
    model_calls=2_000,
    in_flight_peak=50,
    cpu_seconds=4.0,
    emulator_mb=100.0,
    worker_mb=100.0,
    errored=0,
)


class FakeBench:
    def __init__(self, name: str, seconds: float, order: list[str]) -> None:
        self._name = name
        self._seconds = seconds
        self._order = order

    def measure(self, case: Case, **_: Any) -> Measurement:
        self._order.append(self._name)
        return replace(MEASURED, case=case, seconds=self._seconds)


def test_the_order_changes_with_each_round_and_the_roles_do_not() -> None:
    order: list[str] = []
    before, after = FakeBench("a", 10, order), FakeBench("b", 11, order)
    rounds = measure_rounds(before, after, CASE, 3)  # type: ignore[arg-type]
    assert "".join(order) == "abbaab"
    assert [each.ratio("time") for each in rounds] == [1.1, 1.1, 1.1]


def round_of(ratio: float) -> Round:
    return Round(MEASURED, replace(MEASURED, cpu_seconds=MEASURED.cpu_seconds * ratio))


@pytest.mark.parametrize(("ratios", "is_too_slow"), [([0.9, 1.02, 1.5], False), ([0.9, 1.04, 1.05], True)])
def test_the_median_decides(ratios: list[float], is_too_slow: bool) -> None:
    rounds = [round_of(ratio) for ratio in ratios]
    assert is_slower(rounds, "CPU", 0.03) is is_too_slow
    assert not is_slower(rounds, "time", 0.03)
