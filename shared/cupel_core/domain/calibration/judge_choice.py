"""Chooses among judges on the same labels.

The best of several judges on some labels is partly the luckiest, so its accuracy on these labels is too high. Cross-fit
accuracy is free of that: the judge is chosen on four fifths of the scenarios and measured on the last fifth, in turn.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from cupel_core.domain.calibration.labels import LabelledShare, WeightedOutcome, labelled_share

MAX_JUDGES = 10
"""So many judges are compared at most."""
_FOLDS = 5
_REPEATS = 20
"""The division into folds is repeated, and the results averaged, because one division is left to chance."""


class JudgedLabel(NamedTuple):
    """A labelled transcript with the verdicts of all judges that are compared; an undecided one disagrees."""

    scenario: str
    label: bool
    verdicts: Mapping[str, bool | None]
    weight: float = 1.0


class JudgeChoice(NamedTuple):
    judge: str
    """The judge that agrees with most labels; of equal ones, the first by name."""
    compared: int
    accuracy: LabelledShare
    """Accuracy on the labels on which it was chosen, which is too high."""
    cross_fit_accuracy: LabelledShare
    """Accuracy of a judge that is chosen in this way."""


def choose_judge(labels: Sequence[JudgedLabel]) -> JudgeChoice:
    """Choose a judge; all labels must have verdicts of the same judges."""
    judges = sorted({judge for each in labels for judge in each.verdicts})
    if not judges or any(len(each.verdicts) < len(judges) for each in labels):
        raise ValueError("all labels need verdicts of the same judges")
    by_scenario: defaultdict[str, list[JudgedLabel]] = defaultdict(list)
    for each in labels:
        by_scenario[each.scenario].append(each)
    agreed = [_agreed_weights(own, judges) for _, own in sorted(by_scenario.items())]
    best = _best(agreed)
    outcomes = [
        WeightedOutcome(each.scenario, each.verdicts[judges[best]] is each.label, each.weight) for each in labels
    ]
    accuracy = labelled_share(outcomes)
    assert accuracy is not None  # noqa: S101 - there are labels
    share = accuracy.share if len(judges) == 1 else _cross_fit(agreed, fsum(each.weight for each in labels))
    return JudgeChoice(judges[best], len(judges), accuracy, accuracy._replace(share=share))


def _agreed_weights(labels: Sequence[JudgedLabel], judges: Sequence[str]) -> list[float]:
    """Return the weight of the labels that each judge agrees with."""
    return [fsum(each.weight for each in labels if each.verdicts[judge] is each.label) for judge in judges]


def _best(agreed: Sequence[Sequence[float]]) -> int:
    totals = [fsum(column) for column in zip(*agreed, strict=True)]
    return totals.index(max(totals))


def _cross_fit(agreed: Sequence[Sequence[float]], weight: float) -> float:
    rng, shares = Random(1), []  # noqa: S311 - reproducible, not secret
    order, folds = list(range(len(agreed))), min(_FOLDS, len(agreed))
    for _ in range(_REPEATS):
        rng.shuffle(order)
        held_out = [set(order[start::folds]) for start in range(folds)]
        total = 0.0
        for fold in held_out:
            best = _best([own for place, own in enumerate(agreed) if place not in fold] or agreed)
            total += fsum(agreed[place][best] for place in fold)
        shares.append(total / weight)
    return fsum(shares) / len(shares)
