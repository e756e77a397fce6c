import json
from collections.abc import Iterator, Mapping
from typing import Any

from cupel_core import sandbox
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.pipeline.profiles import MAX_PROFILE_BYTES, Pipeline, ProfileIssue
from cupel_core.domain.pipeline.rules import profile_errors, secret_errors
from cupel_core.providers import chat_model_error, prices
from cupel_core.providers.expected_calls import AccountOf
from cupel_core.providers.parameters import parameter_errors

_TEMPLATE_LIMITS = sandbox.TaskLimits(cpu_seconds=5.0, memory_mb=320, wall_seconds=20.0)
"""A profile of 256 KB compiles in a second."""


def profile_issues(workspace: str, content: Mapping[str, Any], account_of: AccountOf) -> tuple[ProfileIssue, ...]:
    """Return all errors of a version's content, which has the shape of the contract. It is empty if it is valid."""
    if len(json.dumps(content)) > MAX_PROFILE_BYTES:
        return (ProfileIssue("operations", f"must have at most {MAX_PROFILE_BYTES // 1024} KB"),)
    pipeline = decode(Pipeline, content)
    return (
        *profile_errors(pipeline),
        *secret_errors(content["operations"]),
        *_template_errors(workspace, pipeline),
        *_model_errors(pipeline, account_of),
    )


def _template_errors(workspace: str, pipeline: Pipeline) -> Iterator[ProfileIssue]:
    templates, expressions = _texts(pipeline, "templates"), _texts(pipeline, "expressions")
    if not templates and not expressions:
        return
    sandbox.use_workspace(workspace)
    task, limits = "cupel_core.sandbox.templating.operation_templates:template_errors", _TEMPLATE_LIMITS
    try:
        results = sandbox.run_blocking(task, list(templates.values()), list(expressions.values()), limits=limits)
    except sandbox.LimitExceeded as error:
        yield ProfileIssue("operations", f"compiling the templates {error}")
        return
    for field, message in zip((*templates, *expressions), (*results[0], *results[1]), strict=True):
        if message is not None:
            yield ProfileIssue(field, message)


def _texts(pipeline: Pipeline, kind: str) -> dict[str, str]:
    return {
        f"operations.{number}.{field}": text
        for number, operation in enumerate(pipeline.operations)
        for field, text in getattr(operation, kind).items()
    }


def _model_errors(pipeline: Pipeline, account_of: AccountOf) -> Iterator[ProfileIssue]:
    for number, operation in enumerate(pipeline.operations):
        if (call := operation.params.call) is None:
            continue
        field, model = f"operations.{number}.params", call.target.model
        if message := chat_model_error(model):
            yield ProfileIssue(f"{field}.target.model", message)
            continue
        for error in parameter_errors(call.target, f"{field}.target.params"):
            yield ProfileIssue(error.field, error.message)
        account = account_of(call.target.provider) if call.max_cost_usd is not None else None
        if account is not None and prices.cost_usd(model, Usage(1, 1), account) is None:
            yield ProfileIssue(f"{field}.maxCostUsd", f"the price of {model} is unknown: set it with the provider")
