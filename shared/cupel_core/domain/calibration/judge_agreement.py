"""Measures how far a judge agrees with the labels."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, sumprod
from random import Random

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.labels import (
    ConfusionCounts,
    LabelledShare,
    LabelledVerdict,
    WeightedOutcome,
    confusion_counts,
    labelled_share,
)
from cupel_core.domain.calibration.posteriors import central_interval
from cupel_core.domain.statistics import Interval

_DRAWS = 1_000
_MAX_KINDS = 100
"""Scenarios of more kinds are combined in this many groups at random, which bounds the work."""
_PRIOR = 0.5

type Property = Callable[[LabelledVerdict], object]


@dataclass(frozen=True)
class JudgeAgreement:
    """Figures of one judge on one set of labels. Shares and coefficients are weighted by 1/π.

    If nearly everything passes, read the predictive values first: a judge that always says "pass" then agrees with
    nearly all labels, and AC1 rewards it. `constant_accuracy` is what such a judge would reach.
    """

    labels: int
    """Number of labels that are pass or fail and whose verdict is decided."""
    scenarios: int
    skipped: int
    undecided: int
    """Number of labels on transcripts that the judge did not decide; no figure counts them."""
    counts: ConfusionCounts
    """Numbers of labels without weights."""
    agreement: LabelledShare | None = None
    kappa: float | None = None
    kappa_interval: Interval | None = None
    ac1: float | None = None
    judge_pass_rate: float | None = None
    label_pass_rate: float | None = None
    """The base rate."""
    constant_accuracy: float | None = None
    sensitivity: LabelledShare | None = None
    """Share of the labelled passes that the judge lets pass."""
    specificity: LabelledShare | None = None
    """Share of the labelled failures that the judge fails."""
    pass_predictive_value: LabelledShare | None = None
    """Share of the judge's passes whose label is pass."""
    fail_predictive_value: LabelledShare | None = None
    """Share of the judge's failures whose label is fail."""


def judge_agreement(labels: Sequence[LabelledVerdict], confidence: float = 0.95) -> JudgeAgreement:
    decided = [each for each in labels if each.judge is not None and each.label is not None]
    counts, skipped = confusion_counts(decided, is_weighted=False), sum(each.label is None for each in labels)
    scenarios = len({each.scenario for each in decided})
    undecided = len(labels) - len(decided) - skipped
    if not decided:
        return JudgeAgreement(0, 0, skipped, undecided, counts)
    weighted = confusion_counts(decided, is_weighted=True)
    base_rate = weighted.label_pass_rate

    def share(among: Property, holds: Property) -> LabelledShare | None:
        chosen = (each for each in decided if among(each))
        return labelled_share([WeightedOutcome(each.scenario, bool(holds(each)), each.weight) for each in chosen])

    return JudgeAgreement(
        labels=len(decided),
        scenarios=scenarios,
        skipped=skipped,
        undecided=undecided,
        counts=counts,
        agreement=share(lambda _: True, lambda each: each.judge == each.label),
        kappa=weighted.kappa,
        kappa_interval=kappa_interval(decided, confidence),
        ac1=weighted.ac1,
        judge_pass_rate=weighted.judge_pass_rate,
        label_pass_rate=base_rate,
        constant_accuracy=max(base_rate, 1 - base_rate),
        sensitivity=share(lambda each: each.label, lambda each: each.judge),
        specificity=share(lambda each: not each.label, lambda each: not each.judge),
        pass_predictive_value=share(lambda each: each.judge, lambda each: each.label),
        fail_predictive_value=share(lambda each: not each.judge, lambda each: not each.label),
    )


def kappa_interval(labels: Iterable[LabelledVerdict], confidence: float = 0.95) -> Interval | None:
    """Return an interval of the weighted kappa by a seeded bootstrap over scenarios; None if kappa is undefined.

    Scenarios get random weights instead of being drawn with replacement (Rubin's Bayesian bootstrap, 1981). Half a
    scenario is added for each of the four combinations of verdict and label (Jeffreys' prior); without it, labels that
    the judge always agrees with would have an interval of width zero.
    """
    by_scenario: defaultdict[str, list[LabelledVerdict]] = defaultdict(list)
    for each in labels:
        by_scenario[each.scenario].append(each)
    scenarios = [confusion_counts(each, is_weighted=True) for each in by_scenario.values()]
    whole = _added(Counter(scenarios))
    if not scenarios or whole.kappa is None:
        return None
    size = whole.total / len(scenarios)
    kinds = [(counts, float(times)) for counts, times in sorted(_kinds(scenarios).items())]
    kinds += [(ConfusionCounts(*(size * (cell == at) for cell in range(4))), _PRIOR) for at in range(4)]
    columns = [[counts[cell] for counts, _ in kinds] for cell in range(4)]
    source, drawn = Random(1), []  # noqa: S311 - reproducible, not secret
    for _ in range(_DRAWS):
        weights = [source.gammavariate(times, 1.0) for _, times in kinds]
        kappa = ConfusionCounts(*(sumprod(column, weights) for column in columns)).kappa
        if kappa is not None:
            drawn.append(kappa)
    return central_interval(sorted(drawn), whole.kappa, confidence)


def _kinds(scenarios: Sequence[ConfusionCounts]) -> Counter[ConfusionCounts]:
    kinds = Counter(scenarios)
    if len(kinds) <= _MAX_KINDS:
        return kinds
    shuffled = sorted(scenarios)
    Random(1).shuffle(shuffled)  # noqa: S311 - reproducible, not secret
    return Counter(_added(Counter(shuffled[start::_MAX_KINDS])) for start in range(_MAX_KINDS))


def _added(counts: Mapping[ConfusionCounts, int]) -> ConfusionCounts:
    return ConfusionCounts(*(fsum(each[cell] * times for each, times in counts.items()) for cell in range(4)))
