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
    """Without `secret`, the stored one stays if `url` is the same; null makes a new one, which the response shows."""

    model_config = example({"url": "https://ci.example.com/cupel", "probes": False})

    url: CompleteUrl
    secret: SigningSecret | None = None
    enabled: Flag = True
    probes: Annotated[Flag, Field(description="Whether to report each finished probe, besides status changes")] = False

    @property
    def reuses_secret(self) -> bool:
        return "secret" not in self.model_fields_set

    @property
    def secret_value(self) -> str | None:
        return None if self.secret is None else self.secret.get_secret_value()


class WebhookResponse(ResponseModel):
    url: str
    enabled: bool
    probes: Annotated[bool, Field(description="Whether finished probes are reported too, for runs started from now on")]
    disabled_reason: Annotated[str | None, Field(description="Why Cupel disabled it; null if it did not")]
    failures: Annotated[int, Field(description="Failed calls in a row")]
    suspended_until: Annotated[Time | None, Field(description="After five failures in a row, calls wait until then")]
    created_at: Time
    updated_at: Time


class WebhookSetResponse(WebhookResponse):
    secret: Annotated[str | None, Field(description="The signing secret if Cupel made it; shown only once")]


class WebhookTestResponse(ResponseModel):
    delivered: Annotated[bool, Field(description="Whether the receiver answered with a status from 200 to 299")]
    http_status: Annotated[int | None, Field(description="null if there was no answer")]
    error: str | None
    duration_ms: int


class WebhookDeliveryResponse(ResponseModel):
    """A call of the webhook, with its newest attempt."""

    id: Annotated[str, Field(description="The header `webhook-id`, the same in every attempt")]
    type: str
    run_id: str
    status: CallbackStatus
    attempts: int
    created_at: Annotated[Time, Field(description="When that happened what it reports")]
    attempted_at: Time
    http_status: Annotated[int | None, Field(description="null if there was no answer")]
    error: str | None
    next_attempt_at: Time | None


class WebhookDeliveryPage(ResponseModel):
    items: list[WebhookDeliveryResponse]
    next_cursor: str | None
