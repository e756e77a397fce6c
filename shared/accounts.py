"""A workspace's access to its providers: what it has set over each provider's defaults, and the key."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict

from shared.errors import NotFound
from shared.providers import PROVIDERS, Provider
from shared.providers.account import DEFAULT_PARALLEL_REQUESTS, Account
from shared.store import providers, secrets

_CACHED_SECONDS = 60


class ProviderChanges(TypedDict, total=False):
    """What is to be changed; None goes back to the default, and deletes the key."""

    base_url: str | None
    api_key: str | None
    enabled: bool | None
    max_parallel_requests: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None


@dataclass(frozen=True)
class ProviderView:
    """A provider as a workspace sees it. Of the key it only tells whether there is one."""

    name: str
    title: str
    base_url: str
    enabled: bool
    needs_key: bool
    has_key: bool
    max_parallel_requests: int
    requests_per_minute: int | None
    tokens_per_minute: int | None

    @property
    def usable(self) -> bool:
        return self.enabled and bool(self.base_url) and (self.has_key or not self.needs_key)


def account(workspace: str, provider: str) -> Account:
    """At most a minute old. `api_key` is None where there is none, also when the provider needs one."""
    return _account(workspace, provider, int(time.monotonic() // _CACHED_SECONDS))


def forget() -> None:
    """Drops what `account` remembers in this process."""
    _account.cache_clear()


def configure(workspace: str, name: str, changes: ProviderChanges) -> ProviderView:
    provider = _known(name)
    settings = dict(changes)
    if "api_key" in changes:
        del settings["api_key"]
        settings["has_key"] = _store_key(workspace, name, changes["api_key"])
    providers.change(workspace, name, settings)
    forget()
    return _view(provider, providers.get(workspace, name))


def listed(workspace: str) -> tuple[ProviderView, ...]:
    """Every provider Cupel knows, in the registry's order, whether or not the workspace has set anything."""
    stored = providers.every(workspace)
    return tuple(_view(provider, stored.get(name, providers.Stored())) for name, provider in PROVIDERS.items())


@lru_cache(maxsize=256)
def _account(workspace: str, name: str, _minute: int) -> Account:
    view = _view(_known(name), providers.get(workspace, name))
    return Account(
        provider=name,
        base_url=view.base_url,
        api_key=secrets.get(workspace, name) if view.has_key else None,
        enabled=view.enabled,
        max_parallel_requests=view.max_parallel_requests,
        requests_per_minute=view.requests_per_minute,
        tokens_per_minute=view.tokens_per_minute,
    )


def _known(name: str) -> Provider:
    if name not in PROVIDERS:
        raise NotFound(f"there is no provider {name}; known are {', '.join(PROVIDERS)}")
    return PROVIDERS[name]


def _store_key(workspace: str, name: str, key: str | None) -> bool | None:
    """Whether there is a key afterwards (None: no longer)."""
    if key is None:
        secrets.delete(workspace, name)
        return None
    secrets.put(workspace, name, key)
    return True


def _view(provider: Provider, stored: providers.Stored) -> ProviderView:
    return ProviderView(
        name=provider.name,
        title=provider.title,
        base_url=stored.base_url or provider.base_url or "",
        enabled=stored.enabled is not False,
        needs_key=provider.needs_key,
        has_key=bool(stored.has_key),
        max_parallel_requests=stored.max_parallel_requests or DEFAULT_PARALLEL_REQUESTS,
        requests_per_minute=stored.requests_per_minute,
        tokens_per_minute=stored.tokens_per_minute,
    )
