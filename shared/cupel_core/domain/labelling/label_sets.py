"""Label sets: transcripts that were drawn at random for labelling, each with the probability of its draw."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Annotated, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import ROW
from cupel_core.domain.labelling.labels import DECISION, Label, LabelVerdict

MAX_DRAWS = 2_000
DEFAULT_DRAWS = 60
MAX_INSTRUCTIONS_LENGTH = 10_000
_LEAST_HIGH_CODE = "3"


class LabelStratum(NamedTuple):
    """A group of transcripts by the judge's verdict. It was fixed before anybody saw a label."""

    name: str
    population: int
    drawn: int


class Draw(NamedTuple):
    probe_index: int
    probability: float
    """The probability with which this transcript was drawn."""
    stratum: int
    """Position in `strata`."""
    is_doubled: bool = False
    """True if a second person is to label it, too."""


@dataclass(frozen=True)
class LabelSet:
    run_id: str
    id: str
    criterion: str
    seed: int
    created_at: datetime
    created_by: str
    draws: tuple[Annotated[Draw, ROW], ...]
    """The drawn transcripts in the order in which people label them, which is random."""
    strata: tuple[Annotated[LabelStratum, ROW], ...] = ()
    rescore_id: str | None = None
    """The rescore whose verdicts the strata are of; None for the run's own scoring."""
    instructions: str | None = None
    """Tells labellers when a transcript passes."""
    adjudicator: str | None = None
    """The labeller whose labels count where several people have labelled a transcript; None for the majority."""
    columns: tuple[int, ...] = ()
    """The columns of the run that the transcripts were drawn from."""

    def draw_of(self, probe_index: int) -> Draw | None:
        return self._by_index.get(probe_index)

    @cached_property
    def _by_index(self) -> Mapping[int, Draw]:
        return {draw.probe_index: draw for draw in self.draws}

    @cached_property
    def _stratum_by_name(self) -> Mapping[str, LabelStratum]:
        return {stratum.name: stratum for stratum in self.strata}

    def probability_of(self, probe_index: int, column: int, stratum: str) -> float:
        """Return the probability with which the set draws this transcript. If it did not, this is the mean of the
        transcripts of the stratum."""
        if (draw := self.draw_of(probe_index)) is not None:
            return draw.probability
        of_stratum = self._stratum_by_name.get(stratum)
        if column not in self.columns or of_stratum is None:
            return 0.0
        return of_stratum.drawn / of_stratum.population


@dataclass(frozen=True)
class LabelSetProgress:
    """Counts how far a label set is labelled."""

    labelled: int
    """Transcripts with at least one label that is not a skip."""
    skipped: int
    """Transcripts of which every label is a skip."""
    doubled: int
    """Transcripts with labels of two people or more."""
    by_labeller: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, label_set: LabelSet, labels: Iterable[Label]) -> "LabelSetProgress":
        by_probe: dict[int, list[Label]] = {}
        by_labeller: dict[str, int] = {}
        drawn = {draw.probe_index for draw in label_set.draws}
        for label in labels:
            if _is_verdict(label, label_set) and label.probe_index in drawn:
                by_probe.setdefault(label.probe_index, []).append(label)
                by_labeller[label.labeller] = by_labeller.get(label.labeller, 0) + 1
        skipped = sum(_are_skips(each) for each in by_probe.values())
        doubled = sum(len(each) > 1 for each in by_probe.values())
        return cls(len(by_probe) - skipped, skipped, doubled, dict(sorted(by_labeller.items())))


def _is_verdict(label: Label, label_set: LabelSet) -> bool:
    return label.value is not None and label.criterion == label_set.criterion


def _are_skips(labels: Collection[Label]) -> bool:
    return all(label.value == LabelVerdict.SKIPPED for label in labels)


def queue_of(label_set: LabelSet, labels: Iterable[Label], labeller: str) -> list[int]:
    """Return the transcripts that this person is to label next, in the order of the set.

    Transcripts without a label come first. Those that need a second label follow, then those on which people disagree
    evenly, unless this person has labelled them.
    """
    own, by_probe = set[int](), dict[int, dict[str, str | None]]()
    for label in labels:
        if _is_verdict(label, label_set):
            by_probe.setdefault(label.probe_index, {})[label.labeller] = label.value
            if label.labeller == labeller:
                own.add(label.probe_index)
    left = [draw for draw in label_set.draws if draw.probe_index not in own]
    unlabelled = [draw.probe_index for draw in left if draw.probe_index not in by_probe]
    second = [draw.probe_index for draw in left if draw.is_doubled and len(by_probe.get(draw.probe_index, ())) == 1]
    conflicts = [draw.probe_index for draw in left if is_tie(by_probe.get(draw.probe_index, {}).values())]
    return unlabelled + second + conflicts


def is_tie(values: Iterable[str | None]) -> bool:
    """Return whether as many people say pass as say fail, and somebody does."""
    counted = Counter(values)
    return counted[LabelVerdict.PASSED] == counted[LabelVerdict.FAILED] > 0


def is_positive(verdict: str | None, criterion: str) -> bool | None:
    """Return whether the judge let a transcript pass; for codes, whether its code is at least 3."""
    if verdict is None:
        return None
    return verdict >= _LEAST_HIGH_CODE if criterion == DECISION else verdict == LabelVerdict.PASSED


def stratum_of(target: str, verdict: str | None, criterion: str) -> str:
    """Return the name of the group of transcripts that one is drawn from."""
    judge = is_positive(verdict, criterion)
    if judge is None:
        return f"{target}: undecided"
    if criterion == DECISION:
        return f"{target}: codes 3 to 5" if judge else f"{target}: codes 1 and 2"
    return f"{target}: {'passed' if judge else 'failed'}"
