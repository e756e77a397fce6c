"""Scripted results of tools, as they are written in a scenario or a definition."""

from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from cupel_core.contract.common import RequestModel, example
from cupel_core.contract.fields import Count100, FunctionName, JsonObject
from cupel_core.domain.conversations.tool_results import MAX_RESULT_LENGTH, ScriptedResult, as_content
from cupel_core.domain.text.json_limits import json_limit_error


def _result(value: Any) -> Any:
    if error := json_limit_error(value):
        raise ValueError(error)
    if len(as_content(value)) > MAX_RESULT_LENGTH:
        raise ValueError(f"must have at most {MAX_RESULT_LENGTH:,} characters")
    return value


class ToolResultInput(RequestModel):
    """Result of calls of a function, instead of executing them: exactly one of `result` and `error`."""

    model_config = example(
        {"name": "find_order", "arguments": {"number": "A-17"}, "result": {"status": "shipped"}, "times": 1}
    )

    name: FunctionName
    arguments: JsonObject | None = None
    """Arguments that calls must have, perhaps with others; all calls match if omitted."""
    result: Annotated[Any, AfterValidator(_result)] = None
    """Result for the model: a text, or any other JSON value."""
    error: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=10_000)] | None = None
    """Error of the call for the model."""
    times: Count100 | None = None
    """How many calls of a conversation it answers, after which the next match does; null for all."""

    @model_validator(mode="after")
    def _has_one_outcome(self) -> "ToolResultInput":
        """A null beside an error is no result, so that a response can be sent again."""
        has_result = self.result is not None or (self.error is None and "result" in self.model_fields_set)
        if has_result == (self.error is not None):
            raise ValueError("must have exactly one of result and error")
        return self

    def script(self) -> ScriptedResult:
        return ScriptedResult(self.name, self.result, self.error, self.arguments, self.times)


def _bounded(results: list[ToolResultInput]) -> list[ToolResultInput]:
    if len(orjson.dumps([result.model_dump(mode="json") for result in results])) > MAX_BYTES:
        raise ValueError(f"must have at most {MAX_BYTES // 1024} KB as JSON, all together")
    return results


MAX_BYTES = 200 * 1024
ToolResults = Annotated[
    list[ToolResultInput],
    Field(max_length=100, description="What calls of tools return; the first that matches a call answers it"),
    AfterValidator(_bounded),
]
