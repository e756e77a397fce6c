"""A workspace's provider accounts: settings that override the provider's defaults, and API keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache, partial

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.resources.addresses import is_same_address
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.resources.providers import ModelPrice, ModelView, Prices, ProviderChanges, ProviderView
from cupel_core.providers import (
    OWN_SERVER_PREFIX,
    PROVIDERS,
    Provider,
    find_provider,
    model_name_error,
    prices,
    simulated_model_error,
    unknown_provider_message,
)
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS, Account
from cupel_core.providers.addresses import is_bedrock_address
from cupel_core.providers.model_metadata import metadata_of
from cupel_core.store import governor, providers, secrets
from cupel_core.store.settings import settings

MAX_OWN_SERVERS = 30
"""A workspace has at most this many own servers, because each may have a secret, and listing the providers reads
all."""


def load_account(workspace: str, provider: str) -> Account:
    """Return the account as it is now. Only its key is cached, by version. Raise NotFound for an unknown provider."""
    stored = providers.get(workspace, provider)
    view = _view(_registered(provider), stored)
    return Account(
        provider=view.name,
        base_url=view.base_url,
        api_key=_find_key(workspace, provider, stored.key_version),
        enabled=view.enabled,
        max_parallel_requests=view.max_parallel_requests,
        requests_per_minute=view.requests_per_minute,
        tokens_per_minute=view.tokens_per_minute,
        prices=view.prices,
        uses_role=_is_open_to_role(provider),
        scope=workspace,
        allow_private=settings().allow_private_endpoints,
    )


def load_accounts(
    workspace: str,
    models: Iterable[str],
    own_prices: Prices | None = None,
    load: Callable[[str, str], Account] = load_account,
) -> dict[str, Account]:
    """Return the accounts of these models' providers, by provider. `own_prices` replace the present ones if given."""
    names = sorted({model.partition("/")[0] for model in models})
    return {provider: with_prices(load(workspace, provider), own_prices) for provider in names}


def with_prices(account: Account, own_prices: Prices | None) -> Account:
    """Return the account with the prices that applied when a run began, or unchanged if `own_prices` is None."""
    return account if own_prices is None else replace(account, prices=own_prices.get(account.provider, ()))


def load_own_prices(workspace: str) -> Prices:
    return {name: stored.prices for name, stored in providers.list_providers(workspace).items() if stored.prices}


def _find_key(workspace: str, provider: str, version: str | None) -> str | None:
    """Return the key, or None if there is none, or it is being deleted or was just written. Later calls look again."""
    if version is None:
        return None
    try:
        return _get_key(workspace, provider, version)
    except NotFound:
        return None


@lru_cache(maxsize=256)
def _get_key(workspace: str, provider: str, version: str) -> str:
    """Return the stored key. Raise NotFound, which is not cached."""
    key = secrets.get(workspace, provider, version)
    if key is None:
        raise NotFound(f"the key of provider {provider} is not stored")
    return key


def clear_key_cache() -> None:
    _get_key.cache_clear()


def get_provider(workspace: str, name: str) -> ProviderView:
    """Return a provider with the workspace's settings. Raise NotFound for an unknown one."""
    return _view(_registered(name), providers.get(workspace, name))


