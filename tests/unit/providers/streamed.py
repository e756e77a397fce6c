"""What providers send for a streamed answer and for the same one as a whole, in each format, as they document it."""

import binascii
import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import orjson
from hypothesis import strategies as st

from cupel_core.domain.conversations.model_request import Reply
from cupel_core.providers import anthropic, bedrock, google, openai, openai_responses
from cupel_core.providers.streams.formats import STREAM_FORMATS
from cupel_core.providers.streams.reply_stream import ReplyStream, StreamedReply
from cupel_core.providers.wire_format import WireRequest

type Json = dict[str, Any]


class Answer(NamedTuple):
    """The pieces of a text and of the arguments of a call."""

    texts: list[str]
    call: list[str] | None = None
    input_tokens: int = 7
    output_tokens: int = 3

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def arguments(self) -> Any:
        return orjson.loads("".join(self.call or ["{}"]))


def pieces(text: str, cuts: Iterable[int]) -> list[str]:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


def chunks(content: bytes, cuts: Iterable[int]) -> list[bytes]:
    ends = sorted({min(cut, len(content)) for cut in cuts} | {0, len(content)})
    return [content[start:end] for start, end in pairwise(ends)]


_CUTS = st.lists(st.integers(0, 60), max_size=6)
_ARGUMENTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers(-9, 9), max_size=3)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
    called = draw(st.none() | _ARGUMENTS.map(lambda given: orjson.dumps(given).decode()))
    call = None if called is None else pieces(called, draw(_CUTS))
    tokens = st.integers(0, 1_000)
    return Answer(pieces(text, draw(_CUTS)), call, draw(tokens), draw(tokens))


def sse(events: Iterable[Json | str], line_end: str = "\n") -> bytes:
    """With a comment before each event, as some gateways send them, and Anthropic's names of events."""
    lines: list[str] = []
    for event in events:
        name = [f"event: {event['type']}"] if isinstance(event, dict) and "type" in event else []
        data = event if isinstance(event, str) else orjson.dumps(event).decode()
        lines += [": keep-alive", *name, f"data: {data}", ""]
    return line_end.join([*lines, ""]).encode()


def openai_events(answer: Answer) -> Iterator[Json | str]:
    def chunk(delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"object": "chat.completion.chunk", "model": "gpt-5-mini-2025-08-07", "choices": [choice], "usage": None}

    yield {"choices": [], "prompt_filter_results": []}
    yield chunk({"role": "assistant", "content": "", "refusal": None})
    yield from (chunk({"content": text}) for text in answer.texts)
    if answer.call is not None:
        first = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "find", "arguments": ""}}
        yield chunk({"tool_calls": [first]})
        for piece in answer.call:
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield chunk({}, "stop")
    yield {"model": "gpt-5-mini-2025-08-07", "choices": [], "usage": _openai_usage(answer)}
    yield "[DONE]"


def _openai_usage(answer: Answer) -> Json:
    details = {"prompt_tokens_details": {"cached_tokens": answer.input_tokens // 2}}
    return {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens, **details}


def openai_body(answer: Answer) -> Json:
    function = {"name": "find", "arguments": "".join(answer.call or ())}
    calls = [{"id": "call_a", "type": "function", "function": function}] if answer.call is not None else None
    message = {"role": "assistant", "content": answer.text, "refusal": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"model": "gpt-5-mini-2025-08-07", "choices": [choice], "usage": _openai_usage(answer)}


def responses_events(answer: Answer) -> Iterator[Json]:
    yield {"type": "response.created", "response": {"status": "in_progress", "output": []}}
    for text in answer.texts:
        yield {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "delta": text}
    yield {"type": "response.function_call_arguments.delta", "delta": "{"}
    yield {"type": "response.completed", "response": responses_body(answer)}


def responses_body(answer: Answer) -> Json:
    content = [{"type": "output_text", "text": answer.text}]
    call = {"type": "function_call", "call_id": "call_a", "name": "find", "arguments": "".join(answer.call or ())}
    output = [{"type": "message", "content": content}, *([call] if answer.call is not None else [])]
    usage = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
    return {"status": "completed", "model": "o3-2025-04-16", "output": output, "usage": usage}


def anthropic_events(answer: Answer) -> Iterator[Json]:
    def delta(index: int, change: Json) -> Json:
        return {"type": "content_block_delta", "index": index, "delta": change}

    used = {"input_tokens": answer.input_tokens, "cache_read_input_tokens": 5, "output_tokens": 1}
    yield {"type": "message_start", "message": {"model": "claude-haiku-4-5", "content": [], "usage": used}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    yield delta(0, {"type": "thinking_delta", "thinking": "Hm."})
    yield delta(0, {"type": "signature_delta", "signature": "EqQ"})
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "ping"}
    yield {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}
    yield from (delta(1, {"type": "text_delta", "text": text}) for text in answer.texts)
    yield {"type": "content_block_stop", "index": 1}
    if answer.call is not None:
        block = {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {}}
        yield {"type": "content_block_start", "index": 2, "content_block": block}
        yield from (delta(2, {"type": "input_json_delta", "partial_json": piece}) for piece in answer.call)
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": answer.output_tokens}}
    yield {"type": "message_stop"}


def anthropic_body(answer: Answer) -> Json:
    call = {"type": "tool_use", "id": "toolu_1", "name": "find", "input": answer.arguments}
    text = {"type": "text", "text": answer.text}
    return {
        "type": "message",
        "model": "claude-haiku-4-5",
        "content": [{"type": "thinking", "thinking": "Hm."}, text, *([call] if answer.call is not None else [])],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": answer.input_tokens,
            "cache_read_input_tokens": 5,
            "output_tokens": answer.output_tokens,
        },
    }


def google_events(answer: Answer) -> Iterator[Json]:
    def response(parts: list[Json], **candidate: str) -> Json:
        content = {"parts": parts, "role": "model"}
        used = {"promptTokenCount": answer.input_tokens, "candidatesTokenCount": 1}
        return {
            "candidates": [{"content": content, "index": 0, **candidate}],
            "usageMetadata": used,
            "modelVersion": "gemini-2.5-flash",
        }

    yield response([{"text": "Hm", "thought": True}])
    yield response([{"text": ".", "thought": True}])
    yield from (response([{"text": text}]) for text in answer.texts)
    last = response(_google_calls(answer), finishReason="STOP")
    yield {**last, "usageMetadata": _google_usage(answer)}


def _google_calls(answer: Answer) -> list[Json]:
    call = {"functionCall": {"name": "find", "args": answer.arguments}, "thoughtSignature": "c2ln"}
    return [call] if answer.call is not None else []


def _google_usage(answer: Answer) -> Json:
    counts = {"promptTokenCount": answer.input_tokens, "candidatesTokenCount": answer.output_tokens}
    return {**counts, "thoughtsTokenCount": 20}


def google_body(answer: Answer) -> Json:
    parts = [{"text": "Hm.", "thought": True}, {"text": answer.text}, *_google_calls(answer)]
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}],
        "usageMetadata": _google_usage(answer),
        "modelVersion": "gemini-2.5-flash",
    }


