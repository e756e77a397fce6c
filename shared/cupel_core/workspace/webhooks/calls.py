"""One call of a webhook: a signed POST whose answer counts by its status alone."""

import time
from datetime import datetime

import orjson

from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.ids import new_id
from cupel_core.domain.resources.webhooks import CallbackResult, Webhook, sign
from cupel_core.providers import safe_http
from cupel_core.providers.errors import ProviderError
from cupel_core.store.settings import settings
from cupel_core.workspace.webhooks import configuration
from cupel_core.workspace.webhooks.payloads import Payload

TIMEOUT_SECONDS = 10.0
_MAX_ERROR_LENGTH = 300


async def send(workspace: str, webhook: Webhook, payload: Payload) -> CallbackResult:
    """Call the webhook once. A failure is a result, not an error."""
    content = orjson.dumps(payload.body)
    secret = configuration.load_secret(workspace, webhook.secret_version)
    headers = sign(secret, payload.id, utc_now(), content)
    started = time.monotonic()
    try:
        status = await safe_http.post_for_status(
            webhook.url,
            content,
            headers,
            timeout_seconds=TIMEOUT_SECONDS,
            allow_private=settings().allow_private_endpoints,
        )
    except ProviderError as failure:
        return CallbackResult(None, failure.detail[:_MAX_ERROR_LENGTH], _milliseconds_since(started))
    error = None if 200 <= status < 300 else f"the receiver answered {status}"
    return CallbackResult(status, error, _milliseconds_since(started))


async def send_test(workspace: str, now: datetime) -> CallbackResult:
    """Call the webhook with a test message, even if it is disabled or suspended. It is neither repeated nor logged."""
    webhook = configuration.get(workspace)
    body = {"type": "webhook.test", "timestamp": to_iso(now), "data": {"workspace": workspace}}
    return await send(workspace, webhook, Payload(new_id("msg"), "webhook.test", now, body))


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1_000)
