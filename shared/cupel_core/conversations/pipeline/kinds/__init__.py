"""`make_value` makes the value of an operation; each kind of operation has a module of its own for that."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from cupel_core.conversations.pipeline.kinds import guard, llm, template
from cupel_core.conversations.pipeline.kinds.values import Context, MadeValue, ModelCaller, OperationFailed
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.params import GuardParams, LlmParams, TemplateParams

__all__ = ["Context", "MadeValue", "ModelCaller", "OperationFailed", "make_value"]

_KINDS: Mapping[type, Callable[[Any, Context, ModelCaller], Awaitable[MadeValue]]] = {
    TemplateParams: template.make_value,
    LlmParams: llm.make_value,
    GuardParams: guard.make_value,
}


async def make_value(operation: ProfileOperation, context: Context, caller: ModelCaller) -> MadeValue:
    """Return the value of an operation. Raises OperationFailed, and what prevents or postpones a call."""
    return await _KINDS[type(operation.params)](operation.params, context, caller)
