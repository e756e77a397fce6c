"""OpenAI chat completions, also used by Azure, Mistral, DeepSeek, xAI, Groq, OpenRouter, Together AI, Fireworks AI,
Cohere, Perplexity, Ollama, vLLM, llama.cpp and others.
"""

import re
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from cupel_core.domain.turns.model_parameters import ModelParameters
from cupel_core.domain.turns.model_request import Message, MessageRole, ModelRequest, Reply, Usage
from cupel_core.domain.turns.parts import MessagePart, TextPart
from cupel_core.domain.turns.tools import ToolCall, ToolChoice, ToolMode
from cupel_core.providers import azure
from cupel_core.providers.account import Account
from cupel_core.providers.errors import error_in_reply
from cupel_core.providers.reply_limits import ReportedCost, TokenCount
from cupel_core.providers.wire_format import (
    AttachedFile,
    WireModel,
    WireRequest,
    bearer_header,
    content_filtered_error,
    endpoint_url,
    enforced_schema,
    is_closed_schema,
    json_instruction,
    without_none,
)

# OpenAI's reasoning models reject `max_tokens`; servers that implement the older API know only that name.
_COMPLETION_TOKENS = frozenset({"openai", "azure", "groq", "xai"})
# DeepSeek's JSON mode takes no schema and requires the word "JSON" in the prompt.
_JSON_MODE_ONLY = frozenset({"deepseek"})
# Cohere's JSON mode takes the schema itself.
_JSON_MODE_WITH_SCHEMA = frozenset({"cohere"})
# Mistral has its own type of part for a document.
_DOCUMENT_URLS = frozenset({"mistral"})
_SEED_NAMES = {"mistral": "random_seed"}
_ANY_TOOL = {"mistral": "any"}
_ASKS_FOR_JSON = re.compile("json", re.IGNORECASE)


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    body: dict[str, object] = {
        "model": model_name,
        "messages": [_message(account, request, each) for each in with_json_instruction(account, request).messages],
        **_sampling(account, request),
        **without_none(response_format=_response_format(account, request)),
        **_tools(account, request.parameters),
    }
    return operation_request(account, model_name, "chat/completions", body)


def operation_request(account: Account, model_name: str, operation: str, body: dict[str, object]) -> WireRequest:
    """A request to an operation of this API, at the provider's address and with its authentication."""
    if account.provider == "azure":
        return WireRequest(azure.operation_url(account, model_name, operation), body, azure.key_header(account))
    return WireRequest(endpoint_url(account, operation), body, bearer_header(account))


def _message(account: Account, request: ModelRequest, message: Message) -> dict[str, object]:
    if message.role is MessageRole.TOOL:
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.parts:
        return {"role": message.role, "content": [_part(account, request, part) for part in message.parts]}
    if not message.tool_calls:
        return {"role": message.role, "content": message.content}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.sendable_name, "arguments": call.arguments},
        }
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": message.content or None, "tool_calls": calls}


def _part(account: Account, request: ModelRequest, part: MessagePart) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    file = AttachedFile(request, part)
    if not file.is_pdf:
        return {"type": "image_url", "image_url": {"url": file.data_url, **without_none(detail=part.detail)}}
    if account.provider in _DOCUMENT_URLS:
        return {"type": "document_url", "document_url": file.data_url, "document_name": file.name}
    return {"type": "file", "file": {"filename": file.name, "file_data": file.data_url}}


def with_json_instruction(account: Account, request: ModelRequest) -> ModelRequest:
    """JSON mode is refused unless the prompt asks for JSON; a schema that cannot be sent is part of the prompt."""
    if not request.wants_json:
        return request
    is_sent = request.json_schema is not None and account.provider not in _JSON_MODE_ONLY
    has_word = request.json_schema is None and any(_ASKS_FOR_JSON.search(each.content) for each in request.messages)
    if is_sent or has_word:
        return request
    instruction = Message(MessageRole.SYSTEM, json_instruction(request.json_schema))
    return replace(request, messages=(instruction, *request.messages))


