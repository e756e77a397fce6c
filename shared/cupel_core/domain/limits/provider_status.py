"""Describes the state of a provider account and of its queues, as its workspace sees them."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.priority import Priority


class SuspendedModel(NamedTuple):
    """Describes a model whose breaker is open: no probe of it starts before `until`, which is in the future. After
    that, one probe may start, so the model is not suspended any more until that probe fails."""

    model: str
    until: datetime
    reason: str


@dataclass(frozen=True)
class ProviderStatus:
    """`limit` is None until a worker reported, and `learned_limit` while none is learned."""

    paused: bool = False
    blocked_until: datetime | None = None
    limit: int | None = None
    learned_limit: int | None = None
    workers: int = 0
    granted: int = 0
    """The workers may make this many parallel requests together."""
    suspended_models: tuple[SuspendedModel, ...] = ()
    slots: int = 0
    """Number of parallel requests that are possible at present, without those reserved for chats that do not need
    them."""
    reserved_slots: int = 0
    """Further parallel requests are reserved for chats that do not need them at present."""
    demands: Mapping[Priority, int] = field(default_factory=dict)

    def taken_slots(self, priority: Priority) -> int:
        """Return how many slots higher priorities take, if that is more than they leave for this one; otherwise 0."""
        higher = sum(demand for each, demand in self.demands.items() if each.rank < priority.rank)
        taken = min(self.slots, higher)
        left = self.slots - taken
        return taken if taken and (not left or self.demands.get(priority, 0) > left) else 0


@dataclass(frozen=True)
class QueueStatus:
    provider: str
    pending: int
    """Probes count if they have no outcome and their run has not ended and is not paused."""
    dead_letters: int
    account: ProviderStatus
