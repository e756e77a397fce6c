"""A workspace's settings of a provider. The API key itself is in shared/cupel_core/store/secrets.py."""

from dataclasses import astuple
from typing import Any

from pynamodb.attributes import BooleanAttribute, JSONAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.store import keys
from cupel_core.store.table import RevisedItem


@dataclass(frozen=True)
class StoredProvider:
    """A provider's settings as stored. None means the provider's default."""

    base_url: str | None = None
    enabled: bool | None = None
    key_version: str | None = None
    """The version of the API key in Secrets Manager. It is None if there is no key."""
    max_parallel_requests: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    prices: tuple[ModelPrice, ...] = ()
    revision: int = 0


class ProviderItem(RevisedItem):
    base_url = UnicodeAttribute(attr_name="baseUrl", null=True)
    enabled = BooleanAttribute(null=True)
    key_version = UnicodeAttribute(attr_name="keyVersion", null=True)
    max_parallel_requests = NumberAttribute(attr_name="maxParallelRequests", null=True)
    requests_per_minute = NumberAttribute(attr_name="requestsPerMinute", null=True)
    tokens_per_minute = NumberAttribute(attr_name="tokensPerMinute", null=True)
    prices = JSONAttribute(null=True)
    """The fields of each price, as a list."""


def get(workspace: str, name: str) -> StoredProvider:
    try:
        return _stored(ProviderItem.get(keys.provider(workspace), name, consistent_read=True))
    except ProviderItem.DoesNotExist:
        return StoredProvider()


def list_providers(workspace: str) -> dict[str, StoredProvider]:
    return {item.sk: _stored(item) for item in ProviderItem.query(keys.provider(workspace), consistent_read=True)}


def update(workspace: str, name: str, changes: dict[str, Any], before: StoredProvider | None = None) -> None:
    """Set the named fields; None removes one. Concurrent updates of other fields do not conflict. With `before`, raise
    Conflict if anything was changed since."""
    item = ProviderItem(keys.provider(workspace), name)
    if changes.get("prices") is not None:
        changes = {**changes, "prices": [_price_list(price) for price in changes["prices"]]}
    if not item.change(changes, None if before is None else before.revision):
        raise Conflict("the provider was changed at the same time; read it and try again")


def _price_list(price: ModelPrice) -> list[str | float | None]:
    return list(astuple(price))


def _stored(item: ProviderItem) -> StoredProvider:
    def to_int(value: float | None) -> int | None:
        return None if value is None else int(value)

    return StoredProvider(
        base_url=item.base_url,
        enabled=item.enabled,
        key_version=item.key_version,
        max_parallel_requests=to_int(item.max_parallel_requests),
        requests_per_minute=to_int(item.requests_per_minute),
        tokens_per_minute=to_int(item.tokens_per_minute),
        prices=tuple(ModelPrice(*price) for price in item.prices or ()),
        revision=to_int(item.revision) or 0,
    )
