"""What a workspace has set for a provider. The key itself lies in shared/cupel_core/store/secrets.py."""

from dataclasses import dataclass
from typing import Any

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action

from cupel_core.store import keys
from cupel_core.store.table import Item


@dataclass(frozen=True)
class Stored:
    """None stands for the provider's default."""

    base_url: str | None = None
    enabled: bool | None = None
    key_version: str | None = None
    """Which key lies in Secrets Manager: changes with every new one. None when there is none."""
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


def get(workspace: str, name: str) -> Stored:
    try:
        return _stored(ProviderItem.get(keys.provider(workspace), name, consistent_read=True))
    except ProviderItem.DoesNotExist:
        return Stored()


def every(workspace: str) -> dict[str, Stored]:
    return {item.sk: _stored(item) for item in ProviderItem.query(keys.provider(workspace), consistent_read=True)}


def change(workspace: str, name: str, changes: dict[str, Any]) -> None:
    """Sets the named fields of `Stored`, and removes those that are None; two changes of other fields do not meet."""
    actions: list[Action] = []
    for field, value in changes.items():
        attribute = getattr(ProviderItem, field)
        actions.append(attribute.remove() if value is None else attribute.set(value))
    if actions:
        ProviderItem(keys.provider(workspace), name).update(actions)


def _stored(item: ProviderItem) -> Stored:
    def whole(value: float | None) -> int | None:
        return None if value is None else int(value)

    return Stored(
        base_url=item.base_url,
        enabled=item.enabled,
        key_version=item.key_version,
        max_parallel_requests=whole(item.max_parallel_requests),
        requests_per_minute=whole(item.requests_per_minute),
        tokens_per_minute=whole(item.tokens_per_minute),
    )
