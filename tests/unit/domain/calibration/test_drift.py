"""Drift of a judge on canaries."""

import pytest

from cupel_core.domain.calibration.drift import CANARIES, FLIPS_NEEDED, CanaryVerdicts, judge_drift


@pytest.mark.parametrize(
    ("to_pass", "to_fail", "is_stale"),
    [(0, 0, False), (4, 0, False), (5, 0, True), (0, 5, True), (3, 3, False), (8, 1, True), (6, 2, False)],
)
def test_flips_in_one_direction_make_a_calibration_stale(to_pass: int, to_fail: int, is_stale: bool) -> None:
    canaries = [CanaryVerdicts(False, True)] * to_pass + [CanaryVerdicts(True, False)] * to_fail
    canaries += [CanaryVerdicts(True, True)] * (CANARIES - len(canaries))
    found = judge_drift(canaries)
    assert (found.canaries, found.to_pass, found.to_fail, found.flips) == (10, to_pass, to_fail, to_pass + to_fail)
    assert found.is_stale is is_stale


def test_the_p_of_five_flips() -> None:
    """Mid-p: 2 · 0.5⁵ less half of it."""
    assert judge_drift([CanaryVerdicts(False, True)] * 5).p == pytest.approx(0.5**5)
    assert judge_drift([]).p == 1


def test_the_least_number_of_flips() -> None:
    assert judge_drift([CanaryVerdicts(False, True)] * FLIPS_NEEDED).is_stale
    assert not judge_drift([CanaryVerdicts(False, True)] * (FLIPS_NEEDED - 1)).is_stale
