"""How many labels an interval needs."""

from random import Random

import pytest

from cupel_core.domain.calibration.label_numbers import labels_needed
from tests.statistics.calibrations import JudgedSetting, judged_run, planned_half_widths

SETTING = JudgedSetting(60, 0.8, 0.9, 0.8, scenarios=600)
RUN = judged_run(SETTING, Random(1))
LABELS = RUN.drawn(60, Random(2))


def test_half_the_width_needs_more_than_four_times_the_labels() -> None:
    """The part of the variance that labels do not reduce stays."""
    wide, narrow = labels_needed(LABELS, RUN.verdicts, 0.1), labels_needed(LABELS, RUN.verdicts, 0.05)
    assert wide.labels is not None
    assert narrow.labels is not None
    assert 4 * wide.labels < narrow.labels < 8 * wide.labels


def test_labels_cannot_make_an_interval_as_narrow_as_wanted() -> None:
    found = labels_needed(LABELS, RUN.verdicts, 0.01)
    assert found.labels is None
    assert 0.02 < found.least_half_width < 0.05


def test_a_wide_interval_needs_the_least_number_of_labels() -> None:
    assert labels_needed(LABELS, RUN.verdicts, 0.4).labels == 20


def test_more_labels_than_scenarios_are_said() -> None:
    few = judged_run(JudgedSetting(40, 0.8, 0.6, 0.6, scenarios=60, repeats=10), Random(3))
    found = labels_needed(few.drawn(40, Random(4)), few.verdicts, 0.07)
    assert found.labels is not None
    assert found.has_repeats is (found.labels > 60)
    assert found.has_repeats


def test_the_planned_number_reaches_the_half_width() -> None:
    assert planned_half_widths(SETTING, 0.08, draws=10, seed=1) == pytest.approx(0.08, abs=0.012)


def test_labels_are_planned_without_any() -> None:
    """Half of each verdict's transcripts may be labelled pass, so more labels are needed than with some."""
    without, some = labels_needed([], RUN.verdicts, 0.08), labels_needed(LABELS, RUN.verdicts, 0.08)
    assert without.labels is not None
    assert some.labels is not None
    assert without.labels > some.labels
