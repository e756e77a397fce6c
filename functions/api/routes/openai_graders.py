"""OpenAI's graders, validated and run outside of an eval."""

from typing import Any

from api.routing import OpenAIRouter
from cupel_core.contract.openai_evals import RunGrader, ValidateGrader
from cupel_core.interop.openai_evals import graders
from cupel_core.interop.openai_evals.documents import grader_run_document

router = OpenAIRouter()


@router.operation("validateOpenAIGrader")
def validate_grader(body: ValidateGrader) -> dict[str, Any]:
    graders.validate(body.grader)
    return {"grader": body.grader.model_dump(mode="json", exclude_none=True)}


@router.operation("runOpenAIGrader")
def run_grader(body: RunGrader) -> dict[str, Any]:
    return grader_run_document(graders.run(router.workspace, body))
