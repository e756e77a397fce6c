"""The state of a provider account and of its queues, as its workspace sees them."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.priority import Priority


class SuspendedModel(NamedTuple):
    """A model whose breaker is open: no probe of it starts before `until`, which is in the future.

    From then on one probe is let through, so the model is not suspended any more until that one fails."""

    model: str
    until: datetime
    reason: str


@dataclass(frozen=True)
class ProviderStatus:
    """An account's current status. `limit` is None until a worker reported, `learned_limit` while none is learned."""

    paused: bool = False
    blocked_until: datetime | None = None
    limit: int | None = None
    learned_limit: int | None = None
    workers: int = 0
    granted: int = 0
    """Parallel requests that the workers may make together."""
    suspended_models: tuple[SuspendedModel, ...] = ()
    slots: int = 0
    """Parallel requests that may be made at present, without those reserved for chats that have no use for them."""
    reserved_slots: int = 0
    """Further parallel requests that are reserved for chats, which have no use for them at present."""
    demands: Mapping[Priority, int] = field(default_factory=dict)
    """Parallel requests that the workers of each priority could make."""

    def taken_slots(self, priority: Priority) -> int:
        """How many of the slots work of higher priorities takes, if that is more than it leaves for this one."""
        higher = sum(demand for each, demand in self.demands.items() if each.rank < priority.rank)
        taken = min(self.slots, higher)
        left = self.slots - taken
        return taken if taken and (not left or self.demands.get(priority, 0) > left) else 0


@dataclass(frozen=True)
class QueueStatus:
    """A workspace's work with one provider, in all priorities together."""

    provider: str
    pending: int
    """Probes without an outcome, in runs that have not ended and are not paused."""
    dead_letters: int
    account: ProviderStatus
