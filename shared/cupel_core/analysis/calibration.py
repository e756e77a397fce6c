"""Measures the graders of a run on the labels of people, and corrects their pass rates."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import prod

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.calibrations import Calibration, ColumnCalibration, Disagreement
from cupel_core.domain.calibration.corrected_rates import corrected_pass_rate, skip_bounds
from cupel_core.domain.calibration.judge_agreement import judge_agreement
from cupel_core.domain.calibration.labellers import PersonLabel, labeller_agreement, majority_label
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.labelling.label_sets import LabelSet, stratum_of
from cupel_core.domain.labelling.labels import DECISION, Label, LabelVerdict
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.run import Run
from cupel_core.store import judge_verdicts, label_sets, labels, rescores, runs
from cupel_core.store.judge_verdicts import MAX_PROBES, JudgedProbe

MAX_DISAGREEMENTS = 100
_FIRST_PASS = 2
"""The first labels of a transcript; later ones resolve a conflict, and would show agreement where people disagreed."""


def calibrate(
    workspace: str, run_id: str, criterion: str, rescore_id: str | None, bound_confidence: float = 0.95
) -> Calibration:
    """Compare the verdicts on a criterion with the labels. Raise NotFound for an unknown run or rescore, and Invalid
    for a run that is too large and for the criterion `decision`."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    judge = run.grader_config.judge_model
    if rescore_id is not None:
        judge = rescores.get(ref, rescore_id).config.grader_config(run.grader_config).judge_model
    if criterion == DECISION:
        raise Invalid.field("criterion", "must be `result` or the name of a check: codes have no pass rate")
    if run.plan.total > MAX_PROBES:
        raise Invalid(f"a calibration reads all verdicts of a run of at most {MAX_PROBES:,} probes: {run.plan.total:,}")
    judged = {
        each.probe_index: each for each in judge_verdicts.list_of_run(ref, criterion, range(run.plan.total), rescore_id)
    }
    given = [
        label
        for label in labels.list_of_run(ref)
        if label.criterion == criterion and _is_of_transcript(label, judged.get(label.probe_index))
    ]
    sets = [each for each in label_sets.list_of_run(ref) if each.criterion == criterion]
    labelled = _LabelledRun(run, criterion, judged, given, sets)
    return Calibration(
        run=run,
        criterion=criterion,
        rescore_id=rescore_id,
        judge_model=judge,
        columns=tuple(labelled.columns(bound_confidence)),
        people=labeller_agreement(labelled.people()),
        disagreements=tuple(islice(labelled.disagreements(), MAX_DISAGREEMENTS)),
        unblind=sum(label.blind_value is None for label in given),
        conflicts=tuple(transcript_id(run.id, index) for index in islice(labelled.conflicts, MAX_DISAGREEMENTS)),
        ignored=len(labelled.blind) - len(labelled.weights),
        is_drawn=bool(sets),
    )


def _is_of_transcript(label: Label, judged: JudgedProbe | None) -> bool:
    """Return whether the label is of the present transcript, and not of one that a retry has replaced."""
    return judged is not None and judged.retry_round == label.retry_round


