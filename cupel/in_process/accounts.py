"""The way to each provider: by what the caller gives, else by the variables that the providers' own libraries read."""

from collections.abc import Mapping

from cupel.environment import variable
from cupel.errors import WrongUse
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.errors import Invalid
from cupel_core.providers import PROVIDERS, Provider, provider_of
from cupel_core.providers.account import Account

_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "custom": ("CUSTOM_API_KEY",),
}
"""Bedrock is asked with the credentials that boto3 finds."""


type Access = Mapping[str, str]
"""`base_url` and `api_key`, of which either may be left out."""
_FIELDS = ("base_url", "api_key")


class Accounts:
    def __init__(self, providers: Mapping[str, Access]) -> None:
        self._given = providers
        for name, access in providers.items():
            if name not in PROVIDERS:
                raise WrongUse(f"providers.{name}: unknown; known are {', '.join(PROVIDERS)}")
            for key in access.keys() - set(_FIELDS):
                raise WrongUse(f"providers.{name}.{key}: unknown; known are {', '.join(_FIELDS)}")

    def of_model(self, model: str, field: str) -> Account:
        """WrongUse for a model that cannot be asked."""
        provider = _provider_of(model, field)
        if provider.name == CONNECTOR:
            raise WrongUse(f"{field}: {model} is no model but a connector")
        account = Account(provider.name, self._base_url(provider), self._key(provider))
        if provider.needs_key and not account.api_key:
            raise WrongUse(f"{field}: {model} needs a key: set {_KEYS[provider.name][0]}, or give it in providers")
        if provider.needs_base_url and not account.base_url:
            raise WrongUse(f"{field}: {model} needs an address: set {_variable(provider)}, or give it in providers")
        return account

    def _base_url(self, provider: Provider) -> str:
        given = self._given.get(provider.name, {}).get("base_url")
        return given or variable(_variable(provider)) or provider.base_url

    def _key(self, provider: Provider) -> str | None:
        given = self._given.get(provider.name, {}).get("api_key")
        return given or next(filter(None, map(variable, _KEYS.get(provider.name, ()))), None)


def _provider_of(model: str, field: str) -> Provider:
    try:
        return provider_of(model, field)
    except Invalid as error:
        raise WrongUse(error.detail) from None


def _variable(provider: Provider) -> str:
    return f"{provider.name.upper()}_BASE_URL"
