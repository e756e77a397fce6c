"""Google generateContent."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Annotated
from urllib.parse import quote

import orjson
from pydantic import Field

from cupel_core.domain.turns.model_parameters import ModelParameters, ReasoningEffort
from cupel_core.domain.turns.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.turns.parts import MessagePart, TextPart
from cupel_core.domain.turns.tools import ToolCall, ToolMode
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_limits import TokenCount
from cupel_core.providers.wire_format import (
    AttachedFile,
    CamelModel,
    WireRequest,
    api_key_of,
    content_filtered_error,
    endpoint_url,
    without_none,
)

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "model"}

# Finish reasons that mean the API withheld the answer.
_FILTERED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})


_THINKING_LEVELS = {ReasoningEffort.NONE: "minimal", ReasoningEffort.XHIGH: "high"}
_THINKING_BUDGETS = {
    ReasoningEffort.NONE: 0,
    ReasoningEffort.MINIMAL: 512,
    ReasoningEffort.LOW: 1_024,
    ReasoningEffort.MEDIUM: 8_192,
    ReasoningEffort.HIGH: 24_576,
    ReasoningEffort.XHIGH: 24_576,
}
"""Of models before Gemini 3, which take tokens instead of a level."""
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
    """Results of functions are a user's, by the functions' names; those of one turn are sent together."""
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
    """Gemini 3 refuses calls without the thought signature that it gave them."""
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


class _FunctionCall(CamelModel):
    id: str | None = None
    name: str
    args: Annotated[dict[str, object], Field(default_factory=dict)]


class _Part(CamelModel):
    text: str = ""
    thought: bool = False
    function_call: _FunctionCall | None = None
    thought_signature: str | None = None


class _Content(CamelModel):
    parts: tuple[_Part, ...] = ()


class _GoogleCandidate(CamelModel):
    content: _Content = _Content()
    finish_reason: str | None = None


class _Feedback(CamelModel):
    block_reason: str | None = None


class _Tokens(CamelModel):
    """Thinking tokens are billed as output and counted separately."""

    prompt_token_count: TokenCount = 0
    candidates_token_count: TokenCount = 0
    thoughts_token_count: TokenCount = 0
    cached_content_token_count: TokenCount = 0
    """Part of the prompt's."""

    @property
    def usage(self) -> Usage:
        output = self.candidates_token_count + self.thoughts_token_count
        return Usage(self.prompt_token_count, output, self.cached_content_token_count)


class _GenerateContentResponse(CamelModel):
    candidates: tuple[_GoogleCandidate, ...] = ()
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: _Tokens = _Tokens()
    model_version: str | None = None


def parse(body: object) -> Reply:
    response = _GenerateContentResponse.model_validate(body)
    if response.prompt_feedback.block_reason:
        raise content_filtered_error(f"blockReason {response.prompt_feedback.block_reason}")
    if not response.candidates:
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, "the response has no candidates")
    candidate = response.candidates[0]
    if candidate.finish_reason in _FILTERED:
        raise content_filtered_error(f"finishReason {candidate.finish_reason}")
    text = "".join(part.text for part in candidate.content.parts if not part.thought)
    calls = tuple(_calls(candidate.content.parts))
    return Reply(text, response.model_version, response.usage_metadata.usage, candidate.finish_reason, tool_calls=calls)


def _calls(parts: tuple[_Part, ...]) -> Iterator[ToolCall]:
    """Most calls have no id of their own."""
    for number, part in enumerate(parts, 1):
        if call := part.function_call:
            arguments = orjson.dumps(call.args).decode()
            yield ToolCall(call.id or f"call_{number}", call.name, arguments, part.thought_signature)
