"""Describes a workspace's webhook: when it is called, how a call is signed, and when a failed one is repeated.

Signatures follow Standard Webhooks (https://www.standardwebhooks.com), so receivers can use its libraries.
"""

import hmac
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from cupel_core.base.deferred import dataclass

SECRET_PREFIX = "whsec_"  # noqa: S105 - no secret
MIN_SECRET_BYTES, MAX_SECRET_BYTES = 24, 64
GIVE_UP_AFTER = timedelta(hours=24)
"""A failed call is repeated until the event that it reports is this old."""
_FIRST_DELAY_SECONDS, _MAX_DELAY_SECONDS = 5.0, 900.0
_MAX_FAILURES_IN_A_ROW = 5
_FIRST_SUSPENSION_SECONDS = 30.0


class CallbackScope(StrEnum):
    """The values state what a run calls the webhook for, which is recorded when the run starts."""

    RUNS = "runs"
    PROBES = "probes"
    """The webhook is called for status changes of the run and for each probe's outcome."""


@dataclass(frozen=True)
class Webhook:
    url: str
    enabled: bool
    probes: bool
    secret_version: str
    revision: int
    created_at: datetime
    updated_at: datetime
    disabled_reason: str | None = None
    """None if a user disabled the webhook, or if it is enabled."""
    failures: int = 0
    """Counts consecutive failures."""
    suspended_until: datetime | None = None

    @property
    def scope(self) -> CallbackScope | None:
        if not self.enabled:
            return None
        return CallbackScope.PROBES if self.probes else CallbackScope.RUNS

    def is_suspended(self, now: datetime) -> bool:
        return self.suspended_until is not None and now < self.suspended_until


def read_secret(secret: str) -> bytes:
    """Return the key of a secret `whsec_<base64>`. Raises ValueError for any other text."""
    try:
        key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except Base64Error:
        key = b""
    if not secret.startswith(SECRET_PREFIX) or not MIN_SECRET_BYTES <= len(key) <= MAX_SECRET_BYTES:
        raise ValueError(f"must be whsec_ and the Base64 of {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} random bytes")
    return key


def write_secret(key: bytes) -> str:
    return SECRET_PREFIX + b64encode(key).decode()


def sign(secret: str, message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the three headers by which a receiver verifies the message, its age and its sender."""
    timestamp = str(int(now.timestamp()))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    signature = b64encode(hmac.digest(read_secret(secret), signed, sha256)).decode()
    return {"webhook-id": message_id, "webhook-timestamp": timestamp, "webhook-signature": f"v1,{signature}"}


def retry_delay(attempts: int) -> timedelta:
    """Return the wait after this many failed attempts of one call: 5 s, 10 s, 20 s, … 15 min."""
    return timedelta(seconds=min(_FIRST_DELAY_SECONDS * 2 ** min(attempts - 1, 20), _MAX_DELAY_SECONDS))


def suspension(failures: int) -> timedelta | None:
    """Return how long all calls wait after this many consecutive failures: from the fifth, 30 s, 60 s, … 15 min."""
    excess = failures - _MAX_FAILURES_IN_A_ROW
    if excess < 0:
        return None
    return timedelta(seconds=min(_FIRST_SUSPENSION_SECONDS * 2 ** min(excess, 20), _MAX_DELAY_SECONDS))


class CallbackStatus(StrEnum):
    """The status of a webhook call, as the log shows it."""

    RETRYING = "RETRYING"
    DELIVERED = "DELIVERED"
    GIVEN_UP = "GIVEN_UP"


@dataclass(frozen=True)
class CallbackResult:
    """Describes one attempt. `http_status` is None if there was no answer; `error` then says why."""

    http_status: int | None
    error: str | None
    duration_ms: int

    @property
    def delivered(self) -> bool:
        return self.http_status is not None and 200 <= self.http_status < 300

    @property
    def is_gone(self) -> bool:
        """Return whether the response is 410, by which the receiver refuses further calls."""
        return self.http_status == 410


@dataclass(frozen=True)
class CallbackRecord:
    """Contains a call as the log has it: the newest attempt, and when the next follows."""

    id: str
    type: str
    run_id: str
    status: CallbackStatus
    attempts: int
    created_at: datetime
    attempted_at: datetime
    http_status: int | None
    error: str | None
    next_attempt_at: datetime | None
