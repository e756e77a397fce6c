"""Rendering of templates and expressions of operations: in this process if that is quick, else in a sandbox."""

from collections.abc import Mapping
from typing import Any

import orjson

from cupel_core import sandbox
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.pipeline.sizes import value_length
from cupel_core.providers.errors import RetryLater
from cupel_core.sandbox.templating.errors import RenderError

MAX_QUICK_CONTEXT = 50_000
"""Quick templates are rendered in this process if their messages and values have at most about this many characters."""
_TASK = "cupel_core.sandbox.templating.operation_templates:render_task"


class ComputationPostponed(RetryLater):
    """There is no result, because the workspace has used up its time in the sandbox for now."""

    def __init__(self, wait: sandbox.BudgetUsedUp) -> None:
        super().__init__(wait.retry_after_seconds, ProbeErrorCode.OPERATION_ERROR)
        self.detail = f"a template, pattern or schema of an operation {wait}"


async def render_template(template: str, context: Mapping[str, Any], *, strict: bool) -> str:
    """Return the rendered template. Raise RenderError with the reason, also if the template exceeds the limits of CPU
    time, memory and output, and ComputationPostponed."""
    # The module imports Jinja, which few workers need.
    from cupel_core.sandbox.templating.operation_templates import is_quick, render

    if is_quick(template) and is_small(context):
        return render(template, context, strict=strict)
    try:
        return str(await sandbox.run(_TASK, template, context, strict))
    except sandbox.BudgetUsedUp as wait:
        raise ComputationPostponed(wait) from None
    except (sandbox.ExpressionError, sandbox.LimitExceeded) as error:
        raise RenderError(str(error)) from None


def is_small(context: Mapping[str, Any]) -> bool:
    try:
        # This is much faster than counting characters, and never less than their number.
        if len(orjson.dumps(context)) <= MAX_QUICK_CONTEXT:
            return True
    except TypeError:  # orjson refuses half surrogate pairs, and integers with more than 64 bits.
        pass
    return value_length(context) <= MAX_QUICK_CONTEXT


async def is_true(expression: str, context: Mapping[str, Any], *, strict: bool) -> bool:
    """Return whether an expression is true. Raise what `render_template` raises."""
    from cupel_core.sandbox.templating.operation_templates import condition_template

    return bool(await render_template(condition_template(expression), context, strict=strict))
