"""OpenAI chat completions, also used by Azure, Mistral, DeepSeek, xAI, Groq, OpenRouter, Together AI, Fireworks AI,
Cohere, Perplexity, Ollama, vLLM, llama.cpp and others.

An account of Azure has a resource's base URL, `https://<resource>.openai.azure.com`, and a model's name is that of its
deployment. Requests go to the v1 API (`/openai/v1`), which has no versions by date; to the API of a date if the base
URL ends with `?api-version=<date>`. The key is an API key, the JSON of a service principal (see `access_tokens`) or an
access token of Microsoft Entra ID, which expires within an hour or so.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.conversations.parts import MessagePart, TextPart
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.tools import ToolCall, ToolChoice, ToolMode
from cupel_core.providers.account import Account
from cupel_core.providers.errors import malformed_reply, reply_error
from cupel_core.providers.reply_ends import check_end
from cupel_core.providers.reply_fields import arguments_of, content_of, label, mapping, mappings
from cupel_core.providers.token_usage import openai_usage, reported_cost_usd
from cupel_core.providers.wire_format import (
    AttachedFile,
    WireRequest,
    api_key_of,
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
_V1 = "/openai/v1"
_DOTS_OF_A_JWT = 2
_BY_DEPLOYMENT = frozenset({"chat/completions", "embeddings"})
"""The dated versions of these operations name the deployment in the path. Others name it in the body."""


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    body: dict[str, object] = {
        **(request.parameters.extra_body or {}),
        "model": model_name,
        "messages": [_message(account, request, each) for each in with_json_instruction(account, request).messages],
        **_sampling(account, request),
        **without_none(response_format=_response_format(account, request)),
        **_tools(account, request.parameters),
    }
    return operation_request(account, model_name, "chat/completions", body)


def operation_request(account: Account, model_name: str, operation: str, body: dict[str, object]) -> WireRequest:
    """Return a request to an operation of this API, at the provider's address and with its authentication."""
    if account.provider == "azure":
        return WireRequest(_azure_url(account, model_name, operation), body, _azure_key_header(account))
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
    """Add an instruction to the prompt, because JSON mode is refused unless the prompt asks for JSON. A schema that
    cannot be sent as a parameter is part of the prompt too."""
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


def parse(body: object) -> Reply:
    """Parse a response. It needs a text, calls of functions or an error. No other field decides about them. OpenRouter
    answers with status 200 when a model fails, and with a choice if the model had begun to answer."""
    if error := reply_error(body):
        raise error
    response = mapping(body)
    usage = response.get("usage")
    tokens, cost = openai_usage(usage), reported_cost_usd(usage)
    choice = next(iter(mappings(response.get("choices"))), None)
    if choice is None:
        raise malformed_reply("it has no choices", tokens, cost)
    message, reason = mapping(choice.get("message")), label(choice.get("finish_reason"))
    if end_of(reason) is ReplyEnd.FILTERED:
        raise content_filtered_error(f"finish_reason {reason}", tokens, cost)
    content = content_of(message.get("content") if message else choice.get("text"))
    text, calls = content.text, tuple(_calls(message))
    if not text and isinstance(message.get("refusal"), str):
        text = str(message["refusal"])  # OpenAI returns a model's refusal in its own field.
    if text is None and not calls:
        check_end("", reason, tokens, cost)
        raise malformed_reply("it has neither a text nor calls of functions", tokens, cost)
    return Reply(
        text or "",
        label(response.get("model")),
        tokens,
        reason,
        tool_calls=calls,
        cost_usd=cost,
        reasoning=content.reasoning or reasoning_of(message),
    )


def reasoning_of(message: Mapping[str, object]) -> str:
    """Return the reasoning, whose field differs between servers. DeepSeek, xAI, Moonshot, SGLang and llama.cpp name it
    `reasoning_content`, OpenRouter, vLLM and Groq `reasoning`, and Ollama's own format `thinking`."""
    for name in ("reasoning_content", "reasoning", "thinking", "reasoning_details"):
        if value := message.get(name):
            content = content_of(value)
            return content.text or content.reasoning
    return ""


def _calls(message: Mapping[str, object]) -> Iterator[ToolCall]:
    """Yield the calls. Some servers give them no ids, or numbers; the older format has one call without any."""
    calls = mappings(message.get("tool_calls")) or [
        {"function": call} for call in mappings(message.get("function_call"))
    ]
    for number, call in enumerate(calls, 1):
        function = mapping(call.get("function")) or call
        if (name := label(function.get("name"))) is not None:
            call_id = label(call.get("id")) or f"call_{number}"
            yield ToolCall(call_id, name, arguments_of(function.get("arguments")))


def _azure_url(account: Account, deployment: str, operation: str) -> str:
    base, _, query = account.base_url.partition("?")
    resource = base.rstrip("/").removesuffix(_V1).removesuffix("/openai")
    if not query:
        return f"{resource}{_V1}/{operation}"
    path = f"deployments/{quote(deployment, safe='')}/{operation}" if operation in _BY_DEPLOYMENT else operation
    return f"{resource}/openai/{path}?{query}"


def _azure_key_header(account: Account) -> dict[str, str]:
    key = api_key_of(account)
    if not key:
        return {}
    return {"authorization": f"Bearer {key}"} if _is_access_token(key) else {"api-key": key}


def _is_access_token(key: str) -> bool:
    """Return whether it is a JWT: three parts, of which the first begins with `{"`."""
    return key.startswith("eyJ") and key.count(".") == _DOTS_OF_A_JWT
