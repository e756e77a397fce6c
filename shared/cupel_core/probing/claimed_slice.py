"""A slice in a worker's hands: from its claim to its acknowledgement."""

from collections import deque
from dataclasses import dataclass, field

from cupel_core.messages import ProbeSlice
from cupel_core.probing.slice_context import Setting
from cupel_core.store.queues import Delivery

ASKED = "asked to wait"
"""By the provider: such hand-ons are counted."""


@dataclass
class Rest:
    """Probes of a slice that are handed on together, in a message of their own."""

    indexes: list[int] = field(default_factory=list)
    delay_seconds: float = 0.0


@dataclass
class Work:
    """`waiting` are not begun, `begun` are running or finished and not yet recorded. The rest of the slice is done."""

    piece: ProbeSlice
    delivery: Delivery
    claimant: str
    setting: Setting
    waiting: deque[int]
    begun: set[int] = field(default_factory=set)
    known: dict[int, bool] = field(default_factory=dict)
    """Outcomes that a claimant before us stored without having told the barrier."""
    postponed: dict[str, Rest] = field(default_factory=dict)
    """By why: what is held for a model's sake does not delay the others."""
    error: str | None = None
    """Why a probe of the slice could not be carried out: the message has to come again."""

    @property
    def is_done(self) -> bool:
        return not self.waiting and not self.begun

    @property
    def is_to_come_again(self) -> bool:
        return self.error is not None

    def begin(self, index: int) -> None:
        self.waiting.remove(index)
        self.begun.add(index)

    def hold_back(self, index: int, delay_seconds: float, why: str) -> None:
        self.waiting.remove(index)
        self.postpone(index, delay_seconds, why)

    def postpone(self, index: int, delay_seconds: float, why: str = "") -> None:
        rest = self.postponed.setdefault(why, Rest())
        rest.indexes.append(index)
        rest.delay_seconds = max(rest.delay_seconds, delay_seconds)

    def postpone_waiting(self, delay_seconds: float) -> None:
        while self.waiting:
            self.postpone(self.waiting.popleft(), delay_seconds)

    def rests(self) -> list[tuple[ProbeSlice, float]]:
        """The messages that hand on what was postponed, and their delays in seconds."""
        return [
            (
                self.piece.model_copy(
                    update={"indexes": sorted(rest.indexes), "handoffs": self.piece.handoffs + (why == ASKED)}
                ),
                rest.delay_seconds,
            )
            for why, rest in self.postponed.items()
        ]