def frame(kind: str, payload: Json, message_type: str = "event") -> bytes:
    """A message in AWS's event stream encoding."""
    kind_header = ":event-type" if message_type == "event" else ":exception-type"
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in ((kind_header, kind), (":content-type", "application/json"), (":message-type", message_type))
    )
    body = orjson.dumps(payload)
    prelude = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack("!I", binascii.crc32(prelude)) + headers + body
    return message + struct.pack("!I", binascii.crc32(message))


def bedrock_frames(answer: Answer) -> bytes:
    def delta(index: int, change: Json) -> bytes:
        return frame("contentBlockDelta", {"delta": change, "contentBlockIndex": index})

    frames = [frame("messageStart", {"role": "assistant"})]
    frames += [delta(0, {"text": text}) for text in answer.texts]
    frames.append(frame("contentBlockStop", {"contentBlockIndex": 0}))
    if answer.call is not None:
        start = {"toolUse": {"toolUseId": "tool_1", "name": "find"}}
        frames.append(frame("contentBlockStart", {"start": start, "contentBlockIndex": 1}))
        frames += [delta(1, {"toolUse": {"input": piece}}) for piece in answer.call]
    usage = {"inputTokens": answer.input_tokens, "outputTokens": answer.output_tokens, "totalTokens": 10}
    frames.append(frame("messageStop", {"stopReason": "end_turn"}))
    frames.append(frame("metadata", {"usage": usage, "metrics": {"latencyMs": 300}}))
    return b"".join(frames)


def bedrock_body(answer: Answer) -> Json:
    call = {"toolUse": {"toolUseId": "tool_1", "name": "find", "input": answer.arguments}}
    content = [{"text": answer.text}, *([call] if answer.call is not None else [])]
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": answer.input_tokens, "outputTokens": answer.output_tokens},
    }


class Format(NamedTuple):
    events: Callable[[Answer], Iterable[Json | str]]
    body: Callable[[Answer], Json]
    parse: Callable[[object], Reply]


FORMATS = {
    "openai": Format(openai_events, openai_body, openai.parse),
    "openai-responses": Format(responses_events, responses_body, openai_responses.parse),
    "anthropic": Format(anthropic_events, anthropic_body, anthropic.parse),
    "google": Format(google_events, google_body, google.parse),
}
BEDROCK = Format(lambda _: (), bedrock_body, bedrock.parse)


def reply_reader(name: str) -> StreamedReply:
    return STREAM_FORMATS[name].reply_of(WireRequest("https://x.example/v1", {}))


def read(name: str, arriving: Iterable[bytes]) -> tuple[list[str], Reply]:
    """The pieces of text that a stream yields, and the reply in the end."""
    texts: list[str] = []
    stream = ReplyStream(reply_reader(name), texts.append)
    for chunk in arriving:
        if not stream.feed(chunk):
            break
    return texts, FORMATS[name].parse(stream.body())
