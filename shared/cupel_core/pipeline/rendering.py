"""Rendering the templates and expressions of operations: in this process if that is quick, else in a sandbox."""

from collections.abc import Mapping
from typing import Any

from cupel_core import sandbox
from cupel_core.domain.pipeline.sizes import value_length
from cupel_core.templating import RenderError
from cupel_core.templating.operation_templates import condition_template, is_quick, render

MAX_QUICK_CONTEXT = 50_000
"""About how many characters the messages and values have that a template sees."""
_TASK = "cupel_core.templating.operation_templates:render_task"


async def render_template(template: str, context: Mapping[str, Any], *, strict: bool) -> str:
    """Raises RenderError with the reason, also beyond the limits of CPU time, memory and output."""
    if is_quick(template) and value_length(context) <= MAX_QUICK_CONTEXT:
        return render(template, context, strict=strict)
    try:
        return str(await sandbox.run(_TASK, template, context, strict))
    except (sandbox.ExpressionError, sandbox.LimitExceeded) as error:
        raise RenderError(str(error)) from None


async def is_true(expression: str, context: Mapping[str, Any], *, strict: bool) -> bool:
    """Whether an expression is true. Raises RenderError."""
    return bool(await render_template(condition_template(expression), context, strict=strict))
