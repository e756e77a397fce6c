"""Whatever surrounds it, an answer that was paid for is read: generated over what servers put around and into one."""

import gzip
import itertools
import json
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from cupel_core.domain.conversations.model_request import ProbeErrorCode, Reply, Usage
from cupel_core.providers import anthropic, bedrock, google, openai, openai_responses, vertex
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.http import parse_response
from cupel_core.providers.reply_content import decompressed, read_json, read_json_or_text
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireRequest
from tests.in_one_test import in_one_test
from tests.unit.providers.streamed import FORMATS, Answer, sse

type Json = dict[str, Any]
NOW = datetime(2026, 11, 28, tzinfo=UTC)
TEXT = "The answer is 42, café."
REQUEST = WireRequest("https://models.test/v1", {})


def chat(content: object = TEXT, **message: object) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
    return {
        "model": "m",
        "choices": [choice],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
    }


def response(content: object = TEXT) -> Json:
    output = [{"type": "message", "role": "assistant", "content": content}]
    return {
        "status": "completed",
        "model": "m",
        "output": output,
        "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
    }


def message(content: object = TEXT) -> Json:
    return {
        "type": "message",
        "model": "m",
        "content": content,
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 4},
    }


def generated(content: object = TEXT) -> Json:
    parts = content if isinstance(content, list) else [content] if isinstance(content, dict) else [{"text": content}]
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13},
        "modelVersion": "m",
    }


def converse(content: object = TEXT) -> Json:
    blocks = content if isinstance(content, list) else [content] if isinstance(content, dict) else [{"text": content}]
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 9, "outputTokens": 4},
    }


type Build = Callable[..., Json]
FORMAT_BODIES: dict[str, tuple[Any, Build]] = {
    "openai": (openai, chat),
    "openai-responses": (openai_responses, response),
    "anthropic": (anthropic, message),
    "google": (google, generated),
    "vertex-gemini": (vertex, generated),
    "vertex-claude": (vertex, message),
}
PARSERS = {
    **{name: (each.parse, build) for name, (each, build) in FORMAT_BODIES.items()},
    "bedrock": (bedrock.parse, converse),
}


