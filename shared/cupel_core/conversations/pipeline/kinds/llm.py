from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cupel_core.conversations.pipeline.kinds.call_summaries import summarize_reply, summarize_request
from cupel_core.conversations.pipeline.kinds.values import Context, MadeValue, ModelCaller, OperationFailed, rendered
from cupel_core.conversations.pipeline.outputs import UnusableOutput, read_output
from cupel_core.domain.budgets.money import amount_text
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_parameters import FormatType, ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.pipeline.params import LlmParams, ModelCall, OutputMode, OutputSpec
from cupel_core.domain.pipeline.results import PaidAnswer, StepErrorCode
from cupel_core.domain.text.figures import format_usd
from cupel_core.domain.text.token_counts import PER_MESSAGE, estimated_tokens
from cupel_core.providers import prices
from cupel_core.providers.errors import ProviderError, RetryLater
from cupel_core.providers.reservations import bound_of_call
from cupel_core.scoring.grading.grader import Grader, complete_request


async def make_value(params: LlmParams, context: Context, caller: ModelCaller) -> MadeValue:
    return await answer(params.call, params.output, context, caller)


async def answer(call: ModelCall, output: OutputSpec, context: Context, caller: ModelCaller) -> MadeValue:
    """Return the value of a model's answer. Raise OperationFailed, and exceptions that prevent or postpone the call."""
    answered = caller.answer or await _ask(call, output, context, caller)
    try:
        return MadeValue(await read_output(answered.text, output), answered.spend, answered.call)
    except UnusableOutput as error:
        raise OperationFailed(error.code, str(error), answered.spend, answered.call) from None


async def _ask(call: ModelCall, output: OutputSpec, context: Context, caller: ModelCaller) -> PaidAnswer:
    messages = await _messages(call, context)
    parameters = decode(ModelParameters, call.target.params)
    request = ModelRequest(
        messages,
        replace(parameters, response_format=_response_format(output)),
        simulation_key=caller.simulation_key,
        role=ModelRole.OPERATION,
    )
    grader, has_texts, spent = caller.grader(call), caller.is_debugged, list[Spend]()
    summary = {"inputs": summarize_request(call, output, messages, has_texts=has_texts)}
    try:
        _check_limits(call, request, grader)
        reply = await _complete(grader, request, spent)
    except OperationFailed as failure:
        raise OperationFailed(failure.code, failure.message, sum(spent, Spend()), summary) from failure
    summary["outputs"] = summarize_reply(reply, output, has_texts=has_texts)
    answered = PaidAnswer(reply.text, sum(spent, Spend()), summary)
    caller.on_answer(answered)
    return answered


async def _messages(call: ModelCall, context: Context) -> tuple[Message, ...]:
    strict = call.strict_variables
    system = await rendered(call.system, context, strict=strict) if call.system is not None else ""
    prompt = Message(MessageRole.USER, await rendered(call.prompt, context, strict=strict))
    if not prompt.content.strip():
        raise OperationFailed(StepErrorCode.TEMPLATE_RENDER_ERROR, "the prompt is blank")
    return (Message(MessageRole.SYSTEM, system), prompt) if system.strip() else (prompt,)


def _response_format(output: OutputSpec) -> ResponseFormat | None:
    """Return the schema of an object, in the provider's format if the model supports it. A value that is extracted from
    other text is not requested as JSON, and no provider's format has lists."""
    if output.mode is OutputMode.TEXT or output.extract is not None:
        return None
    schema: Mapping[str, Any] = output.schema or {}
    if schema.get("type") == "object":
        return ResponseFormat.of_schema(schema)
    return None if output.schema is not None else ResponseFormat(FormatType.JSON)


def _check_limits(call: ModelCall, request: ModelRequest, grader: Grader) -> None:
    tokens = sum(estimated_tokens(message.content) + PER_MESSAGE for message in request.messages)
    if call.max_input_tokens is not None and tokens > call.max_input_tokens:
        message = f"the prompt has about {tokens:,.0f} tokens, more than maxInputTokens: {call.max_input_tokens:,}"
        raise OperationFailed(StepErrorCode.VALIDATION_ERROR, message)
    if call.max_cost_usd is None:
        return
    if prices.cost_usd(grader.model, Usage(1, 1), grader.account) is None:
        raise OperationFailed(StepErrorCode.BUDGET_EXCEEDED, f"the price of {grader.model} is unknown")
    bound = bound_of_call(grader.account, grader.model, request).nano_usd / 1e9
    if bound > call.max_cost_usd:
        message = f"the call may cost {format_usd(bound)}, more than maxCostUsd: {amount_text(call.max_cost_usd)}"
        raise OperationFailed(StepErrorCode.BUDGET_EXCEEDED, message)


async def _complete(grader: Grader, request: ModelRequest, spent: list[Spend]) -> Reply:
    try:
        return await complete_request(grader, request, spent)
    except RetryLater as wait:
        raise wait.by(ProbeErrorCode.OPERATION_ERROR, wait.model) from wait
    except ProviderError as error:
        raise OperationFailed(error.code, error.message) from error
