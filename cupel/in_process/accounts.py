"""Finds access to providers in the caller's options, or else in the variables of the providers' own libraries."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from cupel.environment import read_variable
from cupel.errors import UsageError
from cupel.extras import require_extra
from cupel.price_texts import ANY_MODEL, parse_price
from cupel_core.base.errors import Invalid
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers import PROVIDERS, Provider, find_provider, provider_of
from cupel_core.providers.account import Account, is_key_file

_KEY_VARIABLES = {
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
}
"""Maps providers to environment variables other than `<PROVIDER>_API_KEY`. Without this one, Bedrock uses the AWS
credentials that boto3 finds."""
_BASE_URL_VARIABLES = {"azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_BASE_URL")}
"""Maps providers to environment variables other than `<PROVIDER>_BASE_URL`."""


type ProviderAccess = Mapping[str, Any]
"""Optional `base_url` and `api_key`, both texts, and `prices`. Prices are in US dollars per million input and output
tokens, by the provider's name of the model; `*` is every other model."""
_TEXTS = ("base_url", "api_key")
_FIELDS = (*_TEXTS, "prices")


class AccountResolver:
    """Finds accounts.

    With `tolerates_missing_access`, a missing key or address is noted in `missing_access` instead of being an error:
    the cost of calls is known without them.
    """

    def __init__(self, providers: Mapping[str, ProviderAccess], *, tolerates_missing_access: bool = False) -> None:
        self._overrides = providers
        self._tolerates_missing_access = tolerates_missing_access
        self.missing_access: dict[str, str] = {}
        for name, access in providers.items():
            if find_provider(name) is None:
                raise UsageError(f"providers.{name}: unknown provider; known providers: {', '.join(PROVIDERS)}")
            if not isinstance(access, Mapping):
                raise UsageError(f"providers.{name}: must be a mapping with {' and '.join(_TEXTS)}")
            for key in access.keys() - set(_FIELDS):
                raise UsageError(f"providers.{name}.{key}: unknown field; known fields: {', '.join(_FIELDS)}")

    def for_model(self, model: str, field: str) -> Account:
        """Return the account to call a model with. Raises UsageError, naming `field`, if there is none."""
        provider = _provider_of(model, field)
        if provider.name == CONNECTOR:
            raise UsageError(f"{field}: expected a model, not the connector {model}")
        is_bedrock = provider.name == "bedrock"
        if is_bedrock and not self._tolerates_missing_access:
            require_extra("bedrock", f"{field}: {model}")
        # The caller's own process makes the requests, so no other network needs protection.
        account = Account(
            provider.name,
            self._base_url(provider),
            self._key(provider),
            prices=self._prices(provider),
            uses_role=is_bedrock and not self._tolerates_missing_access and _has_aws_credentials(),
            allow_private=True,
        )
        if provider.name == "vertex" and is_key_file(account.api_key or "") and not self._tolerates_missing_access:
            require_extra("vertex", f"{field}: {model}")
        if missing := _missing_access(provider, account):
            if not self._tolerates_missing_access:
                raise UsageError(f"{field}: {model} needs {missing}, or in Python pass it in `providers`")
            self.missing_access[provider.name] = f"provider {provider.name} needs {missing}"
        return account

    def _base_url(self, provider: Provider) -> str:
        override = self._overrides.get(provider.name, {}).get("base_url")
        return override or _first_set(_base_url_variables(provider)) or provider.base_url

    def _prices(self, provider: Provider) -> tuple[ModelPrice, ...]:
        """Return the prices; those of the caller's options take precedence over those of the variable, model by
        model."""
        given = self._overrides.get(provider.name, {}).get("prices", {})
        prices = {price.model: price for price in (*_prices_of_variable(provider), *_read_prices(provider, given))}
        return tuple(prices.values())

    def _key(self, provider: Provider) -> str | None:
        override = self._overrides.get(provider.name, {}).get("api_key")
        return override or _first_set(_key_variables(provider))


def _missing_access(provider: Provider, account: Account) -> str | None:
    if provider.needs_key and not account.api_key and not account.uses_role:
        variable = _key_variables(provider)[0]
        return f"an API key: set {variable}{' or AWS credentials' if provider.name == 'bedrock' else ''}"
    if provider.needs_base_url and not account.base_url:
        return f"an address: set {_base_url_variables(provider)[0]}"
    return None


def _provider_of(model: str, field: str) -> Provider:
    try:
        return provider_of(model, field)
    except Invalid as error:
        raise UsageError(error.detail) from None


def _read_prices(provider: Provider, prices: object) -> tuple[ModelPrice, ...]:
    if isinstance(prices, Mapping) and all(map(_is_price, prices.values())):
        return tuple(ModelPrice(None if model == "*" else str(model), *price) for model, price in prices.items())
    raise UsageError(
        f"providers.{provider.name}.prices: must be a mapping of models to two prices, such as {{'*': (0.2, 0.6)}}"
    )


def _prices_of_variable(provider: Provider) -> Iterator[ModelPrice]:
    """Read the prices of `CUSTOM_PRICES="small=0.4,1.6 large=2,8"`, separated by white space or semicolons."""
    variable = price_variable(provider.name)
    for text in (read_variable(variable) or "").replace(";", " ").split():
        model, (read, written, *others) = parse_price(text, variable)
        cached, per_call = (*others, None, None)[:2]
        yield ModelPrice(None if model == ANY_MODEL else model, read or 0.0, written or 0.0, cached, per_call or 0.0)


def price_variable(model: str) -> str:
    return f"{_variable_prefix(model.partition('/')[0])}_PRICES"


def _is_price(value: object) -> bool:
    return (
        isinstance(value, tuple | list)
        and 2 <= len(value) <= len(fields(ModelPrice)) - 1
        and all(isinstance(each, int | float) and not isinstance(each, bool) and each >= 0 for each in value)
    )


def _has_aws_credentials() -> bool:
    from cupel_core.providers import bedrock  # It imports botocore, which is an extra.

    return bedrock.has_role()


def _key_variables(provider: Provider) -> tuple[str, ...]:
    return _KEY_VARIABLES.get(provider.name, (f"{_variable_prefix(provider.name)}_API_KEY",))


def _base_url_variables(provider: Provider) -> tuple[str, ...]:
    return _BASE_URL_VARIABLES.get(provider.name, (f"{_variable_prefix(provider.name)}_BASE_URL",))


def _variable_prefix(provider: str) -> str:
    return provider.upper().replace("-", "_")


def _first_set(variables: tuple[str, ...]) -> str | None:
    return next(filter(None, map(read_variable, variables)), None)