def utf8(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


BYTES: dict[str, Callable[[Json], bytes]] = {
    "plain": utf8,
    "escaped": lambda body: json.dumps(body).encode(),
    "byte order mark": lambda body: b"\xef\xbb\xbf" + utf8(body),
    "utf-16": lambda body: json.dumps(body, ensure_ascii=False).encode("utf-16"),
    "heartbeats": lambda body: b"\n" * 300 + utf8(body),
    "comments": lambda body: b": keep-alive\n\n: keep-alive\n\n" + utf8(body),
    "NaN": lambda body: utf8({**body, "timings": float("nan")}),
    "infinity": lambda body: utf8({**body, "logprobs": [float("-inf"), {"x": float("inf")}]}),
    "surrogate": lambda body: json.dumps({**body, "extra": "\ud83d"}).encode(),
    "control characters": lambda body: utf8({**body, "extra": "@@"}).replace(b"@@", b"\x01\n\t"),
    "cut character": lambda body: utf8({**body, "extra": "@@"}).replace(b"@@", b"\xe2\x82"),
    "one event": lambda body: b"event: message\ndata: " + utf8(body) + b"\n\n",
    "one event and its end": lambda body: b": PROCESSING\n\ndata: " + utf8(body) + b"\n\ndata: [DONE]\n\n",
    "crlf event": lambda body: b"data: " + utf8(body) + b"\r\n\r\n",
}
CONTENT_TYPES = (
    None,
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=nonsense",
    "text/plain",
    "text/html; charset=utf-8",
    "text/event-stream",
    "application/x-ndjson",
    "application/octet-stream",
)
STATUSES = (200, 201, 203, 206)
TRANSPORTS = tuple(itertools.product(FORMAT_BODIES, BYTES, CONTENT_TYPES, STATUSES))


def read(wire_format: Any, content: bytes, content_type: str | None = None, status: int = 200, **headers: str) -> Reply:
    named = {**({"content-type": content_type} if content_type else {}), **headers}
    return parse_response(wire_format, REQUEST, HttpResponse(status, named, content), NOW)


def test_how_an_answer_arrives_does_not_matter() -> None:
    """3,024 combinations of wire format, bytes, content type and status; a stream of one whole reply is one, too."""
    wrong = []
    for name, how, content_type, status in TRANSPORTS:
        wire_format, build = FORMAT_BODIES[name]
        content = BYTES[how](build())
        text = read(wire_format, content, content_type, status).text
        if text != TEXT:
            wrong.append((name, how, content_type, status, text))
    assert (len(TRANSPORTS), wrong) == (3_024, [])


@pytest.mark.parametrize("name", FORMATS)
def test_a_stream_that_was_not_asked_for_is_read_as_the_reply_that_it_is(name: str) -> None:
    answer = Answer(["The ", "answer is ", "42."], ['{"a"', ":1}"])
    wire_format = FORMAT_BODIES[name][0]
    expected = wire_format.parse(FORMATS[name].body(answer))
    assert read(wire_format, sse(FORMATS[name].events(answer)), "text/event-stream") == expected
    lines = b"\n".join(orjson.dumps(each) for each in FORMATS[name].events(answer) if isinstance(each, dict))
    assert read(wire_format, lines, "application/x-ndjson") == expected


def test_ollamas_own_stream_is_read() -> None:
    events = [
        {"model": "qwen3", "message": {"role": "assistant", "content": "", "thinking": "Hm."}, "done": False},
        {"model": "qwen3", "message": {"role": "assistant", "content": "42"}, "done": False},
        {
            "model": "qwen3",
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 11,
            "eval_count": 7,
        },
    ]
    reply = read(openai, b"\n".join(map(orjson.dumps, events)), "application/x-ndjson")
    assert (reply.text, reply.reasoning, reply.usage, reply.finish_reason) == ("42", "Hm.", Usage(11, 7), "stop")


STRANGE: tuple[object, ...] = (
    None,
    [],
    {},
    "",
    "text",
    0,
    4,
    -1,
    1.5,
    True,
    [1],
    ["x"],
    {"a": {"b": []}},
    [{}],
    "1e400",
)
UNUSED = {
    "openai": (
        "id",
        "object",
        "model",
        "usage",
        "created",
        "system_fingerprint",
        "service_tier",
        "error_code",
        "logprobs",
    ),
    "openai-responses": (
        "id",
        "object",
        "model",
        "usage",
        "incomplete_details",
        "metadata",
        "reasoning",
        "status_detail",
    ),
    "anthropic": ("id", "role", "model", "usage", "stop_sequence", "container"),
    "google": ("usageMetadata", "modelVersion", "responseId", "promptFeedback"),
    "vertex-gemini": ("usageMetadata", "modelVersion", "createTime"),
    "vertex-claude": ("id", "role", "model", "usage", "stop_sequence"),
    "bedrock": ("usage", "metrics", "trace", "ResponseMetadata", "performanceConfig"),
}
NESTED = {
    "openai": ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "cost", "cost_details"),
    "openai-responses": ("input_tokens", "output_tokens", "total_tokens", "input_tokens_details", "cost_in_usd_ticks"),
    "anthropic": ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    "google": ("promptTokenCount", "candidatesTokenCount", "totalTokenCount", "thoughtsTokenCount"),
    "vertex-gemini": ("promptTokenCount", "cachedContentTokenCount"),
    "vertex-claude": ("input_tokens", "cache_read_input_tokens"),
    "bedrock": ("inputTokens", "outputTokens", "cacheReadInputTokens", "totalTokens"),
}
USAGE = {"google": "usageMetadata", "vertex-gemini": "usageMetadata"}


