"""OpenAI's Responses API: for models that have no chat completions, and for those named `responses:<model>`.

Nothing is stored by the provider (`store`), because every request has the whole conversation.
"""

from collections.abc import Iterator

from cupel_core.domain.turns.model_parameters import ModelParameters
from cupel_core.domain.turns.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.turns.parts import ImageDetail, MessagePart, TextPart
from cupel_core.domain.turns.tools import ToolCall
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError, error_in_reply
from cupel_core.providers.openai import operation_request, with_json_instruction
from cupel_core.providers.reply_limits import ReportedCost, TokenCount
from cupel_core.providers.wire_format import (
    AttachedFile,
    WireModel,
    WireRequest,
    content_filtered_error,
    enforced_schema,
    is_closed_schema,
    without_none,
)

MIN_OUTPUT_TOKENS = 16
"""The API refuses a lower limit."""
_FINISH_REASONS = {"max_output_tokens": "length"}
"""As chat completions name them."""
_STATUSES = {"rate_limit_exceeded": 429, "server_error": 500, "vector_store_timeout": 504}
"""Of the errors of responses that failed; others, such as `invalid_prompt`, are of the request."""


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    parameters, effort = request.parameters, request.parameters.reasoning_effort
    limit = parameters.max_output_tokens
    body: dict[str, object] = {
        "model": model_name,
        "input": [
            item for message in with_json_instruction(account, request).messages for item in _items(request, message)
        ],
        "store": False,
        **without_none(
            temperature=parameters.temperature,
            top_p=parameters.top_p,
            max_output_tokens=None if limit is None else max(limit, MIN_OUTPUT_TOKENS),
            reasoning={"effort": effort} if effort else None,
            text=_text_format(request),
        ),
        **_tools(parameters),
    }
    return operation_request(account, model_name, "responses", body)


def _items(request: ModelRequest, message: Message) -> Iterator[dict[str, object]]:
    """Calls and their results are items beside the messages."""
    if message.role is MessageRole.TOOL:
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}
        return
    if message.parts:
        yield {"role": message.role, "content": [_part(request, part) for part in message.parts]}
    elif message.content or not message.tool_calls:
        yield {"role": message.role, "content": message.content}
    for call in message.tool_calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.sendable_name, "arguments": call.arguments}


def _part(request: ModelRequest, part: MessagePart) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text}
    file = AttachedFile(request, part)
    if file.is_pdf:
        return {"type": "input_file", "filename": file.name, "file_data": file.data_url}
    return {"type": "input_image", "image_url": file.data_url, "detail": part.detail or ImageDetail.AUTO}


def _tools(parameters: ModelParameters) -> dict[str, object]:
    if not parameters.tools:
        return {}
    choice = parameters.tool_choice
    tools = [
        {
            "type": "function",
            "name": tool.name,
            "parameters": dict(tool.schema),
            "strict": bool(tool.strict),
            **without_none(description=tool.description),
        }
        for tool in parameters.tools
    ]
    named = choice and ({"type": "function", "name": choice.name} if choice.name else choice.mode)
    return {"tools": tools, **without_none(tool_choice=named)}


def _text_format(request: ModelRequest) -> dict[str, object] | None:
    reply_format, schema = request.parameters.response_format, enforced_schema(request)
    if reply_format is None or not request.wants_json:
        return None
    if schema is None:
        return {"format": {"type": "json_object"}}
    strict = is_closed_schema(schema)
    return {"format": {"type": "json_schema", "name": reply_format.name, "schema": schema, "strict": strict}}


class _OutputPart(WireModel):
    type: str
    text: str = ""
    refusal: str = ""


class _OutputItem(WireModel):
    """A message or a call; reasoning and calls of the provider's own tools have no content of interest."""

    type: str
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    content: list[_OutputPart] | None = None

    @property
    def message(self) -> str:
        """A model's refusal is its answer."""
        if self.type != "message":
            return ""
        return "".join(part.refusal if part.type == "refusal" else part.text for part in self.content or ())


class _Incompleteness(WireModel):
    reason: str | None = None


class _FailedResponse(WireModel):
    """A response that failed has an error and, through some gateways, nothing else."""

    error: object = None


class _InputDetails(WireModel):
    cached_tokens: TokenCount = 0


class _Tokens(WireModel):
    """Reasoning tokens are part of the output, and cached ones of the input."""

    input_tokens: TokenCount = 0
    output_tokens: TokenCount = 0
    input_tokens_details: _InputDetails | None = None
    cost: ReportedCost = None

    @property
    def usage(self) -> Usage:
        cached = self.input_tokens_details.cached_tokens if self.input_tokens_details else 0
        return Usage(self.input_tokens, self.output_tokens, cached)


class _ResponseObject(WireModel):
    status: str = "completed"
    incomplete_details: _Incompleteness | None = None
    model: str | None = None
    output: list[_OutputItem]
    usage: _Tokens | None = None


def parse(body: object) -> Reply:
    if error := _FailedResponse.model_validate(body).error:
        raise _failure(error)
    response = _ResponseObject.model_validate(body)
    tokens = response.usage or _Tokens()
    return Reply(
        "".join(item.message for item in response.output),
        response.model,
        tokens.usage,
        _finish_reason(response),
        tool_calls=tuple(_calls(response.output)),
        cost_usd=tokens.cost,
    )


def _calls(output: list[_OutputItem]) -> Iterator[ToolCall]:
    return (ToolCall(item.call_id, item.name, item.arguments) for item in output if item.type == "function_call")


def _finish_reason(response: _ResponseObject) -> str:
    if response.status == "completed":
        return "stop"
    reason = response.incomplete_details.reason if response.incomplete_details else None
    if response.status != "incomplete":
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, f"the response is {response.status}")
    if reason == "content_filter":
        raise content_filtered_error("incomplete_details content_filter")
    return _FINISH_REASONS.get(reason or "", reason or response.status)


def _failure(error: object) -> ProviderError:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(error, dict) and isinstance(code, str):
        error = {**error, "code": _STATUSES.get(code, 400), "type": code}
    return error_in_reply(error)
