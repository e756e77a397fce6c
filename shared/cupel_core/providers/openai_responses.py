"""OpenAI's Responses API, for models that have no chat completions, and for those named `responses:<model>`.

The provider stores nothing (`store`), because every request has the whole conversation.
"""

from collections.abc import Iterator, Mapping

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.conversations.parts import ImageDetail, MessagePart, TextPart
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.providers.account import Account
from cupel_core.providers.errors import malformed_reply, reply_error
from cupel_core.providers.openai import operation_request, with_json_instruction
from cupel_core.providers.reply_ends import check_end
from cupel_core.providers.reply_fields import arguments_of, content_of, joined, label, mapping, mappings
from cupel_core.providers.token_usage import openai_usage, reported_cost_usd
from cupel_core.providers.wire_format import (
    AttachedFile,
    WireRequest,
    content_filtered_error,
    enforced_schema,
    is_closed_schema,
    without_none,
)

MIN_OUTPUT_TOKENS = 16
"""The API refuses a lower limit."""
_FINISH_REASONS = {"max_output_tokens": "length"}


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    parameters, effort = request.parameters, request.parameters.reasoning_effort
    limit = parameters.max_output_tokens
    body: dict[str, object] = {
        **(parameters.extra_body or {}),
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
    """Yield the items. Calls and their results are items beside the messages. Some servers need the type of each
    item."""
    if message.role is MessageRole.TOOL:
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}
        return
    if message.parts:
        yield {"type": "message", "role": message.role, "content": [_part(request, part) for part in message.parts]}
    elif message.content or not message.tool_calls:
        yield {"type": "message", "role": message.role, "content": message.content}
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


def parse(body: object) -> Reply:
    """Parse a response. It needs a message or calls. Calls of the provider's own tools are ignored. A failed response
    has an error and, through some gateways, nothing else."""
    if error := reply_error(body, unknown_status=400):
        raise error
    response = mapping(body)
    usage = response.get("usage")
    tokens, cost = openai_usage(usage), reported_cost_usd(usage)
    reason = _finish_reason(response)
    if end_of(reason) is ReplyEnd.FILTERED:
        raise content_filtered_error(f"incomplete_details {reason}", tokens, cost)
    written = response.get("output")
    output = mappings([{"content": written}] if isinstance(written, str) else written)
    messages = [content_of(item.get("content")) for item in output if item.get("type", "message") == "message"]
    texts, calls = [message.text for message in messages if message.text is not None], tuple(_calls(output))
    reasoning = joined(content_of(item).reasoning for item in output if item.get("type") == "reasoning")
    if not texts and not calls:
        check_end("", reason, tokens, cost)
        raise malformed_reply("it has neither a message nor calls of functions", tokens, cost)
    return Reply(
        "".join(texts),
        label(response.get("model")),
        tokens,
        reason,
        tool_calls=calls,
        cost_usd=cost,
        reasoning=joined((reasoning, *(message.reasoning for message in messages))),
    )


def _calls(output: list[Mapping[str, object]]) -> Iterator[ToolCall]:
    calls = (item for item in output if item.get("type") == "function_call")
    for number, item in enumerate(calls, 1):
        call_id = label(item.get("call_id")) or label(item.get("id")) or f"call_{number}"
        yield ToolCall(call_id, label(item.get("name")) or "", arguments_of(item.get("arguments")))


def _finish_reason(response: Mapping[str, object]) -> str:
    status = label(response.get("status")) or "completed"
    if status != "incomplete":
        return "stop" if status == "completed" else status
    reason = label(mapping(response.get("incomplete_details")).get("reason")) or status
    return _FINISH_REASONS.get(reason, reason)