def strange_bodies() -> Iterator[tuple[str, str, object, Json]]:
    for name, (_, build) in PARSERS.items():
        usage = USAGE.get(name, "usage")
        for value in STRANGE:
            for field in UNUSED[name]:
                if not (field == "promptFeedback" and isinstance(value, dict)):
                    yield name, field, value, {**build(), field: value}
            for field in NESTED[name]:
                yield name, f"{usage}.{field}", value, {**build(), usage: {**build()[usage], field: value}}


def test_no_field_that_nobody_needs_decides_about_an_answer() -> None:
    wrong = [
        (name, field, value) for name, field, value, body in strange_bodies() if PARSERS[name][0](body).text != TEXT
    ]
    assert (len(list(strange_bodies())) > 900, wrong) == (True, [])


PARTS: dict[str, object] = {
    "text": TEXT,
    "texts": [TEXT],
    "two texts": [TEXT[:5], TEXT[5:]],
    "part": {"type": "text", "text": TEXT},
    "text part": [{"type": "text", "text": TEXT}],
    "output_text": [{"type": "output_text", "text": TEXT, "annotations": None}],
    "no type": [{"text": TEXT}],
    "with nulls": [{"type": "text", "text": TEXT, "citations": None}, {"type": "text", "text": None}],
    "nested": [{"type": "text", "text": {"value": TEXT}}],
    "after reasoning": [{"type": "reasoning", "text": "41?"}, {"type": "text", "text": TEXT}],
    "after thinking": [{"type": "thinking", "thinking": [{"type": "text", "text": "41?"}]}, {"text": TEXT}],
    "beside an image": [{"type": "image", "text": "a picture"}, {"type": "text", "text": TEXT}],
}


@in_one_test(("name", "shape"), tuple(itertools.product(PARSERS, PARTS)))
def test_a_text_is_read_in_every_shape(name: str, shape: str) -> None:
    parse, build = PARSERS[name]
    content = PARTS[shape]
    if name in ("google", "vertex-gemini", "bedrock") and isinstance(content, list):
        content = [{"text": each} if isinstance(each, str) else each for each in content]
    reply = parse(build(content))
    assert (reply.text, "41?" in reply.text) == (TEXT, False)
    assert reply.reasoning == ("41?" if shape.startswith("after") else "")


CALLS = (
    ({"number": "A-17"}, '{"number":"A-17"}'),
    ('{"number": "A-17"}', '{"number": "A-17"}'),
    (None, "{}"),
    ('{"cut', '{"cut'),
    ([1], "[1]"),
)


@pytest.mark.parametrize(("arguments", "expected"), CALLS)
@pytest.mark.parametrize("call_id", ["c1", 0, 7, None])
def test_calls_are_read_whatever_their_arguments_and_ids(arguments: object, expected: str, call_id: object) -> None:
    function = {"name": "find", "arguments": arguments}
    called = chat(None, tool_calls=[{"id": call_id, "type": "function", "function": function}])
    item = {"type": "function_call", "call_id": call_id, "name": "find", "arguments": arguments}
    use = {"type": "tool_use", "id": call_id, "name": "find", "input": {} if arguments is None else arguments}
    converse_use = {"toolUse": {"toolUseId": call_id, "name": "find", "input": arguments}}
    replies = [
        openai.parse(called),
        openai_responses.parse({**response(), "output": [item]}),
        anthropic.parse(message([use])),
        google.parse(generated([{"functionCall": {"id": call_id, "name": "find", "args": arguments}}])),
        bedrock.parse(converse([converse_use])),
    ]
    name = "call_1" if call_id is None else str(call_id)
    assert [[(call.id, call.name, call.arguments) for call in reply.tool_calls] for reply in replies] == [
        [(name, "find", expected)]
    ] * 5


