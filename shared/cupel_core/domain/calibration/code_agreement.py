"""Measures how far a judge's codes 1-5 agree with those of people."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.labellers import LabellerAgreement
from cupel_core.domain.calibration.labels import LabelledShare, WeightedOutcome, labelled_share

_MAX_LABELLERS = 10
"""More labels of one transcript are not compared."""


class CodePair(NamedTuple):
    """The judge's code of a transcript beside that of one person."""

    scenario: str
    judge: float
    label: float
    weight: float = 1.0
    """1/π, divided by the number of people who labelled the transcript."""


class PersonCode(NamedTuple):
    transcript: str
    scenario: str
    code: float | None
    """None if the person skipped the transcript."""


@dataclass(frozen=True)
class CodeAgreement:
    transcripts: int
    """Number of transcripts with a code of the judge and one of a person."""
    scenarios: int
    skipped: int
    undecided: int
    """Number of labelled transcripts without a code of the judge; no figure counts them."""
    agreement: LabelledShare | None = None
    """Share of people's codes that are the judge's, each transcript once."""
    kappa: float | None = None
    """Cohen's kappa with quadratic weights: an error of two codes counts four times that of one."""


def code_agreement(transcripts: int, skipped: int, undecided: int, pairs: Sequence[CodePair]) -> CodeAgreement:
    outcomes = [WeightedOutcome(each.scenario, each.judge == each.label, each.weight) for each in pairs]
    scenarios = len({each.scenario for each in pairs})
    return CodeAgreement(transcripts, scenarios, skipped, undecided, labelled_share(outcomes), quadratic_kappa(pairs))


def quadratic_kappa(pairs: Sequence[CodePair]) -> float | None:
    """Return 1 minus the mean squared difference, relative to that of independent codes with the same distributions;
    None if judge and people always say the same one code."""
    if not pairs:
        return None
    total = fsum(each.weight for each in pairs)

    def mean(values: Iterable[float]) -> float:
        return fsum(value * each.weight for value, each in zip(values, pairs, strict=True)) / total

    judge, label = mean(each.judge for each in pairs), mean(each.label for each in pairs)
    squares = mean((each.judge - judge) ** 2 for each in pairs) + mean((each.label - label) ** 2 for each in pairs)
    by_chance = squares + (judge - label) ** 2
    if not by_chance:
        return None
    return 1 - mean((each.judge - each.label) ** 2 for each in pairs) / by_chance


def coder_agreement(codes: Iterable[PersonCode]) -> LabellerAgreement:
    """Return how often two people give a transcript the same code."""
    by_transcript: defaultdict[str, list[PersonCode]] = defaultdict(list)
    for each in codes:
        if each.code is not None:
            by_transcript[each.transcript].append(each)
    outcomes, transcripts = list[WeightedOutcome](), 0
    for own in by_transcript.values():
        pairs = list(combinations(own[:_MAX_LABELLERS], 2))
        transcripts += bool(pairs)
        outcomes += [WeightedOutcome(one.scenario, one.code == other.code, 1 / len(pairs)) for one, other in pairs]
    return LabellerAgreement(transcripts, labelled_share(outcomes), ())
