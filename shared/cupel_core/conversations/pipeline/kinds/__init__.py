"""The kinds of operations. Kinds that call models have a module of their own for `make_value`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from cupel_core.conversations.pipeline.kinds import guard, llm
from cupel_core.conversations.pipeline.kinds.values import Context, MadeValue, ModelCaller, OperationFailed, rendered
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.params import GuardParams, LlmParams, TemplateParams

__all__ = ["Context", "MadeValue", "ModelCaller", "OperationFailed", "make_value"]


async def _make_text(params: TemplateParams, context: Context, _: ModelCaller) -> MadeValue:
    text = await rendered(params.template, context, strict=params.strict_variables)
    return MadeValue(None if params.skip_when_blank and not text.strip() else text)


_KINDS: Mapping[type, Callable[[Any, Context, ModelCaller], Awaitable[MadeValue]]] = {
    TemplateParams: _make_text,
    LlmParams: llm.make_value,
    GuardParams: guard.make_value,
}


async def make_value(operation: ProfileOperation, context: Context, caller: ModelCaller) -> MadeValue:
    """Return the value of an operation. Raise OperationFailed, and exceptions that prevent or postpone a call."""
    return await _KINDS[type(operation.params)](operation.params, context, caller)
