"""Rules about the parameters of one operation."""

from collections.abc import Iterator

from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.params import (
    GuardEngine,
    GuardParams,
    LlmParams,
    ModelCall,
    OutputExtraction,
    OutputMode,
    OutputSpec,
)
from cupel_core.domain.pipeline.profiles import ProfileIssue
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error


def param_issues(operation: ProfileOperation, field: str) -> Iterator[ProfileIssue]:
    """`field` is that of the parameters."""
    match operation.params:
        case LlmParams() as params:
            yield from (ProfileIssue(f"{field}.output.{name}", text) for name, text in _output_issues(params.output))
            yield from (ProfileIssue(f"{field}.{name}", text) for name, text in _call_issues(params.call))
        case GuardParams() as params:
            yield from (ProfileIssue(f"{field}.{name}", text) for name, text in _guard_issues(params))


def _output_issues(output: OutputSpec) -> Iterator[ProfileIssue]:
    if output.mode is OutputMode.TEXT:
        for name in ("schema", "extract", "pattern"):
            if getattr(output, name) is not None:
                yield ProfileIssue(name, "needs mode json")
        return
    if output.extract is OutputExtraction.PATTERN and output.pattern is None:
        yield ProfileIssue("pattern", "is required with extract pattern")
    if output.pattern is not None:
        if output.extract is not OutputExtraction.PATTERN:
            yield ProfileIssue("pattern", "is only possible with extract pattern")
        if error := javascript_pattern_error(output.pattern):
            yield ProfileIssue("pattern", error)


def _call_issues(call: ModelCall) -> Iterator[ProfileIssue]:
    if call.max_cost_usd is not None and call.target.params.get("maxOutputTokens") is None:
        yield ProfileIssue("target.params.maxOutputTokens", "is required with maxCostUsd, to bound what a call costs")


def _guard_issues(params: GuardParams) -> Iterator[ProfileIssue]:
    for number, output in enumerate(params.outputs):
        if output.key in params.keys[:number]:
            yield ProfileIssue(f"outputs.{number}.key", f"there is another output {output.key}")
        if params.engine is GuardEngine.RULES and output.when is None:
            yield ProfileIssue(f"outputs.{number}.when", "is required with engine rules")
        if params.engine is GuardEngine.LLM and output.when is not None:
            yield ProfileIssue(f"outputs.{number}.when", "is only possible with engine rules")
    if params.engine is GuardEngine.RULES and params.call is not None:
        yield ProfileIssue("engine", "must be llm with a target and a prompt")
    if params.engine is GuardEngine.LLM and params.call is None:
        yield ProfileIssue("engine", "llm needs a target and a prompt")
    if params.call is not None:
        yield from _call_issues(params.call)
