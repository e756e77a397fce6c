"""Streams replies of the bench model server as server-sent events: word by word, in each of the three formats."""

import re
from collections.abc import Iterable

import orjson

from bench.model_formats import Json

_WORD = re.compile(r"\s*\S+|\s+")


def is_streamed(path: str, body: Json) -> bool:
    return path.endswith(":streamGenerateContent") or bool(body.get("stream"))


def frames(body: Json) -> list[bytes]:
    """Return the events of a reply that would have this body; the first has no text."""
    if "choices" in body:
        return [_frame(event) for event in _openai(body)] + [b"data: [DONE]\n\n"]
    return [_frame(event) for event in (_anthropic(body) if "content" in body else _google(body))]


def _frame(event: Json) -> bytes:
    return b"data: " + orjson.dumps(event) + b"\n\n"


def _openai(body: Json) -> Iterable[Json]:
    (choice,) = body["choices"]
    message, common = choice["message"], {"object": "chat.completion.chunk", "model": body["model"]}

    def chunk(delta: Json, reason: str | None = None) -> Json:
        return {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"content": word}) for word in _WORD.findall(message["content"] or ""))
    calls = [{"index": number, **call} for number, call in enumerate(message.get("tool_calls") or ())]
    yield chunk({"tool_calls": calls} if calls else {}, choice["finish_reason"])
    yield {**common, "choices": [], "usage": body["usage"]}


def _anthropic(body: Json) -> Iterable[Json]:
    (block,) = body["content"]
    begun = {**block, "text": ""} if "text" in block else block
    kind, usage = "content_block_delta", body["usage"]
    yield {"type": "message_start", "message": {**body, "content": [], "usage": {**usage, "output_tokens": 1}}}
    yield {"type": "content_block_start", "index": 0, "content_block": begun}
    for word in _WORD.findall(block.get("text", "")):
        yield {"type": kind, "index": 0, "delta": {"type": "text_delta", "text": word}}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": body["stop_reason"]}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _google(body: Json) -> Iterable[Json]:
    (candidate,) = body["candidates"]
    text = candidate["content"]["parts"][0]["text"]

    def response(part: str, **more: str) -> Json:
        content = {"role": "model", "parts": [{"text": part}]}
        return {**body, "candidates": [{"content": content, "index": 0, **more}]}

    yield response("")
    yield from (response(word) for word in _WORD.findall(text))
    yield response("", finishReason=candidate["finishReason"])
