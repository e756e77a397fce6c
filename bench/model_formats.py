"""Implements the server side of the three wire formats: parsing of requests, and bodies of replies and errors."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import orjson

type Json = dict[str, Any]
type ReplyBody = str | Json

VERSION = "bench-1"
_KEY_LENGTH = 100


@dataclass(frozen=True)
class Prompt:
    """Holds the `text` of all messages, system first, the `last` message, and the JSON `schema` of the reply, if
    any."""

    model: str
    text: str
    last: str
    schema: Json | None = None

    @cached_property
    def digest(self) -> int:
        return zlib.crc32(self.text.encode())

    @property
    def key(self) -> str:
        """Return a readable and unique key: the model, the beginning of the last message, a hash of the
        conversation."""
        return f"{self.model} {self.last[:_KEY_LENGTH]} #{self.digest:08x}"


class WireFormat(NamedTuple):
    """Defines a format. `model_in(path)` is None for paths of other formats, and "" if the model is in the body."""

    model_in: Callable[[str], str | None]
    read: Callable[[Json, str], Prompt]
    reply: Callable[[Prompt, ReplyBody], Json]
    error: Callable[[str], Json]


def reply_text(reply: ReplyBody) -> str:
    return reply if isinstance(reply, str) else orjson.dumps(reply).decode()


def token_count(text: str) -> int:
    return -(-len(text) // 4)


def _prompt(model: str, messages: list[str], schema: Json | None) -> Prompt:
    return Prompt(model, "\n".join(messages), messages[-1] if messages else "", schema)


def _read_openai(body: Json, _model: str) -> Prompt:
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    # A message with calls of functions has no content.
    return _prompt(body["model"], [message.get("content") or "" for message in body["messages"]], schema)


def _reply_openai(prompt: Prompt, reply: ReplyBody) -> Json:
    """Return a reply. An object with `toolCalls` becomes calls of functions, whose ids differ between prompts."""
    if isinstance(reply, dict) and "toolCalls" in reply:
        return _calls_openai(prompt, reply["toolCalls"])
    text = reply_text(reply)
    used = {"prompt_tokens": token_count(prompt.text), "completion_tokens": token_count(text)}
    return {
        "object": "chat.completion",
        "model": f"{prompt.model}-{VERSION}",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {**used, "total_tokens": sum(used.values())},
    }


def _calls_openai(prompt: Prompt, calls: list[Json]) -> Json:
    tool_calls = [
        {
            "id": f"call_{prompt.digest:08x}_{number}",
            "type": "function",
            "function": {"name": call["name"], "arguments": orjson.dumps(call.get("arguments", {})).decode()},
        }
        for number, call in enumerate(calls)
    ]
    body = _reply_openai(prompt, reply_text({"toolCalls": calls}))  # Tokens are counted from this text.
    body["choices"][0] |= {
        "message": {"role": "assistant", "content": None, "tool_calls": tool_calls},
        "finish_reason": "tool_calls",
    }
    return body


def _error_openai(message: str) -> Json:
    return {"error": {"message": message, "type": "bench_error", "param": None, "code": None}}


def _read_anthropic(body: Json, _model: str) -> Prompt:
    tools = body.get("tools") or [{}]
    system = [body["system"]] if body.get("system") else []
    texts = [message["content"] for message in body["messages"]]
    return _prompt(body["model"], system + texts, tools[0].get("input_schema"))


def _reply_anthropic(prompt: Prompt, reply: ReplyBody) -> Json:
    """Return a reply. An object becomes a call of the forced tool, as in the real API."""
    if isinstance(reply, dict) and prompt.schema is not None:
        block: Json = {"type": "tool_use", "id": "toolu_bench", "name": "cupel_answer", "input": reply}
    else:
        block = {"type": "text", "text": reply_text(reply)}
    return {
        "type": "message",
        "role": "assistant",
        "model": f"{prompt.model}-{VERSION}",
        "content": [block],
        "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
        "usage": {"input_tokens": token_count(prompt.text), "output_tokens": token_count(reply_text(reply))},
    }


def _error_anthropic(message: str) -> Json:
    return {"type": "error", "error": {"type": "bench_error", "message": message}}


def _google_model(path: str) -> str | None:
    path, _, method = path.rpartition(":")
    return path.rpartition("/models/")[2] if method in ("generateContent", "streamGenerateContent") else None


def _read_google(body: Json, model: str) -> Prompt:
    contents = [body["systemInstruction"]] if body.get("systemInstruction") else []
    texts = ["".join(part["text"] for part in content["parts"]) for content in contents + body["contents"]]
    return _prompt(model, texts, body.get("generationConfig", {}).get("responseJsonSchema"))


def _reply_google(prompt: Prompt, reply: ReplyBody) -> Json:
    text = reply_text(reply)
    used = {"promptTokenCount": token_count(prompt.text), "candidatesTokenCount": token_count(text)}
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**used, "totalTokenCount": sum(used.values())},
        "modelVersion": f"{prompt.model}-{VERSION}",
    }


def _error_google(message: str) -> Json:
    return {"error": {"code": 0, "message": message, "status": "BENCH_ERROR"}}


def _path_ends_with(suffix: str) -> Callable[[str], str | None]:
    return lambda path: "" if path.endswith(suffix) else None


FORMATS = (
    WireFormat(_path_ends_with("/chat/completions"), _read_openai, _reply_openai, _error_openai),
    WireFormat(_path_ends_with("/messages"), _read_anthropic, _reply_anthropic, _error_anthropic),
    WireFormat(_google_model, _read_google, _reply_google, _error_google),
)
