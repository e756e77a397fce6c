from typing import Any

from cupel_core.contract.openai_evals import RunGrader, ValidateGrader
from cupel_core.contract.operation import (
    MEMBER,
    Call,
    operation,
)
from cupel_core.interop.openai_evals import graders
from cupel_core.interop.openai_evals.documents import grader_run_document


@operation(
    "POST /openai/v1/fine_tuning/alpha/graders/validate",
    "Validate a grader",
    role=MEMBER,
    returns="The grader",
)
def validate_openai_grader(call: Call, body: ValidateGrader) -> dict[str, Any]:
    graders.validate(body.grader)
    return {"grader": body.grader.model_dump(mode="json", exclude_none=True)}


@operation(
    "POST /openai/v1/fine_tuning/alpha/graders/run",
    "Run a grader",
    role=MEMBER,
    returns="Its reward",
    calls_others=True,
)
def run_openai_grader(call: Call, body: RunGrader) -> dict[str, Any]:
    return grader_run_document(graders.run(call.workspace, body))
