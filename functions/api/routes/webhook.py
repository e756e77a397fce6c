"""The workspace's webhook."""

from aws_lambda_powertools.event_handler import Response

from api.parameters import Cursor, IfMatch, Limit
from api.routing import OperationRouter
from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
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

router = OperationRouter()


@router.operation("getWebhook")
def get_webhook() -> WebhookResponse:
    webhook = configuration.get(router.workspace)
    return router.tagged(WebhookResponse.of(webhook), etag(webhook.revision))


@router.operation("setWebhook")
def set_webhook(body: SetWebhook, if_match: IfMatch = None) -> WebhookSetResponse:
    spec = WebhookSpec(body.url, body.enabled, body.probes, body.secret_value, body.reuses_secret)
    webhook, secret = configuration.put(router.workspace, spec, utc_now(), Precondition.parse(if_match))
    return router.tagged(WebhookSetResponse.with_secret(webhook, secret), etag(webhook.revision))


@router.operation("deleteWebhook", status=204)
def delete_webhook(if_match: IfMatch = None) -> Response[None]:
    configuration.delete(router.workspace, Precondition.parse(if_match))
    return Response(204)


@router.operation("testWebhook")
def test_webhook() -> WebhookTestResponse:
    return WebhookTestResponse.of(event_loop.run(calls.send_test(router.workspace, utc_now())))


@router.operation("listWebhookDeliveries")
def list_webhook_deliveries(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> WebhookDeliveryPage:
    page = callback_log.list_records(router.workspace, limit, cursor, utc_now())
    return WebhookDeliveryPage(
        items=[WebhookDeliveryResponse.of(record) for record in page.items], next_cursor=page.next_cursor
    )
