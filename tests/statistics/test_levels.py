"""How often tests are wrong and intervals miss, by simulation. The figures are in docs/statistics.md.

`make statistics` runs them; with ` -s` they print their figures.
"""

from random import Random

import pytest

from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from tests.statistics.simulations import Setting, decision_row, latent_effect, mean_difference, pass_row, share

TRIALS = 2_000
"""The standard error of a share of 0.05 is 0.005."""
MORE_TRIALS = 10_000
"""The standard error is 0.002."""


@pytest.mark.parametrize("noise", [0.5, 1.0])
@pytest.mark.parametrize(("scenarios", "repeats"), [(5, 1), (8, 1), (12, 3), (20, 1), (50, 3)])
def test_equal_models_are_rarely_called_different(scenarios: int, repeats: int, noise: float):
    setting = Setting(scenarios, repeats, noise)
    trials = MORE_TRIALS if scenarios < 15 else TRIALS
    wrong = share(trials, 1, lambda rng: (decision_row(setting, rng).estimate.p or 1) < 0.05)
    print(f"false positives, decisions: {setting}: {wrong:.3f}")
    assert wrong <= 0.065


@pytest.mark.parametrize(("scenarios", "repeats"), [(10, 1), (40, 1), (200, 1), (20, 3)])
def test_equal_pass_rates_are_rarely_called_different(scenarios: int, repeats: int):
    wrong = share(TRIALS, 2, lambda rng: (pass_row(scenarios, repeats, rng).estimate.p or 1) < 0.05)
    print(f"false positives, pass rates: {scenarios} scenarios, {repeats} repeats: {wrong:.3f}")
    assert wrong <= 0.065


@pytest.mark.parametrize(("scenarios", "repeats"), [(12, 1), (30, 1), (100, 3)])
def test_the_interval_covers_the_true_difference(scenarios: int, repeats: int):
    setting = Setting(scenarios, repeats, effect=0.4)
    true = mean_difference(setting)

    def covers(rng: Random) -> bool:
        interval = decision_row(setting, rng).estimate.interval
        return interval is not None and interval.low <= true <= interval.high

    covered = share(TRIALS, 4, covers)
    print(f"coverage: {setting}: {covered:.3f}")
    assert 0.93 <= covered <= 0.97


def test_the_minimum_detectable_effect_is_detected_in_four_of_five_comparisons():
    """The effect is set to the average detectable effect of such comparisons."""
    setting = Setting(60)
    rng = Random(5)
    detectable = [decision_row(setting, rng).detectable_effect or 0.0 for _ in range(300)]
    effect = sum(detectable) / len(detectable)
    shifted = setting._replace(effect=latent_effect(setting, effect))
    found = share(TRIALS, 6, lambda rng: (decision_row(shifted, rng).estimate.p or 1) < 0.05)
    print(f"power at the minimum detectable effect: {found:.3f}")
    assert 0.75 <= found <= 0.87


def test_a_difference_as_large_as_the_margin_is_rarely_called_equivalent():
    setting = Setting(100)
    shifted = setting._replace(effect=latent_effect(setting, 0.25))
    wrong = share(MORE_TRIALS, 8, lambda rng: decision_row(shifted, rng).verdict is ComparisonVerdict.EQUIVALENT)
    print(f"equivalent at the margin: {wrong:.4f}")
    assert wrong <= 0.055
