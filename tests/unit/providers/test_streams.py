"""Streams in any pieces are read as the same reply as one that was not streamed; hostile ones are bounded."""

import itertools
from collections.abc import Iterable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_limits import MAX_TEXT_LENGTH
from cupel_core.providers.streams.reply_stream import MAX_PARTS, ReplyStream
from cupel_core.providers.streams.sse import EventDecoder
from tests.unit.providers.streamed import FORMATS, Answer, answers, chunks, read, reply_reader, sse

LINE_ENDS = ("\n", "\r\n", "\r")
SHORT = Answer(["Gr", "üß", "e 👋"], ['{"a"', ":1}"])

each_format = pytest.mark.parametrize("name", FORMATS)


def failure(name: str, content: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(name, [content])
    return caught.value


def feed_all(reader: EventDecoder | ReplyStream, arriving: Iterable[bytes]) -> None:
    for chunk in arriving:
        reader.feed(chunk)


@each_format
@given(answer=answers(), cuts=st.lists(st.integers(0, 4_000), max_size=20), line_end=st.sampled_from(LINE_ENDS))
def test_a_stream_is_the_reply_that_is_not_streamed(name: str, answer: Answer, cuts: list[int], line_end: str) -> None:
    wire = FORMATS[name]
    texts, reply = read(name, chunks(sse(wire.events(answer), line_end), cuts))
    assert reply == wire.parse(wire.body(answer))
    assert texts == [text for text in answer.texts if text]


@each_format
def test_it_may_be_split_anywhere(name: str) -> None:
    wire = FORMATS[name]
    for line_end in LINE_ENDS:
        content = sse(wire.events(SHORT), line_end)
        expected = SHORT.texts, wire.parse(wire.body(SHORT))
        assert read(name, [bytes([byte]) for byte in content]) == expected
        for cut in range(len(content)):
            assert read(name, [content[:cut], b"", content[cut:]]) == expected


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_data_of_several_lines_is_one_event(lines: list[str]) -> None:
    content = "".join(f"data: {line}\n" for line in lines) + "\n"
    assert EventDecoder().feed(content.encode()) == (["\n".join(lines).encode()] if lines else [])


@each_format
def test_the_last_event_needs_no_blank_line(name: str) -> None:
    content = sse(FORMATS[name].events(SHORT)).removesuffix(b"\n\n")
    assert read(name, [content])[1].text == SHORT.text


@each_format
def test_a_stream_that_ends_early_is_no_answer(name: str) -> None:
    events = [event for event in FORMATS[name].events(SHORT) if event != "[DONE]"]
    finishing = {"openai": 2, "openai-responses": 1, "anthropic": 2, "google": 1}[name]
    for count in range(len(events) - finishing + 1):
        error = failure(name, sse(events[:count]))
        assert (error.code, error.may_be_billed, error.retryable) == (ProbeErrorCode.NETWORK, True, True)


@each_format
def test_broken_json_is_a_malformed_response(name: str) -> None:
    begun = list(FORMATS[name].events(SHORT))[:3]
    error = failure(name, sse([*begun, '{"choices": [']))
    assert error.code is ProbeErrorCode.PROVIDER_ERROR
    assert "malformed response" in error.message


@each_format
def test_events_of_no_known_shape_do_not_lose_an_answer(name: str) -> None:
    events = list(FORMATS[name].events(SHORT))
    strange = ["[1]", "null", '{"type": 1, "choices": 7, "candidates": 7}', '"text"']
    with_strange = sse([*events[:3], *strange, *events[3:]])
    assert read(name, [with_strange]) == read(name, [sse(events)])


@pytest.mark.parametrize(
    ("name", "event", "code"),
    [
        ("openai", {"error": {"message": "busy", "code": 429}}, ProbeErrorCode.RATE_LIMITED),
        ("openai", {"error": {"message": "busy"}}, ProbeErrorCode.PROVIDER_ERROR),
        ("openai", {"choices": [{"error": {"message": "no", "code": 502}}]}, ProbeErrorCode.PROVIDER_ERROR),
        ("openai-responses", {"type": "error", "code": "server_error", "message": "no"}, ProbeErrorCode.PROVIDER_ERROR),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error"}}, ProbeErrorCode.PROVIDER_ERROR),
        ("anthropic", {"type": "error", "error": {"type": "rate_limit_error"}}, ProbeErrorCode.RATE_LIMITED),
        ("anthropic", {"type": "error", "error": {"type": "authentication_error"}}, ProbeErrorCode.AUTH),
        ("google", {"error": {"code": 503, "message": "no", "status": "UNAVAILABLE"}}, ProbeErrorCode.PROVIDER_ERROR),
        ("google", {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, ProbeErrorCode.RATE_LIMITED),
    ],
)
def test_an_error_within_a_stream(name: str, event: dict[str, object], code: ProbeErrorCode) -> None:
    """What was generated before it may be billed; an error that comes first is a refusal."""
    begun = list(FORMATS[name].events(SHORT))[:4]
    assert (failure(name, sse([*begun, event])).code, failure(name, sse([*begun, event])).refused) == (code, False)
    assert failure(name, sse([event])).refused


def test_a_filtered_answer_is_an_error() -> None:
    events = [{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "content_filter"}]}]
    assert failure("openai", sse(events)).code is ProbeErrorCode.CONTENT_FILTERED
    blocked = [{"promptFeedback": {"blockReason": "SAFETY"}}]
    assert failure("google", sse(blocked)).code is ProbeErrorCode.CONTENT_FILTERED


