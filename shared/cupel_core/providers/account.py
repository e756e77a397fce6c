import json
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.resources.providers import ModelPrice

DEFAULT_PARALLEL_REQUESTS = 50
_SECRET_PARTS = ("private_key", "password")


MIN_SECRET_LENGTH = 8
"""Shorter keys, such as `x` or `none`, are no secrets. Users' own servers accept them, and they occur in words."""


def is_key_file(api_key: str) -> bool:
    """Return whether an API key is JSON for which access tokens are requested. That is a service account's key of
    Google Cloud, or a service principal of Microsoft Entra ID."""
    return api_key.lstrip().startswith("{")


def secrets_of(api_key: str | None) -> list[str]:
    """Return the parts of an API key that must not be shown: the key, and of a key file each secret in it."""
    key = (api_key or "").strip()
    if not is_key_file(key):
        return [key] if len(key) >= MIN_SECRET_LENGTH else []
    try:
        parts = json.loads(key)
    except ValueError:
        return [key]
    values = [parts.get(name) for name in _SECRET_PARTS] if isinstance(parts, dict) else []
    return [key, *(value for value in values if isinstance(value, str) and value)]


@dataclass(frozen=True)
class Account:
    provider: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    enabled: bool = True
    max_parallel_requests: int = DEFAULT_PARALLEL_REQUESTS
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    prices: tuple[ModelPrice, ...] = ()
    """Prices that take precedence over the price list."""
    connector: Connector | None = None
    uses_role: bool = False
    """True if Bedrock may be called without a key, as the process's own AWS identity."""
    scope: str = ""
    """The workspace or run for which the account was loaded. Refusals of its requests do not change those of others."""
    allow_private: bool = False
    """True if the stack allows agents with an address in a private network."""

    def price_of(self, model_name: str) -> ModelPrice | None:
        by_model = {price.model: price for price in self.prices}
        return by_model.get(model_name) or by_model.get(None)
