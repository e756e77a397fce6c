"""A workspace's webhook. Its signing secret is in shared/cupel_core/store/secrets.py."""

from datetime import datetime

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import DeleteError, PutError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import Conflict
from cupel_core.domain.resources.webhooks import CallbackScope, Webhook
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code, updated

_SORT_KEY = "webhook"


class WebhookItem(Item):
    url = UnicodeAttribute()
    enabled = BooleanAttribute()
    probes = BooleanAttribute()
    secret_version = UnicodeAttribute(attr_name="secretVersion")
    revision = NumberAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")
    updated_at = UnicodeAttribute(attr_name="updatedAt")
    disabled_reason = UnicodeAttribute(attr_name="disabledReason", null=True)
    failures = NumberAttribute(default=0)
    suspended_until = UnicodeAttribute(attr_name="suspendedUntil", null=True)


def find(workspace: str) -> Webhook | None:
    try:
        item = WebhookItem.get(keys.workspace_settings(workspace), _SORT_KEY, consistent_read=True)
    except WebhookItem.DoesNotExist:
        return None
    return Webhook(
        url=item.url,
        enabled=item.enabled,
        probes=item.probes,
        secret_version=item.secret_version,
        revision=int(item.revision),
        created_at=from_iso(item.created_at),
        updated_at=from_iso(item.updated_at),
        disabled_reason=item.disabled_reason,
        failures=int(item.failures),
        suspended_until=from_iso(item.suspended_until) if item.suspended_until else None,
    )


def callback_scope(workspace: str) -> CallbackScope | None:
    """Return which events of a run that starts now are sent to the workspace's webhook."""
    webhook = find(workspace)
    return webhook.scope if webhook else None


def save(workspace: str, webhook: Webhook, before: Webhook | None) -> None:
    """Create or replace the webhook. Raise Conflict if it is no longer as it was `before`."""
    item = WebhookItem(
        keys.workspace_settings(workspace),
        _SORT_KEY,
        url=webhook.url,
        enabled=webhook.enabled,
        probes=webhook.probes,
        secret_version=webhook.secret_version,
        revision=webhook.revision,
        created_at=to_iso(webhook.created_at),
        updated_at=to_iso(webhook.updated_at),
        failures=0,
    )
    unchanged: Condition = _is_revision(before.revision) if before else WebhookItem.pk.does_not_exist()
    try:
        item.save(condition=unchanged)
    except PutError as error:
        raise _conflict_or(error) from None


def delete(workspace: str, before: Webhook) -> None:
    """Delete the webhook. Raise Conflict if it is no longer as it was `before`."""
    try:
        _item(workspace).delete(condition=_is_revision(before.revision))
    except DeleteError as error:
        raise _conflict_or(error) from None


def disable(workspace: str, webhook: Webhook, reason: str, now: datetime) -> None:
    """Disable the webhook, unless a user has changed it since."""
    actions: list[Action] = [
        WebhookItem.enabled.set(False),
        WebhookItem.disabled_reason.set(reason),
        WebhookItem.revision.set(webhook.revision + 1),
        WebhookItem.updated_at.set(to_iso(now)),
    ]
    updated(_item(workspace), actions, _is_revision(webhook.revision))


def set_failures(workspace: str, webhook: Webhook, failures: int, suspended_until: datetime | None) -> None:
    """Store the number of consecutive failures. Of two concurrent failures, one may count. A user's change resets
    them."""
    suspended = WebhookItem.suspended_until
    actions: list[Action] = [
        WebhookItem.failures.set(failures),
        suspended.set(to_iso(suspended_until)) if suspended_until else suspended.remove(),
    ]
    updated(_item(workspace), actions, _is_revision(webhook.revision))


def _item(workspace: str) -> WebhookItem:
    return WebhookItem(keys.workspace_settings(workspace), _SORT_KEY)


def _is_revision(revision: int) -> Condition:
    condition: Condition = WebhookItem.revision == revision
    return condition


def _conflict_or(error: PutError | DeleteError) -> Exception:
    if error_code(error) != "ConditionalCheckFailedException":
        return error
    return Conflict("the webhook was changed at the same time; read it and try again")