def test_a_line_without_end_is_refused() -> None:
    decoder = EventDecoder(max_event_bytes=100)
    with pytest.raises(ProviderError, match="larger than 100 bytes"):
        feed_all(decoder, itertools.repeat(b"data: " + b"x" * 10))


def test_an_event_of_many_lines_is_refused() -> None:
    decoder = EventDecoder(max_event_bytes=100)
    with pytest.raises(ProviderError, match="larger than 100 bytes"):
        feed_all(decoder, itertools.repeat(b"data: x\n"))


@pytest.mark.parametrize("endless", [b": keep-alive\n\n", b"data: {}\n\n", b"\n", b"\r"])
def test_a_stream_without_end_is_refused(endless: bytes) -> None:
    decoder = EventDecoder(max_stream_bytes=1_000)
    with pytest.raises(ProviderError, match="larger than 1000 bytes") as caught:
        feed_all(decoder, itertools.repeat(endless))
    assert caught.value.final


def test_a_text_that_is_too_long_is_refused_while_it_arrives() -> None:
    event = sse([{"choices": [{"delta": {"content": "x" * 50_000}}]}])
    stream = ReplyStream(reply_reader("openai"), lambda _: None)
    with pytest.raises(ProviderError, match="at most 1,000,000"):
        feed_all(stream, [event] * (MAX_TEXT_LENGTH // 50_000 + 1))


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("openai", '{"choices": [{"delta": {"tool_calls": [{"index": %d}]}}]}'),
        ("anthropic", '{"type": "content_block_start", "index": %d, "content_block": {"type": "text"}}'),
        ("google", '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f%d"}}]}}]}'),
    ],
)
def test_too_many_parts_are_refused(name: str, event: str) -> None:
    error = failure(name, sse(event % number for number in range(MAX_PARTS + 1)))
    assert (error.message, error.final) == ("the answer has more than 1,000 parts", True)


def test_nothing_is_read_after_the_end() -> None:
    """A server may keep the connection open."""
    for name in ("openai", "openai-responses", "anthropic"):
        stream = ReplyStream(reply_reader(name), lambda _: None)
        assert not stream.feed(sse(FORMATS[name].events(SHORT)) + sse(["not JSON"]))
        assert orjson.dumps(stream.body())