def _sampling(account: Account, request: ModelRequest) -> dict[str, object]:
    parameters = request.parameters
    is_newer_name = (account.provider in _COMPLETION_TOKENS) is not request.renames_limit
    limit = "max_completion_tokens" if is_newer_name else "max_tokens"
    return without_none(
        temperature=parameters.temperature,
        top_p=parameters.top_p,
        top_k=parameters.top_k,
        stop=list(parameters.stop) or None,
        frequency_penalty=parameters.frequency_penalty,
        presence_penalty=parameters.presence_penalty,
        reasoning_effort=parameters.reasoning_effort,
        **{limit: parameters.max_output_tokens, _SEED_NAMES.get(account.provider, "seed"): parameters.seed},
    )


def _tools(account: Account, parameters: ModelParameters) -> dict[str, object]:
    if not parameters.tools:
        return {}
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                **without_none(description=tool.description, parameters=dict(tool.schema), strict=tool.strict),
            },
        }
        for tool in parameters.tools
    ]
    return {"tools": tools, **without_none(tool_choice=_tool_choice(account, parameters.tool_choice))}


def _tool_choice(account: Account, choice: ToolChoice | None) -> object:
    if choice is None:
        return None
    if choice.name:
        return {"type": "function", "function": {"name": choice.name}}
    return _ANY_TOOL.get(account.provider, choice.mode) if choice.mode is ToolMode.REQUIRED else choice.mode


def _response_format(account: Account, request: ModelRequest) -> dict[str, object] | None:
    schema = enforced_schema(request)
    if not request.wants_json:
        return None
    if schema is None or account.provider in _JSON_MODE_ONLY:
        return {"type": "json_object"}
    if account.provider in _JSON_MODE_WITH_SCHEMA:
        return {"type": "json_object", "schema": schema}
    reply_format = request.parameters.response_format
    name = reply_format.name if reply_format else "answer"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": is_closed_schema(schema)}}


class _Part(WireModel):
    type: str = "text"
    text: str | None = None


class _Function(WireModel):
    name: str
    arguments: str = ""


class _ToolCall(WireModel):
    id: str | None = None
    function: _Function


class _Message(WireModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None

    @property
    def text(self) -> str:
        """Mistral's reasoning models return content in parts; OpenAI returns a model's refusal in its own field."""
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or self.refusal or ""


class _Choice(WireModel):
    message: _Message
    finish_reason: str | None = None


class _PromptDetails(WireModel):
    cached_tokens: TokenCount = 0


class _Tokens(WireModel):
    prompt_tokens: TokenCount = 0
    completion_tokens: TokenCount = 0
    prompt_tokens_details: _PromptDetails | None = None
    prompt_cache_hit_tokens: TokenCount = 0
    """DeepSeek's name for the cached ones."""
    cost: ReportedCost = None
    """In US dollars, as OpenRouter and Perplexity report it."""

    @property
    def usage(self) -> Usage:
        details = self.prompt_tokens_details.cached_tokens if self.prompt_tokens_details else 0
        return Usage(self.prompt_tokens, self.completion_tokens, details or self.prompt_cache_hit_tokens)


class _FailedChoice(WireModel):
    error: object = None


class _FailedCompletion(WireModel):
    """OpenRouter answers with status 200 when a model fails; with a choice if the model had begun to answer."""

    error: object = None
    choices: list[_FailedChoice] = Field(default_factory=list)


class _Completion(WireModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: str | None = None
    usage: _Tokens | None = None


def parse(body: object) -> Reply:
    failure = _FailedCompletion.model_validate(body)
    for error in (failure.error, *(choice.error for choice in failure.choices)):
        if error:
            raise error_in_reply(error)
    completion = _Completion.model_validate(body)
    choice = completion.choices[0]
    if choice.finish_reason == "content_filter":
        raise content_filtered_error("finish_reason content_filter")
    tokens = completion.usage or _Tokens()
    return Reply(
        choice.message.text,
        completion.model,
        tokens.usage,
        choice.finish_reason,
        tool_calls=_calls(choice.message),
        cost_usd=tokens.cost,
    )


def _calls(message: _Message) -> tuple[ToolCall, ...]:
    """Some servers give their calls no ids."""
    return tuple(
        ToolCall(call.id or f"call_{number}", call.function.name, call.function.arguments)
        for number, call in enumerate(message.tool_calls or (), 1)
    )
