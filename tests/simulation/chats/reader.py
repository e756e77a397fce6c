"""Somebody who reads the events and the text of a turn as they come, and requires that nothing is missing."""

from dataclasses import dataclass, field

from cupel_core.chats.turns import TurnFeed
from cupel_core.domain.chats.drafts import FeedPosition, TextPiece
from tests.simulation.invariants import require


@dataclass
class Reader:
    turn_id: str
    position: FeedPosition = field(default_factory=FeedPosition)
    has_all: bool = False
    _seqs: list[int] = field(default_factory=list)
    _text: str = ""

    def add(self, polled: TurnFeed) -> None:
        """What was answered to a poll from the reader's position."""
        feed, turn = polled.feed, polled.turn
        if feed.delta is not None:
            self._add_text(feed.delta)
        self._seqs += [event.seq for event in (*feed.events, *feed.later)]
        require(self._seqs == list(range(1, len(self._seqs) + 1)), f"11: {self.turn_id} is read as {self._seqs}")
        self.position = self.position._replace(seq=len(self._seqs))
        if turn.status.is_over and feed.is_empty:
            self.has_all = True
            count = len(self._seqs)
            require(turn.last_seq == count, f"11: {self.turn_id} has {turn.last_seq} events, and {count} were read")

    def _add_text(self, piece: TextPiece) -> None:
        if piece.attempt != self.position.text.attempt:
            self._text = ""
        require(piece.offset == len(self._text), f"11: {self.turn_id} has {len(self._text)} characters, then {piece}")
        self._text += piece.text
        self.position = self.position._replace(text=piece.end)
