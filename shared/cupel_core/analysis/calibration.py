"""Measures the graders of a run on the labels of people, and corrects their pass rates."""

from cupel_core.base.errors import Conflict, Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.calibrations import Calibration
from cupel_core.domain.calibration.column_calibrations import calibration_of, label_plans
from cupel_core.domain.calibration.fingerprints import RubricFingerprint
from cupel_core.domain.calibration.label_numbers import ColumnLabelPlan
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.labelling.labels import DECISION
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import Rescore
from cupel_core.runs.labelling.fingerprints import find_fingerprint
from cupel_core.runs.labelling.labelled_runs import load_labelled
from cupel_core.store import rescores, runs


def calibrate(
    workspace: str,
    run_id: str,
    criterion: str,
    rescore_id: str | None,
    bound_confidence: float = 0.95,
    calibration_run: str | None = None,
) -> Calibration:
    """Compare the verdicts on a criterion with the labels.

    Raise NotFound for an unknown run or rescore, Invalid for a run that is too large, and Conflict if the
    `calibration_run`, whose errors are to be used, has another judge or rubric.
    """
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    judge = run.grader_config.judge_model
    if rescore_id is not None:
        judge = _complete_rescore(ref, rescore_id).config.grader_config(run.grader_config).judge_model
    measured = None if calibration_run is None else _measured(run, criterion, rescore_id, calibration_run)
    labelled = load_labelled(run, criterion, rescore_id)
    return calibration_of(labelled, judge, rescore_id=rescore_id, measured=measured, bound_confidence=bound_confidence)


def plan_labels(
    workspace: str, run_id: str, criterion: str, rescore_id: str | None, half_width: float
) -> list[ColumnLabelPlan]:
    """Return by target how many labels an interval of a corrected pass rate of ± `half_width` needs."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    if rescore_id is not None:
        _complete_rescore(ref, rescore_id)
    if criterion == DECISION:
        raise Invalid.field("criterion", "must be `result` or the name of a check: codes have no pass rate")
    return label_plans(load_labelled(run, criterion, rescore_id), half_width)


def _complete_rescore(ref: RunRef, rescore_id: str) -> Rescore:
    rescore = rescores.get(ref, rescore_id)
    if rescore.is_partial:
        raise Invalid.field("rescoreId", "must have graded all transcripts; a comparison of judges takes this one")
    return rescore


def fingerprint_of(workspace: str, run_id: str, criterion: str, rescore_id: str | None) -> RubricFingerprint | None:
    """Return the fingerprint of the judge and its rubric; None if the run's snapshot was deleted."""
    return find_fingerprint(runs.get(RunRef(workspace, run_id)), criterion, rescore_id)


def _measured(run: Run, criterion: str, rescore_id: str | None, calibration_run: str) -> LabelledRun:
    """Return the labelled run whose errors are carried over, if it has the same judge and rubric."""
    if criterion == DECISION:
        raise Invalid.field("calibrationRun", "must be left out for codes: no sensitivity is measured for them")
    if calibration_run == run.id:
        raise Invalid.field("calibrationRun", "must be another run")
    other = runs.get(RunRef(run.workspace, calibration_run))
    own, measured = find_fingerprint(run, criterion, rescore_id), find_fingerprint(other, criterion)
    if own is None or measured is None:
        raise Conflict("the snapshot of one of the runs was deleted, so nobody knows whether their judges are the same")
    if differences := own.differences(measured):
        raise Conflict(f"the errors of the judge of {other.id} do not hold here: {', '.join(differences)} differ")
    return load_labelled(other, criterion)
