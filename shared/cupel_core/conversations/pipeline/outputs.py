import json
import re
from collections.abc import Mapping
from typing import Any

from cupel_core import sandbox
from cupel_core.conversations.pipeline.rendering import ComputationPostponed
from cupel_core.domain.codec import decode
from cupel_core.domain.pipeline.params import OutputExtraction, OutputMode, OutputSpec
from cupel_core.domain.pipeline.results import StepErrorCode
from cupel_core.domain.text.json_limits import json_limit_error

_TASK = "cupel_core.conversations.pipeline.outputs:read_task"
_CODE_BLOCK = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_MAX_QUOTE = 200


class UnusableOutput(ValueError):
    def __init__(self, code: StepErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


async def read_output(text: str, output: OutputSpec) -> Any:
    """Return the text, or its JSON. Raise UnusableOutput and ComputationPostponed. Schemas and patterns are applied in
    the sandbox, because their text does not show how long they take."""
    if output.mode is OutputMode.TEXT:
        return text
    if output.schema is None and output.pattern is None:
        return _read(text, output)
    spec = {"mode": output.mode, "schema": output.schema, "extract": output.extract, "pattern": output.pattern}
    try:
        answer = await sandbox.run(_TASK, text, spec)
    except sandbox.BudgetUsedUp as wait:
        raise ComputationPostponed(wait) from None
    except (sandbox.ExpressionError, sandbox.LimitExceeded) as error:
        raise UnusableOutput(StepErrorCode.OUTPUT_SCHEMA_ERROR, f"checking the answer {error}") from None
    if "code" in answer:
        raise UnusableOutput(StepErrorCode(answer["code"]), answer["message"])
    return answer["value"]


def read_task(text: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value, or why there is none. The sandbox runs this as a task."""
    try:
        return {"value": _read(text, decode(OutputSpec, spec))}
    except UnusableOutput as error:
        return {"code": error.code, "message": str(error)}


def _read(text: str, output: OutputSpec) -> Any:
    value = _parse(_extracted(text, output))
    if output.schema is not None:
        from cupel_core.scoring.schemas import violation  # It imports jsonschema, which few operations need.

        if problem := violation(output.schema, value):
            raise UnusableOutput(StepErrorCode.OUTPUT_SCHEMA_ERROR, f"the answer violates the schema: {problem}")
    return value


def _extracted(text: str, output: OutputSpec) -> str:
    if output.extract is OutputExtraction.CODE_BLOCK:
        match = _CODE_BLOCK.search(text)
        found = match[1] if match else None
        what = "a fenced code block"
    elif output.extract is OutputExtraction.PATTERN and output.pattern is not None:
        from cupel_core.scoring.pattern_search import first_group

        found, what = first_group(output.pattern, text), f"a match of {output.pattern}"
    else:
        return text
    if found is None:
        raise UnusableOutput(StepErrorCode.OUTPUT_PARSE_ERROR, f"the answer does not have {what}")
    return found


def _parse(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        message = f"the answer is not JSON: {error}: {text[:_MAX_QUOTE]}"
        raise UnusableOutput(StepErrorCode.OUTPUT_PARSE_ERROR, message) from None
    if problem := json_limit_error(value):
        raise UnusableOutput(StepErrorCode.OUTPUT_PARSE_ERROR, f"the JSON of the answer {problem}")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
