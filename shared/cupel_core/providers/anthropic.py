import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import groupby

from cupel_core.domain.conversations.model_parameters import ModelParameters, ReasoningEffort
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.conversations.parts import MessagePart, TextPart
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.tools import ToolCall, ToolChoice, ToolMode
from cupel_core.providers.account import Account
from cupel_core.providers.errors import malformed_reply, reply_error
from cupel_core.providers.reply_ends import check_end
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping, mappings
from cupel_core.providers.token_usage import anthropic_usage
from cupel_core.providers.wire_format import (
    AttachedFile,
    WireRequest,
    api_key_of,
    content_filtered_error,
    endpoint_url,
    enforced_schema,
    is_closed_schema,
    json_instruction,
    without_none,
)

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The API requires a limit. This is the largest that every model still served accepts."""

ANSWER_TOOL = "cupel_answer"
"""The tool whose arguments are the answer, if a schema is requested of a model without native structured output."""
_NATIVE_SCHEMA = re.compile(r"claude-(opus|sonnet|haiku)-(4-[5-9]|[5-9])(?!\d).*")
_ADAPTIVE_THINKING = re.compile(r"claude-((opus|sonnet)-4-[6-9]|\w+-[5-9])(?!\d).*")
_THINKING_TOKENS = {
    ReasoningEffort.MINIMAL: 1_024,
    ReasoningEffort.LOW: 1_024,
    ReasoningEffort.MEDIUM: 4_096,
    ReasoningEffort.HIGH: 16_384,
    ReasoningEffort.XHIGH: 32_000,
}
"""Budgets of models that take tokens instead of an effort. They are added to the limit of the answer itself."""


class _Enforcement(StrEnum):
    NATIVE = "native"
    TOOL = "tool"
    PROMPT = "prompt"


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    parameters, enforcement = request.parameters, _enforcement(model_name, request)
    instruction = json_instruction(request.json_schema) if enforcement is _Enforcement.PROMPT else None
    body: dict[str, object] = {
        "model": model_name,
        "max_tokens": max_tokens(model_name, parameters),
        "messages": list(_messages(request)),
        **without_none(
            system="\n\n".join(filter(None, (request.system, instruction))) or None,
            temperature=parameters.temperature,
            top_p=parameters.top_p,
            top_k=parameters.top_k,
            stop_sequences=list(parameters.stop) or None,
            thinking=_thinking(model_name, parameters),
            output_config=_output_config(model_name, request, enforcement) or None,
        ),
        **(_answer_tool(request.json_schema) if enforcement is _Enforcement.TOOL else _tools(parameters)),
    }
    headers = {"x-api-key": api_key_of(account), "anthropic-version": API_VERSION}
    return WireRequest(endpoint_url(account, "messages"), body, headers)


def _enforcement(model_name: str, request: ModelRequest) -> _Enforcement | None:
    """Return the native way for new models, else a forced tool call, which excludes other tools and thinking."""
    if not request.wants_json:
        return None
    if request.json_schema is None:
        return _Enforcement.PROMPT
    if _NATIVE_SCHEMA.fullmatch(model_name) and is_closed_schema(request.json_schema):
        return _Enforcement.NATIVE
    parameters = request.parameters
    return _Enforcement.PROMPT if parameters.tools or _thinking(model_name, parameters) else _Enforcement.TOOL


def _thinking(model_name: str, parameters: ModelParameters) -> dict[str, object] | None:
    effort = parameters.reasoning_effort
    if effort is None or effort is ReasoningEffort.NONE:
        return None
    if _ADAPTIVE_THINKING.fullmatch(model_name):
        return {"type": "adaptive"}
    return {"type": "enabled", "budget_tokens": _THINKING_TOKENS[effort]}


def max_tokens(model_name: str, parameters: ModelParameters) -> int:
    return (parameters.max_output_tokens or DEFAULT_MAX_TOKENS) + _thinking_tokens(model_name, parameters)


def _thinking_tokens(model_name: str, parameters: ModelParameters) -> int:
    """Return the tokens of thinking. They count towards the limit, which must be greater than this budget."""
    effort, thinking = parameters.reasoning_effort, _thinking(model_name, parameters) or {}
    return _THINKING_TOKENS[effort] if effort and "budget_tokens" in thinking else 0


def _output_config(model_name: str, request: ModelRequest, enforcement: _Enforcement | None) -> dict[str, object]:
    effort, config = request.parameters.reasoning_effort, dict[str, object]()
    if effort and effort is not ReasoningEffort.NONE and _ADAPTIVE_THINKING.fullmatch(model_name):
        config["effort"] = "low" if effort is ReasoningEffort.MINIMAL else effort
    if enforcement is _Enforcement.NATIVE:
        config["format"] = {"type": "json_schema", "schema": enforced_schema(request)}
    return config


def _answer_tool(schema: dict[str, object] | None) -> dict[str, object]:
    tool = {"name": ANSWER_TOOL, "description": "Gives the answer.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": ANSWER_TOOL}}


def _tools(parameters: ModelParameters) -> dict[str, object]:
    if not parameters.tools:
        return {}
    tools = [
        {"name": tool.name, **without_none(description=tool.description, input_schema=dict(tool.schema))}
        for tool in parameters.tools
    ]
    return {"tools": tools, **without_none(tool_choice=_tool_choice(parameters.tool_choice))}


def _tool_choice(choice: ToolChoice | None) -> dict[str, object] | None:
    if choice is None:
        return None
    if choice.name:
        return {"type": "tool", "name": choice.name}
    return {"type": "any" if choice.mode is ToolMode.REQUIRED else choice.mode.value}


def _messages(request: ModelRequest) -> Iterable[dict[str, object]]:
    """Yield the messages. Results of tools are a user's, and those of one turn are sent together."""
    for is_result, group in groupby(request.exchanges, key=lambda message: message.role is MessageRole.TOOL):
        messages = list(group)
        if is_result:
            yield {"role": "user", "content": [_tool_result(message) for message in messages]}
        else:
            for message in messages:
                yield {"role": message.role, "content": _content(request, message)}


