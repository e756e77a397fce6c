"""Operations that render a text."""

from cupel_core.conversations.pipeline.kinds.values import Context, MadeValue, ModelCaller, rendered
from cupel_core.domain.pipeline.params import TemplateParams


async def make_value(params: TemplateParams, context: Context, _: ModelCaller) -> MadeValue:
    text = await rendered(params.template, context, strict=params.strict_variables)
    return MadeValue(None if params.skip_when_blank and not text.strip() else text)
