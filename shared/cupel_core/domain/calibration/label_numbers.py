"""Plans how many labels an interval of a wanted width needs, from the labels that there are."""

from collections.abc import Iterable, Sequence
from math import ceil, fsum
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import normal_quantile
from cupel_core.domain.calibration.corrected_rates import MIN_LABELLED_SCENARIOS, rate_variance
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.calibration.sampling_plans import planned_shares
from cupel_core.domain.runs.plan import Column


class LabelPlan(NamedTuple):
    labels: int | None
    """Number of labels in all; None if even labels of all transcripts leave a wider interval."""
    least_half_width: float
    """Half-width that labels of all transcripts would leave; only more scenarios make it smaller."""
    has_repeats: bool
    """True if there are fewer scenarios than labels, so that scenarios need several labels."""


class ColumnLabelPlan(NamedTuple):
    column: Column
    plan: LabelPlan


def labels_needed(
    labels: Iterable[LabelledVerdict],
    verdicts: Sequence[ScenarioVerdicts],
    half_width: float,
    confidence: float = 0.95,
) -> LabelPlan:
    """Return the number of labels, drawn as `draw_for_labelling` does, for an interval of ± `half_width`.

    The number should be planned before labelling. Whoever stops as soon as a gate passes looks repeatedly, which lets
    gates pass too often.
    """
    variance, transcripts = rate_variance(labels, verdicts), sum(each.transcripts for each in verdicts)
    shares, z = planned_shares(variance.shares), normal_quantile((1 + confidence) / 2)
    of_one = fsum(of_label / shares[verdict] for verdict, of_label in variance.of_labels.items())
    of_all = fsum(
        of_label / (variance.shares[verdict] * transcripts) for verdict, of_label in variance.of_labels.items()
    )
    least = z * (variance.of_verdicts + of_all) ** 0.5
    if half_width < least:
        return LabelPlan(None, least, False)
    left = (half_width / z) ** 2 - variance.of_verdicts
    number = min(transcripts, max(MIN_LABELLED_SCENARIOS, ceil(of_one / left)))
    return LabelPlan(number, least, number > len(verdicts))
