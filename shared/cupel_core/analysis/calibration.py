"""Measures the graders of a run on the labels of people, and corrects their pass rates."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
from cupel_core.store.judge_verdicts import JudgedProbe

MAX_PROBES = 20_000
"""A calibration reads the verdicts of all transcripts; those of more probes take longer than a request may."""
MAX_DISAGREEMENTS = 100
_FIRST_PASS = 2
"""The first labels of a transcript; later ones resolve a conflict, and would show agreement where people disagreed."""


def calibrate(workspace: str, run_id: str, criterion: str, rescore_id: str | None) -> Calibration:
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
    return _calibration(run, criterion, rescore_id, judge, judged, given, sets)


def _is_of_transcript(label: Label, judged: JudgedProbe | None) -> bool:
    """Return whether the label is of the present transcript, and not of one that a retry has replaced."""
    return judged is not None and judged.retry_round == label.retry_round


def _calibration(
    run: Run,
    criterion: str,
    rescore_id: str | None,
    judge_model: str | None,
    judged: Mapping[int, JudgedProbe],
    given: Sequence[Label],
    sets: Sequence[LabelSet],
) -> Calibration:
    by_probe = defaultdict[int, list[Label]](list)
    for label in given:
        if label.blind_value is not None:
            by_probe[label.probe_index].append(label)
    weights = _weights(run, criterion, judged, by_probe, sets)
    adjudicators = {draw.probe_index: each.adjudicator for each in sets for draw in each.draws}
    decided = {index: _decided(by_probe[index], adjudicators.get(index)) for index in weights}
    conflicts = [index for index in weights if decided[index] is None and _is_conflict(by_probe[index])]
    verdicts = {
        index: LabelledVerdict(
            judged[index].scenario_id, _passed(judged[index].verdict), decided[index], weight=weights[index]
        )
        for index in weights
        if index not in conflicts
    }
    by_column = defaultdict[int, list[LabelledVerdict]](list)
    for index, verdict in verdicts.items():
        by_column[run.plan.probe(index).column].append(verdict)
    scenarios = _scenario_verdicts(run, judged.values())
    people = [
        PersonLabel(
            str(index),
            judged[index].scenario_id,
            label.labeller,
            _passed(label.counted_value),
            is_first_pass=place < _FIRST_PASS,
        )
        for index, own in by_probe.items()
        for place, label in enumerate(sorted(own, key=lambda each: each.created_at))
    ]
    return Calibration(
        run=run,
        criterion=criterion,
        rescore_id=rescore_id,
        judge_model=judge_model,
        columns=tuple(
            ColumnCalibration(
                run.plan.columns[column],
                judge_agreement(own),
                corrected_pass_rate(own, scenarios[column]),
                skip_bounds(own, scenarios[column]),
            )
            for column, own in sorted(by_column.items())
        ),
        people=labeller_agreement(people),
        disagreements=tuple(_disagreements(run, verdicts)),
        unblind=sum(label.blind_value is None for label in given),
        conflicts=tuple(transcript_id(run.id, index) for index in conflicts[:MAX_DISAGREEMENTS]),
        ignored=len(by_probe) - len(weights),
        is_drawn=bool(sets),
    )


def _weights(
    run: Run,
    criterion: str,
    judged: Mapping[int, JudgedProbe],
    by_probe: Mapping[int, Sequence[Label]],
    sets: Sequence[LabelSet],
) -> dict[int, float]:
    """Return the weights of the labelled transcripts that count.

    Where all transcripts of a column are labelled, or no label set covers it, each counts once. Elsewhere the drawn
    ones count, with 1/π for the probability π that at least one of the label sets draws them.
    """
    labelled, totals = Counter[int](), Counter[int]()
    for index in judged:
        column = run.plan.probe(index).column
        totals[column] += 1
        labelled[column] += index in by_probe
    covered = {column for each in sets for column in each.columns}
    weights = dict[int, float]()
    for index in by_probe:
        column = run.plan.probe(index).column
        if column not in covered or labelled[column] == totals[column]:
            weights[index] = 1.0
        elif any(each.draw_of(index) for each in sets):
            name = stratum_of(run.plan.columns[column].name, judged[index].verdict, criterion)
            missed = prod(1 - each.probability_of(index, column, name) for each in sets)
            weights[index] = 1 / (1 - missed)
    return weights


def _decided(own: Sequence[Label], adjudicator: str | None) -> bool | None:
    """Return what the people say: the adjudicator if there is a label of theirs, or else the majority."""
    chosen = [label for label in own if label.labeller == adjudicator] or own
    return majority_label(_passed(label.counted_value) for label in chosen)


def _is_conflict(own: Sequence[Label]) -> bool:
    return len({label.counted_value for label in own} - {None}) > 1


def _passed(value: str | None) -> bool | None:
    return None if value is None else value == LabelVerdict.PASSED


def _scenario_verdicts(run: Run, judged: Iterable[JudgedProbe]) -> Mapping[int, list[ScenarioVerdicts]]:
    counts = defaultdict[tuple[int, str], Counter[bool | None]](Counter)
    for each in judged:
        counts[run.plan.probe(each.probe_index).column, each.scenario_id][_passed(each.verdict)] += 1
    by_column = defaultdict[int, list[ScenarioVerdicts]](list)
    for (column, scenario), own in counts.items():
        by_column[column].append(ScenarioVerdicts(scenario, own[True], own[False], own[None]))
    return by_column


def _disagreements(run: Run, verdicts: Mapping[int, LabelledVerdict]) -> Iterable[Disagreement]:
    differing = [
        Disagreement(transcript_id(run.id, index), LabelVerdict.of(each.judge), LabelVerdict.of(each.label))
        for index, each in sorted(verdicts.items())
        if each.judge is not None and each.label is not None and each.judge != each.label
    ]
    return differing[:MAX_DISAGREEMENTS]