def update_provider(
    workspace: str, name: str, changes: ProviderChanges, precondition: Precondition = UNCONDITIONAL
) -> ProviderView:
    """Update the workspace's settings for a provider.

    Raise NotFound for an unknown provider, and Conflict if a new address is written while anything else changes. Raise
    Invalid for a URL or key of the provider `connector`, because each connector has its own and only the limits are
    shared. Raise Invalid for a new server of the workspace's own without an address, and for a new address without a
    key, because a stored key is sent to no other address than the one it was set for.
    """
    provider = _registered(name)
    if name == PROVIDER and (changes.get("base_url") or changes.get("api_key")):
        field = "baseUrl" if changes.get("base_url") else "apiKey"
        raise Invalid.field(field, "must be set for each connector separately")
    base_url = changes.get("base_url")
    if name == "bedrock" and base_url and not (settings().allow_private_endpoints or is_bedrock_address(base_url)):
        raise Invalid.field("baseUrl", "must be an endpoint of Amazon Bedrock, bedrock-runtime.<region>.amazonaws.com")
    before = providers.get(workspace, name)
    precondition.check(etag(before.revision))
    if name.startswith(OWN_SERVER_PREFIX) and not before.base_url:
        _check_new_server(workspace, name, changes)
    stored_changes = dict(changes)
    if "api_key" in changes:
        del stored_changes["api_key"]
        stored_changes["key_version"] = changes["api_key"] and secrets.put(workspace, name, changes["api_key"])
    else:
        _check_address(provider, before, changes)
    is_based_on_read = precondition.is_set or ("base_url" in changes and "api_key" not in changes)
    with precondition.guard_write():
        providers.update(workspace, name, stored_changes, before if is_based_on_read else None)
    if "api_key" in changes and changes["api_key"] is None:
        secrets.delete(workspace, name)
        _forget_lost_key(workspace, name)
    governor.reset_learned_state(workspace, name)
    return get_provider(workspace, name)


def _check_new_server(workspace: str, name: str, changes: ProviderChanges) -> None:
    """Raise Invalid for one server too many. Concurrent requests may exceed the limit by one each."""
    if "base_url" not in changes:
        raise Invalid.field("baseUrl", f"is required: there is no server {name} yet")
    if changes["base_url"] and len(_own_servers(providers.list_providers(workspace))) >= MAX_OWN_SERVERS:
        raise Conflict(f"a workspace has at most {MAX_OWN_SERVERS} servers of its own: remove one first")


def _forget_lost_key(workspace: str, name: str) -> None:
    """Remove the reference to a key that a concurrent removal has deleted. The removal takes precedence."""
    stored = providers.get(workspace, name)
    if stored.key_version is not None and secrets.get(workspace, name, stored.key_version) is None:
        with suppress(Conflict):  # The key was set once more.
            providers.update(workspace, name, {"key_version": None}, stored)


def _check_address(provider: Provider, before: providers.StoredProvider, changes: ProviderChanges) -> None:
    """Raise Invalid if a stored key would be sent to another address than the one it was set for."""
    if "base_url" not in changes or before.key_version is None:
        return
    if not is_same_address(before.base_url or provider.base_url, changes["base_url"] or provider.base_url):
        raise Invalid.field("apiKey", "must be set again or set to null: the stored key belongs to another address")


def list_providers(workspace: str) -> tuple[ProviderView, ...]:
    """List every provider in the registry's order, then the workspace's own servers, each with its settings if any."""
    stored = providers.list_providers(workspace)
    names = (*PROVIDERS, *_own_servers(stored))
    return tuple(_view(_registered(name), stored.get(name, providers.StoredProvider())) for name in names)


def provider_names(workspace: str) -> tuple[str, ...]:
    return (*PROVIDERS, *_own_servers(providers.list_providers(workspace)))


def _own_servers(stored: Mapping[str, providers.StoredProvider]) -> tuple[str, ...]:
    return tuple(name for name, settings in sorted(stored.items()) if _is_own_server(name) and settings.base_url)


def _is_own_server(name: str) -> bool:
    return name not in PROVIDERS and find_provider(name) is not None


def list_models(workspace: str, provider: str | None = None) -> tuple[ModelView, ...]:
    """List the models with a price, of every provider or of one. Raise Invalid for an unknown provider."""
    if provider is not None and find_provider(provider) is None:
        raise Invalid.field("provider", unknown_provider_message(provider))
    views = [view for view in list_providers(workspace) if provider in (None, view.name)]
    return tuple(model for view in views for model in _models_of(view))


def _models_of(view: ProviderView) -> Iterator[ModelView]:
    """Yield the provider's models in the price list, then the others that the workspace has set prices for."""
    own = {f"{view.name}/{price.model}": price for price in view.prices if price.model is not None}
    of_others = next((price for price in view.prices if price.model is None), None)
    for model in prices.known_models(view.name):
        price = own.pop(model.id, of_others or model)
        yield _model_view(model.id, model.name, view, price, model.context_length)
    for model_id, price in own.items():
        yield _model_view(model_id, price.model or model_id, view, price)


