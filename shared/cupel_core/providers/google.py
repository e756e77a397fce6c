from collections.abc import Iterator, Mapping
from itertools import groupby
from urllib.parse import quote

from cupel_core.domain.conversations.model_parameters import ModelParameters, ReasoningEffort
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.conversations.parts import MessagePart, TextPart
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.tools import ToolCall, ToolMode
from cupel_core.providers.account import Account
from cupel_core.providers.errors import malformed_reply, reply_error
from cupel_core.providers.reply_ends import check_end
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping, mappings
from cupel_core.providers.token_usage import google_usage
from cupel_core.providers.wire_format import (
    AttachedFile,
    WireRequest,
    api_key_of,
    content_filtered_error,
    endpoint_url,
    without_none,
)

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "model"}

_THINKING_LEVELS = {ReasoningEffort.NONE: "minimal", ReasoningEffort.XHIGH: "high"}
_THINKING_BUDGETS = {
    ReasoningEffort.NONE: 0,
    ReasoningEffort.MINIMAL: 512,
    ReasoningEffort.LOW: 1_024,
    ReasoningEffort.MEDIUM: 8_192,
    ReasoningEffort.HIGH: 24_576,
    ReasoningEffort.XHIGH: 24_576,
}
"""Budgets of models before Gemini 3, which take tokens instead of a level."""
_MODES = {ToolMode.AUTO: "AUTO", ToolMode.NONE: "NONE", ToolMode.REQUIRED: "ANY"}


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    config = _generation_config(model_name, request)
    body: dict[str, object] = {
        "contents": list(_contents(request)),
        **without_none(systemInstruction=_instruction(request.system), generationConfig=config or None),
        **_tools(request.parameters),
    }
    path = f"models/{quote(model_name, safe='')}:generateContent"
    key = api_key_of(account)
    return WireRequest(endpoint_url(account, path), body, {"x-goog-api-key": key} if key else {})


def _generation_config(model_name: str, request: ModelRequest) -> dict[str, object]:
    parameters = request.parameters
    return without_none(
        temperature=parameters.temperature,
        topP=parameters.top_p,
        topK=parameters.top_k,
        maxOutputTokens=parameters.max_output_tokens,
        stopSequences=list(parameters.stop) or None,
        seed=parameters.seed,
        frequencyPenalty=parameters.frequency_penalty,
        presencePenalty=parameters.presence_penalty,
        thinkingConfig=_thinking(model_name, parameters.reasoning_effort),
        responseMimeType="application/json" if request.wants_json else None,
        # The older `responseSchema` is an OpenAPI subset that rejects, for example, `additionalProperties`.
        responseJsonSchema=request.json_schema,
    )


def _thinking(model_name: str, effort: ReasoningEffort | None) -> dict[str, object] | None:
    if effort is None:
        return None
    if model_name.startswith(("gemini-1", "gemini-2")):
        return {"thinkingBudget": _THINKING_BUDGETS[effort]}
    return {"thinkingLevel": _THINKING_LEVELS.get(effort, effort.value)}


def _tools(parameters: ModelParameters) -> dict[str, object]:
    if not parameters.tools:
        return {}
    declarations = [
        {"name": tool.name, **without_none(description=tool.description, parametersJsonSchema=dict(tool.schema))}
        for tool in parameters.tools
    ]
    choice = parameters.tool_choice
    calling = choice and without_none(
        mode=_MODES[choice.mode], allowedFunctionNames=[choice.name] if choice.name else None
    )
    return {
        "tools": [{"functionDeclarations": declarations}],
        **without_none(toolConfig={"functionCallingConfig": calling} if calling else None),
    }


def _contents(request: ModelRequest) -> Iterator[dict[str, object]]:
    """Yield the contents. Results of functions are a user's, by the functions' names; those of one turn are sent
    together."""
    exchanges = request.exchanges
    names = {call.id: call.sendable_name for message in exchanges for call in message.tool_calls}
    for is_result, group in groupby(exchanges, key=lambda message: message.role is MessageRole.TOOL):
        messages = list(group)
        if is_result:
            yield {"role": "user", "parts": [_function_response(message, names) for message in messages]}
        else:
            for message in messages:
                yield {"role": _ROLES[message.role], "parts": _parts(request, message)}


def _function_response(message: Message, names: Mapping[str, str]) -> dict[str, object]:
    name = names.get(message.tool_call_id or "", "")
    response = {"error" if message.is_error else "result": message.content}
    return {"functionResponse": {"name": name, "response": response}}


def _parts(request: ModelRequest, message: Message) -> list[dict[str, object]]:
    """Return the parts. Gemini 3 refuses calls without the thought signature that it gave them."""
    if message.parts:
        return [_part(request, part) for part in message.parts]
    calls = [
        {
            "functionCall": {"name": call.sendable_name, "args": call.arguments_object},
            **without_none(thoughtSignature=call.signature),
        }
        for call in message.tool_calls
    ]
    return [{"text": message.content}, *calls] if message.content or not calls else calls


def _part(request: ModelRequest, part: MessagePart) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    file = AttachedFile(request, part)
    return {"inlineData": {"mimeType": file.format.media_type, "data": file.base64}}


def _instruction(system: str | None) -> dict[str, object] | None:
    return {"parts": [{"text": system}]} if system else None


def parse(body: object) -> Reply:
    if error := reply_error(body):
        raise error
    response = mapping(body)
    tokens, version = google_usage(response.get("usageMetadata")), label(response.get("modelVersion"))
    if blocked := label(mapping(response.get("promptFeedback")).get("blockReason")):
        raise content_filtered_error(f"blockReason {blocked}", tokens)
    candidate = next(iter(mappings(response.get("candidates"))), None)
    if candidate is None:
        raise malformed_reply("it has no candidates", tokens)
    reason = label(candidate.get("finishReason"))
    if end_of(reason) is ReplyEnd.FILTERED:
        raise content_filtered_error(f"finishReason {reason}", tokens)
    written = mapping(candidate.get("content")).get("parts")
    parts = mappings(written)
    content, calls = content_of(list(parts) if parts else written), tuple(_calls(parts))
    if content.text is None and not calls:
        check_end("", reason, tokens, None)
        raise malformed_reply("it has neither a text nor calls of functions", tokens)
    return Reply(content.text or "", version, tokens, reason, tool_calls=calls, reasoning=content.reasoning)


def _calls(parts: list[Mapping[str, object]]) -> Iterator[ToolCall]:
    """Yield the calls. Most have no id of their own."""
    for number, part in enumerate(parts, 1):
        call = mapping(part.get("functionCall"))
        if (name := label(call.get("name"))) is not None:
            signature = part.get("thoughtSignature")
            yield ToolCall(
                label(call.get("id")) or f"call_{number}",
                name,
                arguments_of(call.get("args")),
                signature if isinstance(signature, str) else None,
            )
