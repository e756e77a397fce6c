"""A workspace's settings of a provider. The API key itself is in shared/cupel_core/store/secrets.py."""

from dataclasses import dataclass
from typing import Any

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.errors import Conflict
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code


@dataclass(frozen=True)
class StoredProvider:
    """A provider's settings as stored; None means the provider's default."""

    base_url: str | None = None
    enabled: bool | None = None
    key_version: str | None = None
    """The version of the API key in Secrets Manager, which changes with every new key. None if there is no key."""
    max_parallel_requests: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class ProviderItem(Item):
    base_url = UnicodeAttribute(attr_name="baseUrl", null=True)
    enabled = BooleanAttribute(null=True)
    key_version = UnicodeAttribute(attr_name="keyVersion", null=True)
    max_parallel_requests = NumberAttribute(attr_name="maxParallelRequests", null=True)
    requests_per_minute = NumberAttribute(attr_name="requestsPerMinute", null=True)
    tokens_per_minute = NumberAttribute(attr_name="tokensPerMinute", null=True)


def get(workspace: str, name: str) -> StoredProvider:
    try:
        return _stored(ProviderItem.get(keys.provider(workspace), name, consistent_read=True))
    except ProviderItem.DoesNotExist:
        return StoredProvider()


def list_providers(workspace: str) -> dict[str, StoredProvider]:
    return {item.sk: _stored(item) for item in ProviderItem.query(keys.provider(workspace), consistent_read=True)}


def update(workspace: str, name: str, changes: dict[str, Any], before: StoredProvider | None = None) -> None:
    """Set the named fields; None removes one. Concurrent updates of other fields do not conflict.

    With `before`, raises Conflict if the key was changed since.
    """
    actions: list[Action] = []
    for field, value in changes.items():
        attribute = getattr(ProviderItem, field)
        actions.append(attribute.remove() if value is None else attribute.set(value))
    if not actions:
        return
    try:
        ProviderItem(keys.provider(workspace), name).update(actions, condition=_same_key(before) if before else None)
    except UpdateError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        raise Conflict("the API key was changed at the same time; read the provider and try again") from None


def _same_key(before: StoredProvider) -> Condition:
    attribute = ProviderItem.key_version
    return attribute.does_not_exist() if before.key_version is None else attribute == before.key_version


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
    )