class _LabelledRun:
    """The verdicts and labels of a run on one criterion."""

    def __init__(
        self,
        run: Run,
        criterion: str,
        judged: Mapping[int, JudgedProbe],
        given: Iterable[Label],
        sets: Sequence[LabelSet],
    ) -> None:
        self._run = run
        self._criterion = criterion
        self._judged = judged
        self._sets = sets
        self.blind = defaultdict[int, list[Label]](list)
        """Labels by probe that were given before the judge's verdict was shown."""
        for label in given:
            if label.blind_value is not None:
                self.blind[label.probe_index].append(label)

    @cached_property
    def weights(self) -> Mapping[int, float]:
        """The weights of the labelled transcripts that count.

        Where all transcripts of a column are labelled, or no label set covers it, each counts once. Elsewhere the drawn
        ones count, with 1/π for the probability π that at least one of the label sets draws them.
        """
        left = {self._column(index) for index in self._judged.keys() - self.blind.keys()}
        covered = {column for each in self._sets for column in each.columns}
        weights = dict[int, float]()
        for index in self.blind:
            if self._column(index) not in covered & left:
                weights[index] = 1.0
            elif any(each.draw_of(index) for each in self._sets):
                weights[index] = 1 / self._probability(index)
        return weights

    def _probability(self, index: int) -> float:
        column = self._column(index)
        stratum = stratum_of(self._run.plan.columns[column].name, self._judged[index].verdict, self._criterion)
        return 1 - prod(1 - each.probability_of(index, column, stratum) for each in self._sets)

    @cached_property
    def _decided(self) -> Mapping[int, bool | None]:
        """Return each transcript's label by its adjudicator, or else by most of its labellers."""
        adjudicators = {draw.probe_index: each.adjudicator for each in self._sets for draw in each.draws}
        return {index: _people_say(self.blind[index], adjudicators.get(index)) for index in self.weights}

    @cached_property
    def conflicts(self) -> Sequence[int]:
        """Probes on whose labels people disagree evenly."""
        return [index for index, label in self._decided.items() if label is None and _disagree(self.blind[index])]

    @cached_property
    def _verdicts(self) -> Mapping[int, LabelledVerdict]:
        conflicts = frozenset(self.conflicts)
        return {
            index: LabelledVerdict(
                self._judged[index].scenario_id,
                _passed(self._judged[index].verdict),
                label,
                weight=self.weights[index],
            )
            for index, label in self._decided.items()
            if index not in conflicts
        }

    def columns(self, bound_confidence: float) -> Iterator[ColumnCalibration]:
        by_column = defaultdict[int, list[LabelledVerdict]](list)
        for index, verdict in self._verdicts.items():
            by_column[self._column(index)].append(verdict)
        scenarios = self._scenario_verdicts()
        for column, own in sorted(by_column.items()):
            yield ColumnCalibration(
                self._run.plan.columns[column],
                judge_agreement(own),
                corrected_pass_rate(own, scenarios[column], bound_confidence=bound_confidence),
                skip_bounds(own, scenarios[column]),
            )

    def _scenario_verdicts(self) -> Mapping[int, list[ScenarioVerdicts]]:
        counts = defaultdict[tuple[int, str], Counter[bool | None]](Counter)
        for index, each in self._judged.items():
            counts[self._column(index), each.scenario_id][_passed(each.verdict)] += 1
        by_column = defaultdict[int, list[ScenarioVerdicts]](list)
        for (column, scenario), own in counts.items():
            by_column[column].append(ScenarioVerdicts(scenario, own[True], own[False], own[None]))
        return by_column

    def people(self) -> Iterator[PersonLabel]:
        for index, own in self.blind.items():
            for place, label in enumerate(sorted(own, key=lambda each: each.created_at)):
                yield PersonLabel(
                    str(index),
                    self._judged[index].scenario_id,
                    label.labeller,
                    _passed(label.counted_value),
                    is_first_pass=place < _FIRST_PASS,
                )

    def disagreements(self) -> Iterator[Disagreement]:
        for index, each in sorted(self._verdicts.items()):
            if each.judge is not None and each.label is not None and each.judge != each.label:
                verdict, label = LabelVerdict.of(each.judge), LabelVerdict.of(each.label)
                yield Disagreement(transcript_id(self._run.id, index), verdict, label)

    def _column(self, index: int) -> int:
        return self._run.plan.probe(index).column


def _people_say(own: Sequence[Label], adjudicator: str | None) -> bool | None:
    """Return what the people say: the adjudicator if there is a label of theirs, or else the majority."""
    chosen = [label for label in own if label.labeller == adjudicator] or own
    return majority_label(_passed(label.counted_value) for label in chosen)


def _disagree(own: Sequence[Label]) -> bool:
    return len({label.counted_value for label in own} - {None}) > 1


def _passed(value: str | None) -> bool | None:
    return None if value is None else value == LabelVerdict.PASSED
