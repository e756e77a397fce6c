"""OpenAI chat completions, also used by Azure, Mistral, DeepSeek, xAI, Groq, OpenRouter, Together AI, Fireworks AI,
Cohere, Perplexity, Ollama, vLLM, llama.cpp and others.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from cupel_core.domain.turns.model_request import Message, MessageRole, ModelRequest, Reply, Usage
from cupel_core.providers import azure
from cupel_core.providers.account import Account
from cupel_core.providers.errors import error_in_reply
from cupel_core.providers.reply_limits import ReportedCost, TokenCount
from cupel_core.providers.wire_format import (
    WireRequest,
    bearer_header,
    content_filtered_error,
    endpoint_url,
    schema_instruction,
    without_none,
)

# OpenAI's reasoning models reject `max_tokens`; servers that implement the older API know only that name.
_COMPLETION_TOKENS = frozenset({"openai", "azure", "groq", "xai"})
# DeepSeek's JSON mode takes no schema and requires the word "JSON" in the prompt.
_JSON_MODE_ONLY = frozenset({"deepseek"})
# Cohere's JSON mode takes the schema itself.
_JSON_MODE_WITH_SCHEMA = frozenset({"cohere"})


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    schema = request.json_schema
    if schema and account.provider in _JSON_MODE_ONLY:
        instruction = Message(MessageRole.SYSTEM, schema_instruction(schema))
        request = replace(request, messages=(instruction, *request.messages))
    limit = "max_completion_tokens" if account.provider in _COMPLETION_TOKENS else "max_tokens"
    body: dict[str, object] = {
        "model": model_name,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        **without_none(temperature=request.temperature, response_format=_response_format(account, schema)),
        **without_none(**{limit: request.max_output_tokens}),
    }
    return operation_request(account, model_name, "chat/completions", body)


def operation_request(account: Account, model_name: str, operation: str, body: dict[str, object]) -> WireRequest:
    """A request to an operation of this API, at the provider's address and with its authentication."""
    if account.provider == "azure":
        return WireRequest(azure.operation_url(account, model_name, operation), body, azure.key_header(account))
    return WireRequest(endpoint_url(account, operation), body, bearer_header(account))


def _response_format(account: Account, schema: dict[str, object] | None) -> dict[str, object] | None:
    if schema is None:
        return None
    if account.provider in _JSON_MODE_ONLY:
        return {"type": "json_object"}
    if account.provider in _JSON_MODE_WITH_SCHEMA:
        return {"type": "json_object", "schema": schema}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)}}


def is_strict(schema: object) -> bool:
    """OpenAI enforces a schema only when every object in it is closed and requires all its properties."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if isinstance(properties, dict):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(value) for value in schema.values())


class _Part(BaseModel):
    type: str = "text"
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """Mistral's reasoning models return content in parts; OpenAI returns a model's refusal in its own field."""
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or self.refusal or ""


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: TokenCount = 0
    completion_tokens: TokenCount = 0
    cost: ReportedCost = None
    """In US dollars, as OpenRouter and Perplexity report it."""


class _FailedChoice(BaseModel):
    error: object = None


class _FailedCompletion(BaseModel):
    """OpenRouter answers with status 200 when a model fails; with a choice if the model had begun to answer."""

    error: object = None
    choices: list[_FailedChoice] = []


class _Completion(BaseModel):
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
    usage = Usage(tokens.prompt_tokens, tokens.completion_tokens)
    return Reply(choice.message.text, completion.model, usage, choice.finish_reason, cost_usd=tokens.cost)
