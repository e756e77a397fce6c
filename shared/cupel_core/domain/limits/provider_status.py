"""The state of a provider account and of its queues, as its workspace sees them."""

from datetime import datetime
from typing import NamedTuple

from cupel_core.deferred import dataclass


class SuspendedModel(NamedTuple):
    """A model whose breaker is open: no probe of it starts before `until`; then one is let through."""

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


@dataclass(frozen=True)
class QueueStatus:
    """A workspace's work with one provider, in all priorities together."""

    provider: str
    pending: int
    """Probes without an outcome, in runs that have not ended and are not paused."""
    dead_letters: int
    account: ProviderStatus
