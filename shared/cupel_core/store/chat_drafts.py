"""Drafts: the text of a turn's main call while it is written, stored in pieces that expire after a day.

Each piece is an item by attempt and offset and is written once, so two workers cannot mix their texts. Readers get the
pieces after the position that they name, before the event that ends the call.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError

from cupel_core.base.messages import ChatRef
from cupel_core.domain.chats.drafts import MAX_DELTA_LENGTH, TextDelta, TextPiece, TextPosition, joined
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code

RETENTION = timedelta(days=1)
_DRAFT = "draft#"


class DraftItem(Item):
    text = UnicodeAttribute()
    ttl = NumberAttribute()


def append(ref: ChatRef, turn_id: str, piece: TextPiece, now: datetime) -> bool:
    """Store the next piece. Return False if another worker has stored one there."""
    item = DraftItem(
        keys.chat(ref),
        _sort_key(turn_id, TextPosition(piece.attempt, piece.offset)),
        text=piece.text,
        ttl=int((now + RETENTION).timestamp()),
    )
    try:
        item.save(condition=DraftItem.pk.does_not_exist())
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return False
    return True


def read(ref: ChatRef, turn_id: str, after: TextPosition, max_length: int = MAX_DELTA_LENGTH) -> TextDelta | None:
    """Return the text after a position, which must be the end of a piece."""
    return joined(_pieces(ref, turn_id, after), after, max_length)


def last_attempt(ref: ChatRef, turn_id: str) -> int:
    """Return the number of the last attempt that has any text, or 0."""
    prefix = f"{_DRAFT}{turn_id}#"
    items = DraftItem.query(
        keys.chat(ref), DraftItem.sk.startswith(prefix), scan_index_forward=False, limit=1, consistent_read=True
    )
    return next((_position(item.sk).attempt for item in items), 0)


def _pieces(ref: ChatRef, turn_id: str, after: TextPosition) -> Iterator[TextPiece]:
    first, last = _sort_key(turn_id, after), _sort_key(turn_id, TextPosition(999_999, 99_999_999))
    for item in DraftItem.query(keys.chat(ref), DraftItem.sk.between(first, last), consistent_read=True):
        yield TextPiece(*_position(item.sk), item.text)


def _sort_key(turn_id: str, position: TextPosition) -> str:
    return f"{_DRAFT}{turn_id}#{position.attempt:06d}#{position.offset:08d}"


def _position(sort_key: str) -> TextPosition:
    _, _, attempt, offset = sort_key.split("#")
    return TextPosition(int(attempt), int(offset))
