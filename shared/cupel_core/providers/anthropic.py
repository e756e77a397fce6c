"""Anthropic messages."""

import orjson
from pydantic import BaseModel

from cupel_core.domain.turns.model_request import ModelRequest, Reply, Usage
from cupel_core.providers.account import Account
from cupel_core.providers.reply_limits import TokenCount
from cupel_core.providers.wire_format import WireRequest, api_key_of, content_filtered_error, endpoint_url, without_none

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The API requires a limit; this is the largest that every model still served accepts."""

_TOOL = "answer"


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    body: dict[str, object] = {
        "model": model_name,
        "max_tokens": request.max_output_tokens or DEFAULT_MAX_TOKENS,
        "messages": [{"role": message.role, "content": message.content} for message in request.exchanges],
        **without_none(system=request.system, temperature=request.temperature),
        **_schema_as_tool(request.json_schema),
    }
    headers = {"x-api-key": api_key_of(account), "anthropic-version": API_VERSION}
    return WireRequest(endpoint_url(account, "messages"), body, headers)


def _schema_as_tool(schema: dict[str, object] | None) -> dict[str, object]:
    """Every model supports a forced tool call with a schema; only the newest have native structured output."""
    if schema is None:
        return {}
    tool = {"name": _TOOL, "description": "Gives the answer.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}


class _Block(BaseModel):
    type: str
    text: str = ""
    input: dict[str, object] | None = None


class _Tokens(BaseModel):
    """`input_tokens` does not include tokens read from or written to the prompt cache."""

    input_tokens: TokenCount = 0
    output_tokens: TokenCount = 0
    cache_creation_input_tokens: TokenCount = 0
    cache_read_input_tokens: TokenCount = 0

    @property
    def total_input(self) -> int:
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


class _Message(BaseModel):
    content: list[_Block]
    model: str | None = None
    stop_reason: str | None = None
    usage: _Tokens = _Tokens()


def parse(body: object) -> Reply:
    message = _Message.model_validate(body)
    if message.stop_reason == "refusal":
        raise content_filtered_error("stop_reason refusal")
    usage = Usage(message.usage.total_input, message.usage.output_tokens)
    return Reply(_text_of(message.content), message.model, usage, message.stop_reason)


def _text_of(blocks: list[_Block]) -> str:
    for block in blocks:
        if block.type == "tool_use" and block.input is not None:
            return orjson.dumps(block.input).decode()
    return "".join(block.text for block in blocks if block.type == "text")
