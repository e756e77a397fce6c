from cupel_core.conversations.pipeline.kinds import llm
from cupel_core.conversations.pipeline.kinds.values import Context, MadeValue, ModelCaller, OperationFailed
from cupel_core.conversations.pipeline.rendering import is_true
from cupel_core.domain.pipeline.params import GuardErrorPolicy, GuardParams, OutputMode, OutputSpec
from cupel_core.domain.pipeline.results import StepErrorCode
from cupel_core.sandbox.templating.errors import RenderError


async def make_value(params: GuardParams, context: Context, caller: ModelCaller) -> MadeValue:
    try:
        if params.call is None:
            return MadeValue(await _evaluated(params, context))
        return await llm.answer(params.call, _output(params), context, caller)
    except OperationFailed as failure:
        if params.on_error is GuardErrorPolicy.ERROR:
            raise
        return MadeValue(dict.fromkeys(params.keys, False), failure.spend, failure.call)


async def _evaluated(params: GuardParams, context: Context) -> dict[str, bool]:
    strict = params.strict_variables
    try:
        return {each.key: await is_true(each.when or "false", context, strict=strict) for each in params.outputs}
    except RenderError as error:
        raise OperationFailed(StepErrorCode.TEMPLATE_RENDER_ERROR, str(error)) from None


def _output(params: GuardParams) -> OutputSpec:
    properties = {
        each.key: {"type": "boolean", "description": each.description or each.title} for each in params.outputs
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(params.keys),
        "additionalProperties": False,
    }
    return OutputSpec(OutputMode.JSON, schema)
