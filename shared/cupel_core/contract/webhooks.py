"""The workspace's webhook, and the log of its calls."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import CompleteUrl, Flag
from cupel_core.domain.resources.webhooks import CallbackStatus, read_secret


def _signing_secret(secret: SecretStr) -> SecretStr:
    read_secret(secret.get_secret_value())
    return secret


SigningSecret = Annotated[
    SecretStr,
    AfterValidator(_signing_secret),
    Field(description="`whsec_` and the Base64 of 24 to 64 random bytes; stored as a secret"),
]


class SetWebhook(RequestModel):
    """An omitted `secret` keeps the stored one if `url` is the same; null makes a new one, which the response shows."""

    model_config = example({"url": "https://ci.example.com/cupel", "probes": False})

    url: CompleteUrl
    secret: SigningSecret | None = None
    """`whsec_` and the Base64 of 24 to 64 random bytes, stored as a secret; omitted keeps the stored one, or makes a
    new one.

    Example: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3
    """
    enabled: Flag = True
    probes: Flag = False
    """Whether to report each finished probe, besides status changes."""

    @property
    def reuses_secret(self) -> bool:
        return "secret" not in self.model_fields_set

    @property
    def secret_value(self) -> str | None:
        return None if self.secret is None else self.secret.get_secret_value()


class WebhookResponse(ResponseModel):
    url: str
    """Address that is called."""
    enabled: bool
    probes: bool
    """Whether finished probes are reported too, for runs started from now on. Example: false"""
    disabled_reason: str | None
    """Reason why Cupel disabled it; null if it did not. Example: the receiver answered 410 Gone"""
    failures: int
    """Failed calls in a row. Example: 0"""
    suspended_until: Time | None
    """Time at which calls resume after five failures in a row. Example: 2026-11-20T10:00:00Z"""
    created_at: Time
    updated_at: Time


class WebhookSetResponse(WebhookResponse):
    secret: str | None
    """The signing secret if Cupel made it; shown only once. Example: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"""


class WebhookTestResponse(ResponseModel):
    delivered: bool
    """True if the receiver answered with a status from 200 to 299. Example: true"""
    http_status: int | None
    """null if there was no answer. Example: 200"""
    error: str | None
    duration_ms: int
    """Duration in milliseconds."""


class WebhookDeliveryResponse(ResponseModel):
    """A call of the webhook, with its newest attempt."""

    id: str
    """The header `webhook-id`, the same in every attempt."""
    type: str
    """Type of the message; see docs/webhooks.md. Example: run.finished"""
    run_id: str
    status: CallbackStatus
    attempts: int
    """Number of attempts."""
    created_at: Time
    """Time of the reported event."""
    attempted_at: Time
    """Time of the newest attempt. Example: 2026-11-20T09:34:10Z"""
    http_status: int | None
    """null if there was no answer. Example: 200"""
    error: str | None
    next_attempt_at: Time | None
    """Time of the next attempt; null for never. Example: 2026-11-20T10:00:00Z"""


class WebhookDeliveryPage(ResponseModel):
    items: list[WebhookDeliveryResponse]
    next_cursor: str | None
