"""Streams the text of a main call while it is written, as pieces of a draft and positions of readers.

The final answer replaces the draft, and the text of an attempt is void once a later one has begun. If the call ends
without an answer, the draft becomes a message with a status that says so.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from cupel_core.domain.chats.turns import ChatTurn, TurnEvent, TurnEventType, TurnPhase

MAX_PIECE_LENGTH = 50_000
"""A piece has at most this many characters of up to four bytes each, because an item of the table has 400 KB."""
MAX_DELTA_LENGTH = 100_000
"""A reader gets at most this many characters at a time, plus the rest of a piece."""
MAX_REPLY_LENGTH = 4_000_000
"""At most this many characters of a draft are stored as a message, because a reply has at most as many bytes."""
POSITION_PATTERN = r"^\d{1,8}(\.\d{1,6}\.\d{1,8})?$"
TEXT_PATTERN = r"^\d{1,6}\.\d{1,8}$"


class TextPosition(NamedTuple):
    attempt: int = 0
    offset: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*map(int, text.split(".")))


class FeedPosition(NamedTuple):
    """Contains the last event and the text that a reader has; its string is the id of a server-sent event."""

    seq: int = 0
    text: TextPosition = TextPosition()

    def __str__(self) -> str:
        return f"{self.seq}.{self.text.attempt}.{self.text.offset}" if self.text.attempt else str(self.seq)

    @classmethod
    def parse(cls, text: str) -> Self:
        seq, _, position = text.partition(".")
        return cls(int(seq), TextPosition.parse(position) if position else TextPosition())


class TextPiece(NamedTuple):
    attempt: int
    offset: int
    text: str

    @property
    def end(self) -> TextPosition:
        return TextPosition(self.attempt, self.offset + len(self.text))


class TextDelta(NamedTuple):
    piece: TextPiece
    is_all: bool


def joined(pieces: Iterable[TextPiece], after: TextPosition, max_length: int = MAX_DELTA_LENGTH) -> TextDelta | None:
    """Return the text that follows a position, from the latest attempt; None if there is none. The pieces are in order
    and come after the position."""
    attempt, offset, texts, length = after.attempt, after.offset, list[str](), 0
    is_all = True
    for piece in pieces:
        if piece.attempt > attempt:
            attempt, offset, texts, length = piece.attempt, 0, [], 0
        if piece.offset != offset + length:
            break
        if length >= max_length:
            is_all = False
            break
        texts.append(piece.text)
        length += len(piece.text)
    return TextDelta(TextPiece(attempt, offset, "".join(texts)), is_all) if texts else None


class Feed(NamedTuple):
    events: Sequence[TurnEvent]
    delta: TextPiece | None = None
    later: Sequence[TurnEvent] = ()
    is_all: bool = True

    @property
    def is_empty(self) -> bool:
        return not self.events and self.delta is None and not self.later


def wants_text(turn: ChatTurn, events: Sequence[TurnEvent], position: TextPosition) -> bool:
    """Return whether the reader of these events gets text: during the call, and up to its end. After the turn, only
    readers that have begun with its text get the rest; the others read the message."""
    if turn.status.is_over and not position.attempt:
        return False
    return turn.phase is TurnPhase.MAIN_LLM or _end_of_call(events) < len(events)


def feed_of(events: Sequence[TurnEvent], delta: TextDelta | None) -> Feed:
    """Put text before the end of its call, which is not reported while text is left."""
    if delta is None:
        return Feed(events)
    end = _end_of_call(events)
    later = events[end:] if delta.is_all else ()
    return Feed(events[:end], delta.piece, later, delta.is_all)


def _end_of_call(events: Sequence[TurnEvent]) -> int:
    ends = (number for number, event in enumerate(events) if event.type is TurnEventType.MAIN_FINISHED)
    return next(ends, len(events))
