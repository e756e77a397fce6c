"""The labels of a run on one criterion, beside the verdicts of its judge: which of them count, and how much."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
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
"""The first labels of a transcript, as many as this, are its first pass, with those that were stored at the same time.
Later ones resolve a conflict, and would show agreement where people disagreed."""


class LabelledRun:
    """Labels of other criteria, comments, and labels of transcripts that a retry has replaced, are left out."""

    def __init__(
        self,
        run_id: str,
        plan: Plan,
        criterion: str,
        judged: Mapping[int, JudgedProbe],
        given: Iterable[Label],
        sets: Iterable[LabelSet] = (),
        verdicts_of_sets: Mapping[str | None, Mapping[int, str | None]] | None = None,
    ) -> None:
        """`verdicts_of_sets` are the verdicts by which transcripts were drawn, if those are not `judged`, by the
        `rescore_id` of the label sets and by probe."""
        self.run_id = run_id
        self.plan = plan
        self.criterion = criterion
        self.judged = judged
        self.sets = tuple(each for each in sets if each.criterion == criterion)
        self._verdicts_of_sets = verdicts_of_sets or {}
        self.unblind = 0
        """Labels that were made with a visible verdict."""
        self.blind = defaultdict[int, list[Label]](list)
        """Labels by probe that were given before the judge's verdict was shown."""
        for label in given:
            if label.criterion != criterion or label.value is None:
                continue
            if not _is_of_transcript(label, judged.get(label.probe_index)):
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
        return 1 - prod(1 - each.probability_of(index, column, self._stratum(each, index)) for each in self.sets)

    def _stratum(self, label_set: LabelSet, index: int) -> str:
        """Return the stratum of the transcript by the verdicts of the judge by which the set was drawn."""
        verdicts = self._verdicts_of_sets.get(label_set.rescore_id)
        verdict = self.judged[index].verdict if verdicts is None else verdicts.get(index)
        return stratum_of(self.plan.columns[self.column(index)].name, verdict, self.criterion)

    @property
    def is_drawn(self) -> bool:
        """True if a label set covers each column that has labels."""
        covered = {column for each in self.sets for column in each.columns}
        return bool(self.sets) and {self.column(index) for index in self.blind} <= covered

    @cached_property
    def _adjudicators(self) -> Mapping[int, AbstractSet[str]]:
        found = defaultdict[int, set[str]](set)
        for label_set in self.sets:
            if label_set.adjudicator is not None:
                for draw in label_set.draws:
                    found[draw.probe_index].add(label_set.adjudicator)
        return found

    def _is_adjudicated(self, index: int, label: Label) -> bool:
        return label.labeller in self._adjudicators.get(index, ())

    def counted(self, index: int) -> Sequence[Label]:
        """Return the labels of the transcript that decide: those of adjudicators if there are any, or else all."""
        own = self.blind[index]
        return [label for label in own if self._is_adjudicated(index, label)] or own

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
            times = sorted(label.created_at for label in own if not self._is_adjudicated(index, label))
            last = times[:_FIRST_PASS][-1] if times else None
            for label in sorted(own, key=lambda each: each.created_at):
                is_adjudicated = len(own) > _FIRST_PASS and self._is_adjudicated(index, label)
                yield index, label, not is_adjudicated and (last is None or label.created_at <= last)

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
