"""Anthropic messages."""

import orjson
from pydantic import BaseModel

from cupel_core.domain.turns.model_request import Conversation, Reply, Usage
from cupel_core.providers.account import Account
from cupel_core.providers.wire_format import WireRequest, endpoint, filtered, given, key_of

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The API wants a limit; this is the largest that every model still served accepts."""

_TOOL = "answer"


def request_for(account: Account, model_name: str, conversation: Conversation) -> WireRequest:
    body: dict[str, object] = {
        "model": model_name,
        "max_tokens": conversation.max_output_tokens or DEFAULT_MAX_TOKENS,
        "messages": [{"role": message.role, "content": message.content} for message in conversation.exchanges],
        **given(system=conversation.system, temperature=conversation.temperature),
        **_schema_as_tool(conversation.json_schema),
    }
    headers = {"x-api-key": key_of(account), "anthropic-version": API_VERSION}
    return WireRequest(endpoint(account, "messages"), body, headers)


def _schema_as_tool(schema: dict[str, object] | None) -> dict[str, object]:
    """A forced tool call has a schema with every model; the native JSON output exists for the newest only."""
    if schema is None:
        return {}
    tool = {"name": _TOOL, "description": "Gives the answer.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}


class _Block(BaseModel):
    type: str
    text: str = ""
    input: dict[str, object] | None = None


class _Tokens(BaseModel):
    """`input_tokens` leaves out what went through the prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def all_input(self) -> int:
        return self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)


class _Message(BaseModel):
    content: list[_Block]
    model: str | None = None
    stop_reason: str | None = None
    usage: _Tokens = _Tokens()


def parse(body: object) -> Reply:
    message = _Message.model_validate(body)
    if message.stop_reason == "refusal":
        raise filtered("stop_reason refusal")
    usage = Usage(message.usage.all_input, message.usage.output_tokens)
    return Reply(_text_of(message.content), message.model, usage, message.stop_reason)


def _text_of(blocks: list[_Block]) -> str:
    for block in blocks:
        if block.type == "tool_use" and block.input is not None:
            return orjson.dumps(block.input).decode()
    return "".join(block.text for block in blocks if block.type == "text")
