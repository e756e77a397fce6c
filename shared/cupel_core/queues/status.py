"""The status of the providers' queues, and whether the workspace uses them.

The queues belong to the stack: their counts are messages (slices) of all workspaces. Pausing affects one workspace.
"""

from concurrent.futures import ThreadPoolExecutor

from cupel_core.domain.limits.provider_status import QueueStatus
from cupel_core.domain.runs.run import Priority
from cupel_core.errors import Invalid
from cupel_core.providers import PROVIDERS
from cupel_core.settings import settings
from cupel_core.store import governor, queues


def list_queues(workspace: str, provider: str | None = None) -> tuple[QueueStatus, ...]:
    """The status of one provider's queues, or of all in the registry's order. Invalid for an unknown provider."""
    names = select_providers(provider)
    with ThreadPoolExecutor(max_workers=len(names)) as threads:
        return tuple(threads.map(lambda name: _queue_status(workspace, name), names))


def pause(workspace: str, provider: str | None = None) -> None:
    """Start no further probe of this workspace with the provider (None: with any); those in flight complete."""
    for name in select_providers(provider):
        governor.set_paused(workspace, name, True)


def resume(workspace: str, provider: str | None = None) -> None:
    """Undo `pause`."""
    for name in select_providers(provider):
        governor.set_paused(workspace, name, False)


def select_providers(provider: str | None) -> tuple[str, ...]:
    """This provider, or all of them for None. Invalid for an unknown one."""
    if provider is None:
        return tuple(PROVIDERS)
    if provider not in PROVIDERS:
        raise Invalid.field("provider", f"must be one of {', '.join(PROVIDERS)}")
    return (provider,)


def _queue_status(workspace: str, provider: str) -> QueueStatus:
    depths = [queues.get_depth(settings().probe_queue_url(provider, priority)) for priority in Priority]
    dead = [queues.get_depth(settings().probe_dlq_url(provider, priority)) for priority in Priority]
    return QueueStatus(
        provider=provider,
        waiting=sum(depth.waiting for depth in depths),
        in_flight=sum(depth.in_flight for depth in depths),
        delayed=sum(depth.delayed for depth in depths),
        dead_letters=sum(depth.total for depth in dead),
        account=governor.get_status(workspace, provider),
    )
