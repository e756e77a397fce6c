"""Calibrations: how far a judge agrees with people."""

from typing import Annotated

from cupel_core.analysis.calibration import calibrate
from cupel_core.contract.calibrations import CalibrationResponse
from cupel_core.contract.operation import VIEWER, Call, operation
from cupel_core.contract.query import Parameter, RescoreId
from cupel_core.domain.labelling.labels import MAX_CRITERION_LENGTH, RESULT


@operation(
    "GET /v1/runs/{run_id}/calibration",
    "Measure a run's judge on the labels of people",
    role=VIEWER,
    returns="The judge's agreement and the corrected pass rates, by target and prompt",
    tag="labels",
)
def get_calibration(
    call: Call,
    run_id: str,
    criterion: Annotated[
        str, Parameter(min_length=1, max_length=MAX_CRITERION_LENGTH, description="`result` or the name of a check")
    ] = RESULT,
    rescore_id: RescoreId = None,
    confidence: Annotated[float, Parameter(ge=0.5, le=0.999, description="Confidence of `lowerBound`")] = 0.95,
) -> CalibrationResponse:
    """Labels count if they were given before the judge's verdict was shown; where a label set drew transcripts, only
    those of the drawn ones. Runs of more than 20,000 probes are refused."""
    return CalibrationResponse.of(calibrate(call.workspace, run_id, criterion, rescore_id, confidence))