ERROR_SHAPES: dict[str, Callable[[object, str], Json]] = {
    "error": lambda code, text: {"error": {"message": text, "code": code}},
    "error beside null choices": lambda code, text: {
        "id": None,
        "choices": None,
        "model": None,
        "usage": None,
        "error": {"message": text, "code": code},
    },
    "error in the choice": lambda code, text: {"choices": [{"error": {"message": text, "code": code}}]},
    "error type": lambda code, text: {"type": "error", "error": {"type": code, "message": text}},
    "object error": lambda code, text: {"object": "error", "message": text, "code": code, "param": None},
    "text beside a code": lambda code, text: {"error": text, "code": code},
    "message alone": lambda code, text: {"success": False, "code": code, "msg": text},
    "detail": lambda code, text: {"detail": text, "code": code},
}
ERROR_CODES: dict[object, ProbeErrorCode] = {
    429: ProbeErrorCode.RATE_LIMITED,
    "429": ProbeErrorCode.RATE_LIMITED,
    "rate_limit_exceeded": ProbeErrorCode.RATE_LIMITED,
    401: ProbeErrorCode.AUTH,
    "401": ProbeErrorCode.AUTH,
    "invalid_api_key": ProbeErrorCode.AUTH,
    400: ProbeErrorCode.INVALID_REQUEST,
    "400": ProbeErrorCode.INVALID_REQUEST,
    "context_length_exceeded": ProbeErrorCode.INVALID_REQUEST,
    502: ProbeErrorCode.PROVIDER_ERROR,
    "server_error": ProbeErrorCode.PROVIDER_ERROR,
}
ERRORS = tuple(
    (name, shape, code)
    for name, shape, code in itertools.product(PARSERS, ERROR_SHAPES, ERROR_CODES)
    if shape != "error in the choice" or name == "openai"
)


def test_an_error_in_a_reply_is_read_before_anything_else() -> None:
    """550 combinations of wire format, shape and code; the server's own words are the message."""
    wrong = []
    for name, shape, code in ERRORS:
        with pytest.raises(ProviderError) as caught:
            PARSERS[name][0](ERROR_SHAPES[shape](code, "its own words"))
        found = (caught.value.code, "its own words" in caught.value.message)
        if found != (ERROR_CODES[code], True):
            wrong.append((name, shape, code, found))
    assert (len(ERRORS), wrong) == (550, [])


@pytest.mark.parametrize("empty", [None, {}, "", False, {"message": "", "code": None}])
def test_an_empty_error_beside_an_answer_is_none(empty: object) -> None:
    assert openai.parse({**chat(), "error": empty}).text == TEXT


