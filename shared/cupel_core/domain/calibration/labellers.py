"""Measures how far people agree on labels, which is the most that a judge's agreement can mean, and combines labels."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from cupel_core.domain.calibration.judge_agreement import kappa_interval
from cupel_core.domain.calibration.labels import (
    LabelledShare,
    LabelledVerdict,
    WeightedOutcome,
    confusion_counts,
    labelled_share,
)
from cupel_core.domain.statistics import Interval

_MAX_LABELLERS = 10
"""More labels of one transcript are not compared."""
_MAX_PAIRS = 20
"""Only the pairs with the most common transcripts are reported, because each takes a bootstrap."""


class PersonLabel(NamedTuple):
    transcript: str
    scenario: str
    labeller: str
    label: bool | None
    """None if the labeller skipped the transcript."""
    is_first_pass: bool = True
    """True if the label was made without knowing of a conflict, and is not a resolution."""


class LabellerPair(NamedTuple):
    first: str
    second: str
    transcripts: int
    agreement: float
    kappa: float | None
    kappa_interval: Interval | None


class LabellerAgreement(NamedTuple):
    transcripts: int
    """Number of transcripts with first-pass labels of two or more people."""
    ceiling: LabelledShare | None
    """Share of pairs of first-pass labels that agree; None if nothing was labelled twice."""
    pairs: tuple[LabellerPair, ...]


def majority_label(labels: Iterable[bool | None]) -> bool | None:
    """Return what most labels say, skips left out; None for a tie, which a third person has to resolve."""
    votes = sum(1 if each else -1 for each in labels if each is not None)
    return None if votes == 0 else votes > 0


def labeller_agreement(labels: Iterable[PersonLabel]) -> LabellerAgreement:
    """Compare first-pass labels. Resolutions are left out: only conflicts are resolved, so they would show agreement
    where people disagreed."""
    by_transcript: defaultdict[str, dict[str, PersonLabel]] = defaultdict(dict)
    for each in labels:
        if each.is_first_pass and each.label is not None:
            by_transcript[each.transcript][each.labeller] = each
    outcomes: list[WeightedOutcome] = []
    by_pair: defaultdict[tuple[str, str], list[LabelledVerdict]] = defaultdict(list)
    transcripts = 0
    for own in by_transcript.values():
        pairs = list(combinations((own[labeller] for labeller in sorted(own)[:_MAX_LABELLERS]), 2))
        transcripts += bool(pairs)
        for one, other in pairs:
            outcomes.append(WeightedOutcome(one.scenario, one.label == other.label, 1 / len(pairs)))
            by_pair[one.labeller, other.labeller].append(LabelledVerdict(one.scenario, one.label, other.label))
    ceiling = labelled_share(outcomes)
    largest = sorted(by_pair, key=lambda names: (-len(by_pair[names]), names))[:_MAX_PAIRS]
    return LabellerAgreement(transcripts, ceiling, tuple(_pair(names, by_pair[names]) for names in sorted(largest)))


def _pair(names: tuple[str, str], labels: Sequence[LabelledVerdict]) -> LabellerPair:
    counts = confusion_counts(labels, is_weighted=False)
    return LabellerPair(*names, len(labels), counts.agreement, counts.kappa, kappa_interval(labels))
