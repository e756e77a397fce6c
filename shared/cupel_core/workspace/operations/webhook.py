from cupel_core.base import event_loop
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.operation import (
    ADMIN,
    Call,
    Listed,
    Tagged,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.contract.webhooks import (
    SetWebhook,
    WebhookDeliveryPage,
    WebhookDeliveryResponse,
    WebhookResponse,
    WebhookSetResponse,
    WebhookTestResponse,
)
from cupel_core.store import callback_log
from cupel_core.workspace.webhooks import calls, configuration
from cupel_core.workspace.webhooks.configuration import WebhookSpec


@operation("GET /v1/webhook", "Get the workspace's webhook", role=ADMIN, returns="The webhook, without its secret")
def get_webhook(call: Call) -> Tagged[WebhookResponse]:
    webhook = configuration.get(call.workspace)
    return Tagged(WebhookResponse.from_value(webhook), etag(webhook.revision))


@operation(
    "PUT /v1/webhook",
    "Set the workspace's webhook",
    role=ADMIN,
    returns="The webhook, with its secret if that is new and was not sent",
    if_match=True,
)
def set_webhook(call: Call, body: SetWebhook) -> Tagged[WebhookSetResponse]:
    """It is called for the runs that start while it is enabled."""
    spec = WebhookSpec(body.url, body.enabled, body.probes, body.secret_value, body.reuses_secret)
    webhook, secret = configuration.put(call.workspace, spec, call.now, call.precondition)
    return Tagged(WebhookSetResponse.from_value(webhook, secret=secret), etag(webhook.revision))


@operation("DELETE /v1/webhook", "Delete the webhook", role=ADMIN, returns="Deleted", if_match=True)
def delete_webhook(call: Call) -> None:
    configuration.delete(call.workspace, call.precondition)


@operation(
    "POST /v1/webhook/test",
    "Call the webhook once with a test message",
    role=ADMIN,
    returns="What the receiver answered",
    calls_others=True,
)
def test_webhook(call: Call) -> WebhookTestResponse:
    return WebhookTestResponse.from_value(event_loop.run(calls.send_test(call.workspace, call.now)))


@operation(
    "GET /v1/webhook/deliveries",
    "List the calls of the webhook in the last 14 days, newest first",
    role=ADMIN,
    returns="A page of calls, each with its newest attempt",
)
def list_webhook_deliveries(
    call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[WebhookDeliveryPage]:
    page = callback_log.list_records(call.workspace, limit, cursor, call.now)
    return Listed(page, WebhookDeliveryResponse.from_value)
