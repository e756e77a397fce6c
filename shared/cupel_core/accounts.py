"""A workspace's access to its providers: what it has set over each provider's defaults, and the key."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict

from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.errors import Invalid, NotFound
from cupel_core.ids import new_id
from cupel_core.providers import PROVIDERS, Provider, prices
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS, Account
from cupel_core.settings import settings
from cupel_core.store import governor, providers, secrets


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
    usable: bool
    """Enabled, and with the address and the key that it needs."""
    needs_key: bool
    has_key: bool
    max_parallel_requests: int
    requests_per_minute: int | None
    tokens_per_minute: int | None


@dataclass(frozen=True)
class ModelView:
    """A model that the price list knows; others are accepted too. Prices are per million tokens."""

    id: str
    name: str
    provider: ProviderView
    input_usd_per_million: float | None
    output_usd_per_million: float | None

    @property
    def simulated(self) -> bool:
        return self.provider.name == "sim"


def account(workspace: str, provider: str) -> Account:
    """As it is now; only the key is remembered, by its version. None is the key of an account that has none."""
    known, stored = _known(provider), providers.get(workspace, provider)
    view = _view(known, stored)
    return Account(
        provider=view.name,
        base_url=view.base_url,
        api_key=_key(workspace, provider, stored.key_version) if stored.key_version else None,
        enabled=view.enabled,
        max_parallel_requests=view.max_parallel_requests,
        requests_per_minute=view.requests_per_minute,
        tokens_per_minute=view.tokens_per_minute,
        allow_private=settings().allow_private_endpoints,
    )


@lru_cache(maxsize=256)
def _key(workspace: str, provider: str, version: str) -> str | None:
    """`version` is not sent: it makes a new key another question."""
    del version
    return secrets.get(workspace, provider)


def forget() -> None:
    """Drops what `account` remembers in this process."""
    _key.cache_clear()


def configure(workspace: str, name: str, changes: ProviderChanges) -> ProviderView:
    """A connector has an address and headers of its own; for all of them together only the limits are set."""
    provider = _known(name)
    if name == PROVIDER and (changes.get("base_url") or changes.get("api_key")):
        raise Invalid.field("baseUrl" if changes.get("base_url") else "apiKey", "is set for each connector by itself")
    settings = dict(changes)
    if "api_key" in changes:
        del settings["api_key"]
        settings["key_version"] = _store_key(workspace, name, changes["api_key"])
    providers.change(workspace, name, settings)
    governor.forget_faults(workspace, name)
    return _view(provider, providers.get(workspace, name))


def listed(workspace: str) -> tuple[ProviderView, ...]:
    """Every provider Cupel knows, in the registry's order, whether or not the workspace has set anything."""
    stored = providers.every(workspace)
    return tuple(_view(provider, stored.get(name, providers.Stored())) for name, provider in PROVIDERS.items())


def models(workspace: str, provider: str | None = None) -> tuple[ModelView, ...]:
    """The known models of every provider, or of one, in a fixed order."""
    if provider is not None and provider not in PROVIDERS:
        raise Invalid.field("provider", f"must be one of {', '.join(PROVIDERS)}")
    views = (view for view in listed(workspace) if provider in (None, view.name))
    return tuple(
        ModelView(model.id, model.name, view, model.input_usd_per_million, model.output_usd_per_million)
        for view in views
        for model in prices.known_models(view.name)
    )


def model_error(workspace: str, model: str) -> str | None:
    """Why this model cannot be asked; None when it can."""
    name, slash, rest = model.partition("/")
    provider = PROVIDERS.get(name)
    if provider is None or name == PROVIDER or not slash or not rest:
        known = ", ".join(each for each in PROVIDERS if each != PROVIDER)
        return f"must be provider/name with one of the providers {known}"
    access = account(workspace, name)
    if not access.enabled:
        return f"provider {name} is disabled"
    if provider.needs_key and not access.api_key:
        return f"provider {name} has no API key: PUT /v1/providers/{name} sets it"
    if not access.base_url and name == "custom":
        return "provider custom has no baseUrl: PUT /v1/providers/custom sets it"
    return None


def _known(name: str) -> Provider:
    if name not in PROVIDERS:
        raise NotFound(f"there is no provider {name}; known are {', '.join(PROVIDERS)}")
    return PROVIDERS[name]


def _store_key(workspace: str, name: str, key: str | None) -> str | None:
    """The version of the key that is there afterwards."""
    if key is None:
        secrets.delete(workspace, name)
        return None
    secrets.put(workspace, name, key)
    return new_id("key")


def _view(provider: Provider, stored: providers.Stored) -> ProviderView:
    base_url = stored.base_url or provider.base_url
    enabled, has_key = stored.enabled is not False, stored.key_version is not None
    reachable = bool(base_url) or not provider.needs_base_url
    return ProviderView(
        name=provider.name,
        title=provider.title,
        base_url=base_url,
        enabled=enabled,
        usable=enabled and reachable and (has_key or not provider.needs_key),
        needs_key=provider.needs_key,
        has_key=has_key,
        max_parallel_requests=stored.max_parallel_requests or DEFAULT_PARALLEL_REQUESTS,
        requests_per_minute=stored.requests_per_minute,
        tokens_per_minute=stored.tokens_per_minute,
    )
