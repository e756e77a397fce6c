"""A workspace's work with each provider: pending probes, dead letters, and whether it is paused or delayed.

The queues belong to the stack, and SQS cannot count one workspace's messages. Pending probes are therefore counted from
the workspace's runs.
"""

from collections import Counter
from itertools import islice

from cupel_core.accounts.keys import provider_names
from cupel_core.base.errors import Invalid
from cupel_core.domain.limits.provider_status import QueueStatus
from cupel_core.domain.runs.run import ACTIVE
from cupel_core.domain.runs.slices import provider_ranges, providers_of
from cupel_core.providers import find_provider, unknown_provider_message
from cupel_core.store import active_runs, barrier, dead_letters, governor, runs
from cupel_core.store.barrier import Tree

MAX_COUNTED_RUNS = 50
"""Later runs wait behind these. Counting the probes of one run may take several reads."""
MAX_COUNTED = 10_000


def list_queues(workspace: str, provider: str | None = None) -> tuple[QueueStatus, ...]:
    """Return the status of one provider's queues, or of all in the registry's order. Raise Invalid for an unknown
    provider."""
    names = _select_providers(workspace, provider)
    pending = _count_pending(workspace, frozenset(names))
    died = Counter(letter.provider for letter in islice(dead_letters.list_all(workspace, provider), MAX_COUNTED))
    accounts = governor.get_statuses(workspace, names)
    return tuple(QueueStatus(name, pending[name], died[name], accounts[name]) for name in names)


def pause(workspace: str, provider: str | None = None) -> None:
    """Start no further probe of this workspace with the provider (None: with any). Those in flight complete."""
    for name in _select_providers(workspace, provider):
        governor.set_paused(workspace, name, True)


def resume(workspace: str, provider: str | None = None) -> None:
    for name in _select_providers(workspace, provider):
        governor.set_paused(workspace, name, False)


def _select_providers(workspace: str, provider: str | None) -> tuple[str, ...]:
    if provider is None:
        return provider_names(workspace)
    check_provider(provider)
    return (provider,)


def check_provider(provider: str | None) -> None:
    if provider is not None and find_provider(provider) is None:
        raise Invalid.field("provider", unknown_provider_message(provider))


def _count_pending(workspace: str, providers: frozenset[str]) -> Counter[str]:
    """Count pending probes by provider, over the oldest runs that have not ended."""
    pending: Counter[str] = Counter()
    for active_run in islice(active_runs.list_active_runs_of(workspace), MAX_COUNTED_RUNS):
        run = runs.find(active_run.ref)
        if run is None or run.status not in ACTIVE:
            continue
        for provider in providers & set(providers_of(run.plan)):
            for indexes in provider_ranges(run.plan, provider):
                pending[provider] += len(indexes) - barrier.count_recorded(Tree.for_run(run), indexes)
    return pending