def _model_view(
    model: str, name: str, view: ProviderView, price: ModelPrice | prices.KnownModel, context_length: int | None = None
) -> ModelView:
    """Build the view. `context_length` is that of the price list, which knows more models of gateways."""
    metadata = metadata_of(model)
    if _is_open_to_role(view.name) and not view.has_key:
        view = replace(view, usable=view.usable and settings().may_call_as_role(model.partition("/")[2]))
    return ModelView(
        model,
        name,
        view,
        price.input_usd_per_million,
        price.output_usd_per_million,
        metadata.context_length or context_length,
        metadata.max_output_tokens,
        metadata.input_modalities,
        metadata.supported_parameters,
    )


class ModelChecks:
    """Checks whether a workspace can call models. Each check returns the reason why not, or None. The account of each
    provider is read once. With `tolerates_missing_access`, a missing key or address is recorded in `missing_access`
    instead of being an error: the cost of calls is known without them."""

    def __init__(self, workspace: str, *, tolerates_missing_access: bool = False) -> None:
        self.missing_access: dict[str, str] = {}
        """The reasons why providers cannot be called yet, by provider."""
        self._tolerates_missing_access = tolerates_missing_access
        self._account = cache(partial(load_account, workspace))

    def model_error(self, model: str) -> str | None:
        """Return why this model cannot answer messages, or None if it can."""
        return self.account_error(model) or simulated_model_error(model)

    def account_error(self, model: str) -> str | None:
        """Return why the workspace's account cannot call this model, or None if it can. A model of the provider `sim`
        may have any name, because simulated models of any name make vectors."""
        provider = model.partition("/")[0]
        if error := model_name_error(model):
            return error
        account = self._account(provider)
        if not account.enabled:
            return f"provider {provider} is disabled"
        error = _access_error(account) or self._role_error(model)
        if error and self._tolerates_missing_access:
            self.missing_access[provider] = error
            return None
        return error

    def _role_error(self, model: str) -> str | None:
        """Return an error if the account has no key and the stack's own AWS role may not call this Bedrock model."""
        provider, _, name = model.partition("/")
        if not _is_open_to_role(provider) or settings().may_call_as_role(name) or self._account(provider).api_key:
            return None
        allowed = settings().bedrock_models
        return f"provider {provider} has no API key, and the stack's operator allows its role {allowed}"


def model_error(workspace: str, model: str) -> str | None:
    return ModelChecks(workspace).model_error(model)


def account_error(workspace: str, model: str) -> str | None:
    return ModelChecks(workspace).account_error(model)


def _access_error(account: Account) -> str | None:
    provider, name = _registered(account.provider), account.provider
    if provider.needs_key and not account.api_key and not account.uses_role:
        return f"provider {name} has no API key: PUT /v1/providers/{name} sets it"
    if not account.base_url and provider.needs_base_url:
        return f"provider {name} has no baseUrl: PUT /v1/providers/{name} sets it"
    return None


def _is_open_to_role(provider: str) -> bool:
    """Return whether some models of the provider may be called without a key, as the stack's own AWS role."""
    return provider == "bedrock" and bool(settings().bedrock_models)


def _registered(name: str) -> Provider:
    provider = find_provider(name)
    if provider is None:
        raise NotFound(f"there is no provider {name}: {unknown_provider_message(name)}")
    return provider


def _view(provider: Provider, stored: providers.StoredProvider) -> ProviderView:
    base_url = stored.base_url or provider.base_url
    enabled, has_key = stored.enabled is not False, stored.key_version is not None
    reachable = bool(base_url) or not provider.needs_base_url
    return ProviderView(
        name=provider.name,
        title=provider.title,
        base_url=base_url,
        enabled=enabled,
        usable=enabled and reachable and (has_key or not provider.needs_key or _is_open_to_role(provider.name)),
        needs_key=provider.needs_key,
        has_key=has_key,
        max_parallel_requests=min(
            stored.max_parallel_requests or DEFAULT_PARALLEL_REQUESTS, settings().workspace_parallel_requests
        ),
        requests_per_minute=stored.requests_per_minute,
        tokens_per_minute=stored.tokens_per_minute,
        prices=stored.prices,
        revision=stored.revision,
    )
