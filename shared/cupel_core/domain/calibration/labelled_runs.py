"""The labels of a run on one criterion, beside the verdicts of its judge: which of them count, and how much."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from cupel_core.domain.calibration.calibrations import Disagreement
from cupel_core.domain.calibration.labellers import PersonLabel, majority_label
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.labelling.judged_probes import JudgedProbe
from cupel_core.domain.labelling.label_sets import LabelSet, stratum_of
from cupel_core.domain.labelling.labels import Label, LabelVerdict
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.plan import Plan

_FIRST_PASS = 2
"""The first labels of a transcript; later ones resolve a conflict, and would show agreement where people disagreed."""


class LabelledRun:
    """Labels of other criteria, and of transcripts that a retry has replaced, are left out."""

    def __init__(
        self,
        run_id: str,
        plan: Plan,
        criterion: str,
        judged: Mapping[int, JudgedProbe],
        given: Iterable[Label],
        sets: Iterable[LabelSet] = (),
    ) -> None:
        self.run_id = run_id
        self.plan = plan
        self.criterion = criterion
        self.judged = judged
        self.sets = tuple(each for each in sets if each.criterion == criterion)
        self.unblind = 0
        """Labels that were made with a visible verdict."""
        self.blind = defaultdict[int, list[Label]](list)
        """Labels by probe that were given before the judge's verdict was shown."""
        for label in given:
            if label.criterion != criterion or not _is_of_transcript(label, judged.get(label.probe_index)):
                continue
            if label.blind_value is None:
                self.unblind += 1
            else:
                self.blind[label.probe_index].append(label)

    @cached_property
    def weights(self) -> Mapping[int, float]:
        """The weights of the labelled transcripts that count.

        Where all transcripts of a column are labelled, or no label set covers it, each counts once. Elsewhere the drawn
        ones count, with 1/π for the probability π that at least one of the label sets draws them.
        """
        left = {self.column(index) for index in self.judged.keys() - self.blind.keys()}
        covered = {column for each in self.sets for column in each.columns}
        weights = dict[int, float]()
        for index in self.blind:
            if self.column(index) not in covered & left:
                weights[index] = 1.0
            elif any(each.draw_of(index) for each in self.sets):
                weights[index] = 1 / self._probability(index)
        return weights

    def _probability(self, index: int) -> float:
        column = self.column(index)
        stratum = stratum_of(self.plan.columns[column].name, self.judged[index].verdict, self.criterion)
        return 1 - prod(1 - each.probability_of(index, column, stratum) for each in self.sets)

    @cached_property
    def _adjudicators(self) -> Mapping[int, str | None]:
        return {draw.probe_index: each.adjudicator for each in self.sets for draw in each.draws}

    def counted(self, index: int) -> Sequence[Label]:
        """Return the labels of the transcript that decide: the adjudicator's if there is one, or else all."""
        own = self.blind[index]
        return [label for label in own if label.labeller == self._adjudicators.get(index)] or own

    @cached_property
    def _decided(self) -> Mapping[int, bool | None]:
        """Return each transcript's label by its adjudicator, or else by most of its labellers."""
        return {
            index: majority_label(passed(label.counted_value) for label in self.counted(index))
            for index in self.weights
        }

    @cached_property
    def conflicts(self) -> Sequence[int]:
        """Probes on whose labels people disagree evenly."""
        return [index for index, label in self._decided.items() if label is None and _disagree(self.blind[index])]

    @cached_property
    def verdicts(self) -> Mapping[int, LabelledVerdict]:
        """The labelled transcripts by probe, without those on which people disagree evenly."""
        conflicts = frozenset(self.conflicts)
        return {
            index: LabelledVerdict(
                self.judged[index].scenario_id,
                passed(self.judged[index].verdict),
                label,
                weight=self.weights[index],
            )
            for index, label in self._decided.items()
            if index not in conflicts
        }

    @cached_property
    def column_verdicts(self) -> Mapping[int, Sequence[LabelledVerdict]]:
        by_column = defaultdict[int, list[LabelledVerdict]](list)
        for index, verdict in self.verdicts.items():
            by_column[self.column(index)].append(verdict)
        return by_column

    @cached_property
    def scenario_verdicts(self) -> Mapping[int, Sequence[ScenarioVerdicts]]:
        """The judge's verdicts on all transcripts, labelled or not, by column."""
        counts = defaultdict[tuple[int, str], Counter[bool | None]](Counter)
        for index, each in self.judged.items():
            counts[self.column(index), each.scenario_id][passed(each.verdict)] += 1
        by_column = defaultdict[int, list[ScenarioVerdicts]](list)
        for (column, scenario), own in counts.items():
            by_column[column].append(ScenarioVerdicts(scenario, own[True], own[False], own[None]))
        return by_column

    def first_pass(self) -> Iterator[tuple[int, Label, bool]]:
        """Yield each label with its probe, and whether it was made without knowing of a conflict."""
        for index, own in self.blind.items():
            for place, label in enumerate(sorted(own, key=lambda each: each.created_at)):
                yield index, label, place < _FIRST_PASS

    def people(self) -> Iterator[PersonLabel]:
        for index, label, is_first in self.first_pass():
            scenario = self.judged[index].scenario_id
            yield PersonLabel(str(index), scenario, label.labeller, passed(label.counted_value), is_first)

    def disagreements(self) -> Iterator[Disagreement]:
        for index, each in sorted(self.verdicts.items()):
            if each.judge is not None and each.label is not None and each.judge != each.label:
                verdict, label = LabelVerdict.of(each.judge), LabelVerdict.of(each.label)
                yield Disagreement(transcript_id(self.run_id, index), verdict, label)

    def column(self, index: int) -> int:
        return self.plan.probe(index).column


def passed(value: str | None) -> bool | None:
    return None if value is None else value == LabelVerdict.PASSED


def _is_of_transcript(label: Label, judged: JudgedProbe | None) -> bool:
    return judged is not None and judged.retry_round == label.retry_round


def _disagree(own: Sequence[Label]) -> bool:
    return len({label.counted_value for label in own} - {None}) > 1
