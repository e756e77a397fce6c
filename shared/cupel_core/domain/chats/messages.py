from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self, cast

from cupel_core.base.deferred import dataclass
from cupel_core.domain.chats.branches import MessageSide, Pointer
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_request import MessageRole, Usage


class VariantKind(StrEnum):
    MAIN = "main"
    EDIT = "edit"
    REWRITE = "rewrite"


class VariantStatus(StrEnum):
    """The status of a message: complete, or how the call that writes it ended."""

    DONE = "done"
    ABORTED = "aborted"
    """The message has what the call had written when its turn was stopped."""
    ERROR = "error"
    """The message has what the call had written when it failed."""


@dataclass(frozen=True)
class Exchange:
    id: str
    position: int
    """The position is the same in every branch that has the exchange."""
    user: tuple[int, ...] = (1,)
    answer: tuple[int, ...] = ()
    last_answer: int = 0
    """The highest number that was assigned to an answer, even if no turn has stored that answer."""
    revision: int = 1

    def numbers(self, side: MessageSide) -> tuple[int, ...]:
        return self.user if side is MessageSide.USER else self.answer

    def next_number(self, side: MessageSide) -> int:
        return (max(self.user) if side is MessageSide.USER else max(self.last_answer, *self.answer, 0)) + 1


@dataclass(frozen=True)
class Variant:
    exchange_id: str
    side: MessageSide
    number: int
    kind: VariantKind
    content: str
    created_at: datetime
    branch_id: str
    turn_id: str | None = None
    based_on: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Answers have `modelId`, `usage`, `costUsd` and `annotations`."""
    status: VariantStatus = VariantStatus.DONE

    @property
    def message_id(self) -> str:
        return message_id(self.exchange_id, self.side)

    @property
    def role(self) -> MessageRole:
        return MessageRole.USER if self.side is MessageSide.USER else MessageRole.ASSISTANT

    @property
    def model_id(self) -> str | None:
        return self.details.get("modelId")

    @property
    def usage(self) -> Usage | None:
        usage = self.details.get("usage")
        return decode(Usage, usage) if usage else None

    @property
    def cost_usd(self) -> float | None:
        return self.details.get("costUsd")

    @property
    def annotations(self) -> Sequence[Any]:
        return cast("Sequence[Any]", self.details.get("annotations", ()))


class MessageRef(NamedTuple):
    exchange_id: str
    side: MessageSide

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse `<exchange>.user` or `<exchange>.answer`; return None for any other text."""
        exchange_id, _, side = text.rpartition(".")
        return cls(exchange_id, MessageSide(side)) if exchange_id and side in list(MessageSide) else None


def message_id(exchange_id: str, side: MessageSide) -> str:
    return f"{exchange_id}.{side}"


class ShownMessage(NamedTuple):
    variant: Variant
    variant_count: int
    hidden: bool
    deleted: bool


class ShownExchange(NamedTuple):
    id: str
    position: int
    user: ShownMessage | None
    answer: ShownMessage | None
    turn_id: str | None


def shown_exchange(
    pointer: Pointer,
    exchange: Exchange,
    variants: Mapping[tuple[MessageSide, int], Variant],
    included: frozenset[str],
) -> ShownExchange:
    """Leave out messages that are hidden or deleted, unless `included` has `hidden` or `deleted`."""
    shown = {side: _shown(pointer, exchange, side, variants, included) for side in MessageSide}
    return ShownExchange(
        exchange.id, exchange.position, shown[MessageSide.USER], shown[MessageSide.ANSWER], pointer.turn_id
    )


def _shown(
    pointer: Pointer,
    exchange: Exchange,
    side: MessageSide,
    variants: Mapping[tuple[MessageSide, int], Variant],
    included: frozenset[str],
) -> ShownMessage | None:
    number = pointer.selected(side)
    hidden, deleted = side in pointer.hidden, side in pointer.deleted
    if number is None or (hidden and "hidden" not in included) or (deleted and "deleted" not in included):
        return None
    return ShownMessage(variants[side, number], len(exchange.numbers(side)), hidden, deleted)
