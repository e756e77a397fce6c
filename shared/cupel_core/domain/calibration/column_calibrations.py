"""Calibrates a judge on the labels of a run, by target and prompt."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from cupel_core.domain.calibration.calibrations import Calibration, ColumnCalibration
from cupel_core.domain.calibration.carried_rates import (
    MIN_FRESH_LABELS,
    JudgeErrors,
    carried_pass_rate,
    judge_errors,
    pooled_errors,
)
from cupel_core.domain.calibration.code_agreement import coder_agreement
from cupel_core.domain.calibration.code_calibrations import code_columns, code_disagreements, coders
from cupel_core.domain.calibration.corrected_rates import (
    CorrectedRate,
    Uncorrected,
    UncorrectedReason,
    corrected_pass_rate,
    skip_bounds,
)
from cupel_core.domain.calibration.judge_agreement import judge_agreement
from cupel_core.domain.calibration.label_numbers import ColumnLabelPlan, labels_needed
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.calibration.labellers import labeller_agreement
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.labelling.labels import DECISION
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.plan import Column

MAX_DISAGREEMENTS = 100


def calibration_of(
    labelled: LabelledRun,
    judge_model: str | None,
    *,
    rescore_id: str | None = None,
    measured: LabelledRun | None = None,
    bound_confidence: float = 0.95,
) -> Calibration:
    """Return the figures of the labelled columns. With `measured`, another run of the same judge and rubric, the pass
    rates of all columns are corrected with the errors that its labels show."""
    has_codes = labelled.criterion == DECISION
    disagreements = code_disagreements(labelled) if has_codes else labelled.disagreements()
    conflicts = () if has_codes else labelled.conflicts
    return Calibration(
        run_id=labelled.run_id,
        plan=labelled.plan,
        criterion=labelled.criterion,
        rescore_id=rescore_id,
        judge_model=judge_model,
        calibration_run=measured.run_id if measured else None,
        columns=() if has_codes else tuple(_columns(labelled, measured, bound_confidence)),
        codes=tuple(code_columns(labelled)) if has_codes else (),
        people=coder_agreement(coders(labelled)) if has_codes else labeller_agreement(labelled.people()),
        disagreements=tuple(islice(disagreements, MAX_DISAGREEMENTS)),
        unblind=labelled.unblind,
        conflicts=tuple(transcript_id(labelled.run_id, index) for index in islice(conflicts, MAX_DISAGREEMENTS)),
        ignored=len(labelled.blind) - len(labelled.weights),
        is_drawn=labelled.is_drawn,
    )


def label_plans(labelled: LabelledRun, half_width: float) -> list[ColumnLabelPlan]:
    """Plan labels for corrected pass rates of ± `half_width`, of all columns, whether they have labels or not."""
    return [
        ColumnLabelPlan(
            labelled.plan.columns[column],
            labels_needed(labelled.column_verdicts.get(column, ()), verdicts, half_width),
        )
        for column, verdicts in sorted(labelled.scenario_verdicts.items())
    ]


def target_errors(measured: LabelledRun) -> Mapping[str, JudgeErrors]:
    """Return the errors of the judge by `_identity` of the column, each moved towards those of the others as far as the
    columns are alike. Columns without a labelled pass or without a labelled failure are left out."""
    columns = measured.plan.columns
    found = {
        _identity(columns[column]): judge_errors(own, f"{measured.run_id}/{columns[column].name}")
        for column, own in measured.column_verdicts.items()
    }
    return pooled_errors({name: errors for name, errors in found.items() if errors is not None})


def _columns(
    labelled: LabelledRun, measured: LabelledRun | None, bound_confidence: float
) -> Iterator[ColumnCalibration]:
    errors = None if measured is None else target_errors(measured)
    for column, verdicts in sorted(labelled.scenario_verdicts.items()):
        own, target = labelled.column_verdicts.get(column, ()), labelled.plan.columns[column]
        if not own and errors is None:
            continue
        yield ColumnCalibration(
            target,
            judge_agreement(own),
            corrected_pass_rate(own, verdicts, bound_confidence=bound_confidence)
            if errors is None
            else _carried(errors.get(_identity(target)), verdicts, own, bound_confidence),
            skip_bounds(own, verdicts) if errors is None else None,
        )


def _identity(column: Column) -> str:
    """Return what a column of another run must have in common: its name alone may be a label of another model."""
    return f"{column.name}\n{column.target.model}"


def _carried(
    errors: JudgeErrors | None,
    verdicts: Sequence[ScenarioVerdicts],
    fresh: Sequence[LabelledVerdict],
    bound_confidence: float,
) -> CorrectedRate | Uncorrected:
    if errors is None:
        labels = sum(each.label is not None for each in fresh)
        return Uncorrected(UncorrectedReason.UNCALIBRATED_TARGET, labels, MIN_FRESH_LABELS)
    return carried_pass_rate(errors, verdicts, fresh, bound_confidence=bound_confidence)