GOOD_ENDS = ("stop", "tool_calls", "eos", "end_turn", "STOP", "length", "max_tokens", "MAX_TOKENS", "stop_sequence")
FAILED_ENDS = ("error", "abort", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL", "malformed_tool_use")
FILTERED_ENDS = ("content_filter", "SAFETY", "refusal", "guardrail_intervened", "content_filter: PROHIBITED_CONTENT")


def ended(name: str, reason: object, content: object = TEXT) -> Json:
    body = PARSERS[name][1](content)
    if name == "openai":
        body["choices"][0]["finish_reason"] = reason
    elif name in ("google", "vertex-gemini"):
        body["candidates"][0]["finishReason"] = reason
    else:
        body["stopReason" if name == "bedrock" else "stop_reason"] = reason
    return body


WITH_ENDS = tuple(name for name in PARSERS if name != "openai-responses")


@pytest.mark.parametrize("name", WITH_ENDS)
def test_a_good_end_or_an_unknown_one_with_a_text_is_an_answer(name: str) -> None:
    for reason in (*GOOD_ENDS, "a_reason_of_next_year", 0, None, {"type": "stop", "matched": 128009}):
        assert PARSERS[name][0](ended(name, reason)).text == TEXT


@pytest.mark.parametrize("name", WITH_ENDS)
def test_a_filtered_end_is_no_answer_whatever_the_text(name: str) -> None:
    for reason, text in itertools.product(FILTERED_ENDS, ("", TEXT)):
        with pytest.raises(ProviderError) as caught:
            PARSERS[name][0](ended(name, reason, text))
        assert (caught.value.code, caught.value.usage) == (ProbeErrorCode.CONTENT_FILTERED, Usage(9, 4))


def test_a_page_is_named_by_its_title() -> None:
    page = b"<!DOCTYPE html>\n<html><head><title>Sign&nbsp;in</title></head><body>42</body></html>"
    for read_page in (read_json, read_json_or_text):
        with pytest.raises(ProviderError) as caught:
            read_page(page, {"content-type": "text/html"}, 203)
        assert caught.value.message == "the server answered with an HTML page (title “Sign in”), status 203"


def test_the_charset_that_a_response_names_is_used() -> None:
    latin1 = {"content-type": "text/plain; charset=iso-8859-1"}
    assert read_json_or_text("schöne Grüße".encode("latin-1"), latin1) == "schöne Grüße"
    assert read(openai, json.dumps(chat(), ensure_ascii=False).encode("latin-1"), latin1["content-type"]).text == TEXT


@pytest.mark.parametrize("encoding", ["", "identity", "none", "utf-8", "UTF-8"])
def test_an_encoding_that_is_none_is_none(encoding: str) -> None:
    assert decompressed(b"{}", {"content-encoding": encoding}, 10) == b"{}"


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_compressed_content_is_bounded(encoding: str, compress: Callable[[bytes], bytes]) -> None:
    headers = {"content-encoding": encoding}
    assert decompressed(compress(b"x" * 1_000), headers, 1_000) == b"x" * 1_000
    with pytest.raises(ProviderError, match="larger than 1000 bytes") as caught:
        decompressed(compress(b"x" * 10_000_000), headers, 1_000)
    assert caught.value.final


USAGES = (
    ({"prompt_tokens": "100", "completion_tokens": "50"}, Usage(100, 50)),
    ({"input_tokens": 100, "output_tokens": 50}, Usage(100, 50)),
    # xAI, and Gemini in OpenAI's format: reasoning tokens are in the total alone.
    ({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 1150}, Usage(100, 1050)),
    ({"prompt_tokens": 100, "completion_tokens": 1050, "total_tokens": 1150}, Usage(100, 1050)),
    # Moonshot
    ({"prompt_tokens": 100, "completion_tokens": 50, "cached_tokens": 90}, Usage(100, 50, 90)),
    ({}, None),
    (None, None),
    ({"prompt_tokens": 0, "completion_tokens": 0}, None),
)


@pytest.mark.parametrize(("reported", "usage"), USAGES)
def test_tokens_are_what_servers_report_and_unknown_if_they_do_not(reported: object, usage: Usage | None) -> None:
    assert openai.parse({**chat(), "usage": reported}).usage == usage


COSTS = (
    ({"cost": 0.25}, 0.25),
    ({"cost": "0.25"}, 0.25),
    ({"cost": 0.0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.0123}}, 0.0123),
    ({"cost": 0.01, "cost_details": {"upstream_inference_cost": 0.2}}, 0.21),
    ({"cost": 0.2, "cost_details": {"upstream_inference_cost": 0.19}}, 0.2),
    ({"cost_in_usd_ticks": 37_756_000}, 0.0037756),
)


@pytest.mark.parametrize(("reported", "cost"), COSTS)
def test_a_cost_is_read_where_a_gateway_reports_it(reported: Json, cost: float) -> None:
    assert openai.parse({**chat(), "usage": reported}).cost_usd == pytest.approx(cost)


def test_a_cost_is_read_from_a_gateways_header() -> None:
    reply = read(openai, utf8(chat()), **{"x-litellm-response-cost": "0.000225"})
    assert reply.cost_usd == 0.000225
