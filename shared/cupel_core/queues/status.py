"""How the queues of the providers stand, and whether the caller's workspace works on them.

The queues are the stack's: their counts are of messages (slices) of all workspaces. Pausing is the workspace's own.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from cupel_core.domain.runs.run import Priority
from cupel_core.errors import Invalid
from cupel_core.providers import PROVIDERS
from cupel_core.settings import settings
from cupel_core.store import governor, queues
from cupel_core.store.governor import ProviderStanding


@dataclass(frozen=True)
class QueueStanding:
    """A provider's queues of all priorities together."""

    provider: str
    waiting: int
    in_flight: int
    delayed: int
    dead: int
    account: ProviderStanding


def standings(workspace: str, provider: str | None = None) -> tuple[QueueStanding, ...]:
    """Of one provider, or of all in the registry's order."""
    chosen = providers_named(provider)
    with ThreadPoolExecutor(max_workers=len(chosen)) as threads:
        return tuple(threads.map(lambda name: _standing(workspace, name), chosen))


def pause(workspace: str, provider: str | None = None) -> None:
    """No further probe of this workspace begins with the provider, or with any; those in flight complete."""
    for name in providers_named(provider):
        governor.set_paused(workspace, name, True)


def resume(workspace: str, provider: str | None = None) -> None:
    for name in providers_named(provider):
        governor.set_paused(workspace, name, False)


def providers_named(provider: str | None) -> tuple[str, ...]:
    """The one, or all for None."""
    if provider is None:
        return tuple(PROVIDERS)
    if provider not in PROVIDERS:
        raise Invalid.field("provider", f"must be one of {', '.join(PROVIDERS)}")
    return (provider,)


def _standing(workspace: str, provider: str) -> QueueStanding:
    alive = [queues.depth(settings().probe_queue_url(provider, priority)) for priority in Priority]
    dead = [queues.depth(settings().probe_dlq_url(provider, priority)) for priority in Priority]
    return QueueStanding(
        provider=provider,
        waiting=sum(depth.waiting for depth in alive),
        in_flight=sum(depth.in_flight for depth in alive),
        delayed=sum(depth.delayed for depth in alive),
        dead=sum(depth.total for depth in dead),
        account=governor.standing(workspace, provider),
    )
