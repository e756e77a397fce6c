"""Drafts: a reader gets the text of the latest attempt once and in order, wherever it goes on."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.chats.chats import ChatSettings
from cupel_core.domain.chats.drafts import (
    POSITION_PATTERN,
    TEXT_PATTERN,
    FeedPosition,
    TextDelta,
    TextPiece,
    TextPosition,
    feed_of,
    joined,
    wants_text,
)
from cupel_core.domain.chats.turns import ChatTurn, TurnEvent, TurnEventType, TurnHead, TurnPhase, TurnStatus
from cupel_core.domain.pipeline.operations import Trigger

NOW = datetime(2026, 1, 15, tzinfo=UTC)
NOWHERE = TextPosition()


def written(attempts: list[list[str]]) -> list[TextPiece]:
    def pieces() -> Iterator[TextPiece]:
        for attempt, texts in enumerate(attempts, 1):
            position = TextPosition(attempt, 0)
            for text in texts:
                yield TextPiece(*position, text)
                position = TextPiece(*position, text).end

    return list(pieces())


def after(pieces: list[TextPiece], position: TextPosition) -> list[TextPiece]:
    return [piece for piece in pieces if (piece.attempt, piece.offset) >= position]


_TEXTS = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6)


@given(st.lists(_TEXTS, min_size=1, max_size=3), st.data())
def test_a_reader_gets_the_last_attempt_whole_and_once(attempts: list[list[str]], data: st.DataObject) -> None:
    """It polls at any time, and stops at any length."""
    pieces, position, screen = written(attempts), NOWHERE, ""
    count = 0
    while True:
        delta = joined(after(pieces[:count], position), position, data.draw(st.integers(1, 8)))
        if delta is not None:
            kept = screen[: delta.piece.offset] if delta.piece.attempt == position.attempt else ""
            screen, position = kept + delta.piece.text, delta.piece.end
        elif count == len(pieces):
            break
        count = min(len(pieces), count + data.draw(st.integers(0, 3)) + (delta is None))
    assert screen == "".join(attempts[-1])


def test_a_piece_that_is_missing_ends_what_a_reader_gets() -> None:
    first, _, last = written([["a", "b", "c"]])
    assert joined([first, last], NOWHERE) == TextDelta(TextPiece(1, 0, "a"), is_all=True)
    assert joined([last], TextPosition(1, 1)) is None


@given(st.integers(0, 99_999_998), st.integers(1, 999_999), st.integers(0, 99_999_999))
def test_a_position_is_the_id_of_an_event(seq: int, attempt: int, offset: int) -> None:
    position = FeedPosition(seq, TextPosition(attempt, offset))
    assert FeedPosition.parse(str(position)) == position
    assert FeedPosition.parse(str(seq)) == FeedPosition(seq)
    assert re.fullmatch(POSITION_PATTERN, str(position))
    assert re.fullmatch(TEXT_PATTERN, f"{attempt}.{offset}")


def event(seq: int, kind: TurnEventType) -> TurnEvent:
    return TurnEvent(seq, kind, NOW, {})


EVENTS = [
    event(5, TurnEventType.MAIN_STARTED),
    event(6, TurnEventType.MAIN_FINISHED),
    event(7, TurnEventType.PHASE_CHANGED),
]


@pytest.fixture
def turn() -> ChatTurn:
    settings = ChatSettings({"model": "sim/steady"})
    times = NOW, NOW + timedelta(minutes=2)
    head = TurnHead("turn_1", "br_1", "ex_1", 0, Trigger.GENERATE, "token", settings, 1, 1, *times)
    return ChatTurn(head, TurnStatus.RUNNING, TurnPhase.MAIN_LLM)


def test_text_comes_before_the_end_of_its_call() -> None:
    delta = TextDelta(TextPiece(1, 0, "a"), is_all=True)
    feed = feed_of(EVENTS, delta)
    assert (feed.events, feed.delta, feed.later, feed.is_all) == (EVENTS[:1], delta.piece, EVENTS[1:], True)


def test_the_end_of_a_call_is_not_told_while_text_is_left() -> None:
    feed = feed_of(EVENTS, TextDelta(TextPiece(1, 0, "a"), is_all=False))
    assert (feed.events, feed.later, feed.is_all) == (EVENTS[:1], (), False)


def test_who_gets_text(turn: ChatTurn) -> None:
    begun, over = TextPosition(1, 3), replace(turn, status=TurnStatus.DONE, phase=TurnPhase.FINISHED)
    assert wants_text(turn, [], NOWHERE), "while the call is in progress"
    assert not wants_text(replace(turn, phase=TurnPhase.BARRIER), [], NOWHERE), "not before it"
    assert not wants_text(replace(turn, phase=TurnPhase.AFTER_MAIN_LLM), EVENTS[2:], begun), "not after it"
    assert wants_text(replace(turn, phase=TurnPhase.AFTER_MAIN_LLM), EVENTS, NOWHERE), "up to its end"
    assert wants_text(over, EVENTS, begun), "the rest, for who has begun to read"
    assert not wants_text(over, EVENTS, NOWHERE), "the others read the message"