def _tool_result(message: Message) -> dict[str, object]:
    failed: dict[str, object] = {"is_error": True} if message.is_error else {}
    return {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content, **failed}


def _content(request: ModelRequest, message: Message) -> str | list[dict[str, object]]:
    if message.parts:
        return [_part(request, part) for part in message.parts]
    if not message.tool_calls:
        return message.content
    text: list[dict[str, object]] = [{"type": "text", "text": message.content}] if message.content else []
    calls: list[dict[str, object]] = [
        {"type": "tool_use", "id": call.id, "name": call.sendable_name, "input": call.arguments_object}
        for call in message.tool_calls
    ]
    return [*text, *calls]


def _part(request: ModelRequest, part: MessagePart) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    file = AttachedFile(request, part)
    source = {"type": "base64", "media_type": file.format.media_type, "data": file.base64}
    if file.is_pdf:
        return {"type": "document", "source": source, **without_none(title=part.name)}
    return {"type": "image", "source": source}


def parse(body: object) -> Reply:
    if error := reply_error(body):
        raise error
    message = mapping(body)
    tokens, reason = anthropic_usage(message.get("usage")), label(message.get("stop_reason"))
    if end_of(reason) is ReplyEnd.FILTERED:
        raise content_filtered_error(f"stop_reason {reason}", tokens)
    blocks = mappings(message.get("content"))
    calls = [block for block in blocks if block.get("type") == "tool_use" and block.get("input") is not None]
    answers = [arguments_of(block["input"]) for block in calls if block.get("name") == ANSWER_TOOL]
    content = content_of(message.get("content"))
    own_calls = tuple(_call(block, number) for number, block in enumerate(calls, 1) if block.get("name") != ANSWER_TOOL)
    text = answers[0] if answers else content.text
    if text is None and not own_calls:
        check_end("", reason, tokens, None)
        raise malformed_reply("it has neither a text nor calls of tools", tokens)
    return Reply(
        text or "", label(message.get("model")), tokens, reason, tool_calls=own_calls, reasoning=content.reasoning
    )


def _call(block: Mapping[str, object], number: int) -> ToolCall:
    call_id = label(block.get("id")) or f"call_{number}"
    return ToolCall(call_id, label(block.get("name")) or "", arguments_of(block["input"]))
