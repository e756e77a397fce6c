"""The configuration of a workspace's webhook. Its secret is stored before the webhook that names the secret's
version."""

import secrets as random
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.resources.addresses import is_same_address
from cupel_core.domain.resources.webhooks import Webhook, write_secret
from cupel_core.store import secrets, webhooks

SECRET_OWNER = "webhook"  # noqa: S105 - the name of a secret
_KEY_BYTES = 32


class WebhookSpec(NamedTuple):
    url: str
    enabled: bool
    probes: bool
    secret: str | None
    reuses_secret: bool
    """True if the stored secret, if any, does not change."""


class WebhookSet(NamedTuple):
    webhook: Webhook
    new_secret: str | None
    """The secret if Cupel made it, which is shown only once; None otherwise."""


def get(workspace: str) -> Webhook:
    """Return the workspace's webhook. Raise NotFound if it has none."""
    webhook = webhooks.find(workspace)
    if webhook is None:
        raise NotFound("the workspace has no webhook: PUT /v1/webhook sets it")
    return webhook


def put(workspace: str, spec: WebhookSpec, now: datetime, precondition: Precondition = UNCONDITIONAL) -> WebhookSet:
    """Create or replace the webhook. Raise Invalid for another address without a secret, because the stored one
    authenticates calls to one receiver."""
    before = webhooks.find(workspace)
    precondition.check(etag(before.revision if before else 0))
    if spec.reuses_secret and before is not None and not is_same_address(before.url, spec.url):
        raise Invalid.field(
            "secret", "must be sent again, or null for a new one: the stored one is for another address"
        )
    version, new_secret = _secret_version(workspace, spec, before)
    webhook = Webhook(
        url=spec.url,
        enabled=spec.enabled,
        probes=spec.probes,
        secret_version=version,
        revision=before.revision + 1 if before else 1,
        created_at=before.created_at if before else now,
        updated_at=now,
    )
    with precondition.guard_write():
        webhooks.save(workspace, webhook, before)
    return WebhookSet(webhook, new_secret)


def delete(workspace: str, precondition: Precondition = UNCONDITIONAL) -> None:
    """Delete the webhook and its secret. Runs that have started no longer call it."""
    webhook = get(workspace)
    precondition.check(etag(webhook.revision))
    with precondition.guard_write():
        webhooks.delete(workspace, webhook)
    secrets.delete(workspace, SECRET_OWNER)
    set_meanwhile = webhooks.find(workspace)
    if set_meanwhile is not None and secrets.is_lost(workspace, SECRET_OWNER, set_meanwhile.secret_version):
        with suppress(Conflict):  # The webhook was set once more, with another secret.
            webhooks.delete(workspace, set_meanwhile)


@lru_cache(maxsize=256)
def load_secret(workspace: str, version: str) -> str:
    """Return a version of the secret. Versions never change, so each is read once per process. Raise NotFound."""
    secret = secrets.get(workspace, SECRET_OWNER, version)
    if secret is None:
        raise NotFound("the webhook's secret was deleted: set it again")
    return secret


def _secret_version(workspace: str, spec: WebhookSpec, before: Webhook | None) -> tuple[str, str | None]:
    if spec.reuses_secret and before is not None:
        return before.secret_version, None
    new_secret = write_secret(random.token_bytes(_KEY_BYTES)) if spec.secret is None else None
    return secrets.put(workspace, SECRET_OWNER, spec.secret or new_secret or ""), new_secret
