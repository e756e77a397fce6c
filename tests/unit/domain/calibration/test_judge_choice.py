"""The choice among judges."""

from random import Random

import pytest

from cupel_core.domain.calibration.judge_choice import JudgedLabel, choose_judge
from tests.statistics.calibrations import chosen_accuracies


def test_the_judge_that_agrees_most_is_chosen() -> None:
    labels = [
        JudgedLabel(str(n), n % 2 == 0, {"good": (n % 2 == 0) == (n % 10 > 0), "bad": True, "mute": None})
        for n in range(100)
    ]
    found = choose_judge(labels)
    assert (found.judge, found.compared) == ("good", 3)
    assert found.accuracy.share == pytest.approx(0.9)
    assert found.cross_fit_accuracy.share == pytest.approx(0.9)


def test_one_judge_is_no_choice() -> None:
    found = choose_judge([JudgedLabel(str(n), True, {"only": n > 0}) for n in range(10)])
    assert found.accuracy == found.cross_fit_accuracy


def test_the_best_of_equal_judges_seems_better_than_it_is() -> None:
    seeming, cross_fit = chosen_accuracies(judges=5, labels=60, draws=20, seed=1)
    assert seeming > 0.83
    assert cross_fit == pytest.approx(0.8, abs=0.03)


def test_the_order_of_labels_does_not_matter() -> None:
    rng = Random(2)
    labels = [
        JudgedLabel(str(n), rng.random() < 0.7, {"a": rng.random() < 0.7, "b": rng.random() < 0.6}) for n in range(40)
    ]
    assert choose_judge(labels) == choose_judge(labels[::-1])


def test_all_labels_need_all_judges() -> None:
    with pytest.raises(ValueError, match="same judges"):
        choose_judge([JudgedLabel("1", True, {"a": True, "b": True}), JudgedLabel("2", True, {"a": True})])
    with pytest.raises(ValueError, match="same judges"):
        choose_judge([])
