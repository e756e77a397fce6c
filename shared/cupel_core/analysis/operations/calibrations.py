"""Calibrations: how far a judge agrees with people."""

from collections.abc import Sequence
from typing import Annotated

from cupel_core.analysis import judge_comparisons
from cupel_core.analysis.calibration import calibrate, fingerprint_of, plan_labels
from cupel_core.contract.calibrations import CalibrationResponse
from cupel_core.contract.fields import Id
from cupel_core.contract.judge_comparisons import JudgeComparisonResponse, JudgeDriftResponse
from cupel_core.contract.label_plans import LabelPlanResponse
from cupel_core.contract.operation import VIEWER, Call, operation
from cupel_core.contract.query import Parameter, RescoreId
from cupel_core.domain.calibration.judge_choice import MAX_JUDGES
from cupel_core.domain.labelling.labels import MAX_CRITERION_LENGTH, RESULT

_Criterion = Annotated[
    str, Parameter(min_length=1, max_length=MAX_CRITERION_LENGTH, description="`result` or the name of a check")
]


@operation(
    "GET /v1/runs/{run_id}/calibration",
    "Measure a run's judge on the labels of people",
    role=VIEWER,
    returns="Agreement and corrected rates by target and prompt",
    tag="labels",
)
def get_calibration(
    call: Call,
    run_id: str,
    criterion: _Criterion = RESULT,
    rescore_id: RescoreId = None,
    confidence: Annotated[float, Parameter(ge=0.5, le=0.999, description="Confidence of `lowerBound`")] = 0.95,
    calibration_run: Annotated[
        str | None,
        Parameter(
            min_length=1, max_length=64, description="Run whose labels show the errors of the same judge and rubric"
        ),
    ] = None,
) -> CalibrationResponse:
    """Labels count if they were given before the judge's verdict was shown; where a label set drew transcripts, only
    those of the drawn ones. Runs of more than 20,000 probes are refused. 409 if the fingerprint of `calibrationRun`
    differs."""
    found = calibrate(call.workspace, run_id, criterion, rescore_id, confidence, calibration_run)
    return CalibrationResponse.of(found, fingerprint_of(call.workspace, run_id, criterion, rescore_id))


@operation(
    "GET /v1/runs/{run_id}/label-plan",
    "Plan how many labels corrected pass rates need",
    role=VIEWER,
    returns="Numbers of labels",
    tag="labels",
)
def get_label_plan(
    call: Call,
    run_id: str,
    half_width: Annotated[float, Parameter(gt=0, lt=0.5, description="Half-width of the intervals")],
    criterion: _Criterion = RESULT,
    rescore_id: RescoreId = None,
) -> LabelPlanResponse:
    return LabelPlanResponse.of(plan_labels(call.workspace, run_id, criterion, rescore_id, half_width))


@operation(
    "GET /v1/runs/{run_id}/judge-comparison",
    "Compare judges on the labelled transcripts of a run",
    role=VIEWER,
    returns="The judges side by side",
    tag="labels",
)
def compare_judges(
    call: Call,
    run_id: str,
    rescore_ids: Annotated[
        Sequence[Id],
        Parameter(
            min_length=1,
            max_length=MAX_JUDGES,
            description="Completed rescores of the run",
        ),
    ],
    criterion: _Criterion = RESULT,
) -> JudgeComparisonResponse:
    """Transcripts count if all judges have graded them. 409 for a rescore that is not completed."""
    return JudgeComparisonResponse.of(judge_comparisons.compare_judges(call.workspace, run_id, criterion, rescore_ids))


@operation(
    "GET /v1/runs/{run_id}/rescores/{rescore_id}/drift",
    "Find out whether a run's judge has changed since",
    role=VIEWER,
    returns="The verdicts that flipped",
    tag="labels",
)
def get_judge_drift(call: Call, run_id: str, rescore_id: str, criterion: _Criterion = RESULT) -> JudgeDriftResponse:
    """409 unless the rescore is completed, with `judgeAgain` and the run's judge and rubric."""
    return JudgeDriftResponse.from_value(judge_comparisons.find_drift(call.workspace, run_id, rescore_id, criterion))
