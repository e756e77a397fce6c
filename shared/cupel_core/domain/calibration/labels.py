"""Labelled verdicts, and how many independent labels they are worth.

Labels of one scenario resemble each other, and labels that were drawn with unequal probabilities have unequal weights.
Both make them worth fewer independent labels.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple

from cupel_core.domain.statistics import Interval, design_effect, share_interval, shrunken_correlation


class LabelledVerdict(NamedTuple):
    """A judge's verdict on one transcript, and the label of a person or of the majority of several."""

    scenario: str
    judge: bool | None
    """True if the judge let it pass; None if the judge was undecided."""
    label: bool | None
    """True if the label is "pass"; None if the transcript was skipped."""
    target: str = ""
    weight: float = 1.0
    """1/π, where π is the probability with which the transcript was drawn."""


class ScenarioVerdicts(NamedTuple):
    """Counts of the judge's verdicts on all transcripts of one scenario and target, whether labelled or not."""

    scenario: str
    passed: int
    failed: int
    undecided: int = 0
    target: str = ""

    @property
    def transcripts(self) -> int:
        return self.passed + self.failed + self.undecided

    def count(self, judge: bool | None) -> int:
        return self.undecided if judge is None else self.passed if judge else self.failed


class ConfusionCounts(NamedTuple):
    """Numbers, or sums of weights, of labelled verdicts on which the judge decided."""

    both_passed: float = 0.0
    only_judge_passed: float = 0.0
    only_label_passed: float = 0.0
    both_failed: float = 0.0

    @property
    def total(self) -> float:
        return fsum(self)

    @property
    def agreement(self) -> float:
        return (self.both_passed + self.both_failed) / self.total

    @property
    def judge_pass_rate(self) -> float:
        return (self.both_passed + self.only_judge_passed) / self.total

    @property
    def label_pass_rate(self) -> float:
        return (self.both_passed + self.only_label_passed) / self.total

    @property
    def kappa(self) -> float | None:
        """Return Cohen's kappa; None if judge and labels always say the same one thing, which chance explains."""
        judge, label = self.judge_pass_rate, self.label_pass_rate
        expected = judge * label + (1 - judge) * (1 - label)
        return None if expected >= 1 - _TINY else (self.agreement - expected) / (1 - expected)

    @property
    def ac1(self) -> float:
        """Return Gwet's first-order coefficient. It rewards a judge that always says the same, so it never stands
        alone."""
        passed = (self.judge_pass_rate + self.label_pass_rate) / 2
        by_chance = 2 * passed * (1 - passed)
        return (self.agreement - by_chance) / (1 - by_chance)


def confusion_counts(labels: Iterable[LabelledVerdict], *, is_weighted: bool) -> ConfusionCounts:
    """Count the labels, or add their weights; skipped transcripts and undecided verdicts are left out."""
    sums: defaultdict[tuple[bool, bool], list[float]] = defaultdict(list)
    for each in labels:
        if each.judge is not None and each.label is not None:
            sums[each.judge, each.label].append(each.weight if is_weighted else 1.0)
    cells = ((True, True), (True, False), (False, True), (False, False))
    return ConfusionCounts(*(fsum(sums[cell]) for cell in cells))


class WeightedOutcome(NamedTuple):
    scenario: str
    value: bool
    weight: float


class LabelledShare(NamedTuple):
    """A share among labels, such as a sensitivity."""

    share: float
    labels: int
    effective_labels: float
    """Number of independent labels with equal weights that would say as much."""
    scenarios: int

    @property
    def successes(self) -> float:
        return self.share * self.effective_labels

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return Wilson's interval with the effective number of labels and Student's t."""
        return share_interval(self.share, self.effective_labels, self.scenarios, confidence)

    @property
    def interval_95(self) -> Interval:
        return self.interval()


def labelled_share(outcomes: Sequence[WeightedOutcome]) -> LabelledShare | None:
    """Return the weighted share of outcomes that hold; None without any."""
    if not outcomes:
        return None
    total = fsum(each.weight for each in outcomes)
    share = fsum(each.weight for each in outcomes if each.value) / total
    effective = total * total / fsum(each.weight**2 for each in outcomes)
    scenarios = Counter(each.scenario for each in outcomes)
    deviations = ((each.scenario, each.weight * (each.value - share) / total) for each in outcomes)
    effect = cluster_effect(scenarios, deviations, share * (1 - share) / effective, share * (1 - share))
    return LabelledShare(share, len(outcomes), effective / effect, len(scenarios))


def cluster_effect(
    sizes: Counter[str], influences: Iterable[tuple[str, float]], independent: float, variance: float
) -> float:
    """Return the factor by which labels that share scenarios have a larger variance than independent ones.

    `influences` are the labels' contributions to the error of an estimate, `independent` is the variance that the
    estimate would have if they were independent, and `variance` that of one label. The correlation within scenarios is
    estimated with two further scenarios of correlation 1, as for repeats (`shrunken_correlation`).
    """
    labels = sizes.total()
    if labels == len(sizes):
        return 1.0
    size = sum(number * number for number in sizes.values()) / labels
    sums: defaultdict[str, float] = defaultdict(float)
    for scenario, influence in influences:
        sums[scenario] += influence
    clustered = fsum(each * each for each in sums.values()) * len(sums) / max(1, len(sums) - 1)
    if not independent:
        return design_effect(1.0, size)
    clusters = labels / size
    scaled = variance * clustered / independent / labels
    return design_effect(shrunken_correlation(variance, scaled, round(clusters), labels / round(clusters)), size)


_TINY = 1e-12
