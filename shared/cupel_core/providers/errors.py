"""Why a model call failed, and the one place that decides it."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import orjson
from pydantic import ValidationError

from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.errors import AppError, RetryableError
from cupel_core.providers.retry_after import duration_seconds, retry_after_seconds

_MAX_TEXT = 4000


class ProviderError(AppError):
    """A model call has failed for good after `attempts`; `final` says that trying again cannot help."""

    status = 502
    title = "The model provider failed"

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        retry_after: float | None = None,
        attempts: int = 1,
        *,
        final: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after
        self.attempts = attempts
        self.final = final

    @property
    def message(self) -> str:
        return self.detail

    @property
    def retryable(self) -> bool:
        return self.code.retryable and not self.final


class PleaseWait(RetryableError):
    """The next attempt is due later than the caller is patient: hand the probe on with a delay."""

    title = "The model provider asks to wait"

    def __init__(self, retry_after_seconds: float, code: ErrorCode, attempts: int = 1) -> None:
        super().__init__(f"{code}: try again in {retry_after_seconds:.0f} s", retry_after_seconds)
        self.retry_after_seconds = retry_after_seconds
        self.code = code
        self.attempts = attempts


class Complaint(NamedTuple):
    """What a provider's error body says, whatever its format."""

    codes: frozenset[str]
    message: str
    retry_after: float | None = None


# Refused by the API itself, before or instead of a model: OpenAI and Azure, xAI (a 403), Anthropic, DeepSeek.
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
_FILTER_MESSAGE = re.compile(r"content filtering policy|Content violates usage guidelines|Content Exists Risk", re.I)
# OpenAI answers 429 to an account without credit, Google 400 to a bad key: no waiting helps, the owner must act.
_ACCOUNT_CODES = frozenset({"insufficient_quota", "billing_error", "API_KEY_INVALID"})


def code_of_status(status: int, complaint: Complaint) -> ErrorCode:
    """The code of an answer that is not 2xx."""
    if complaint.codes & _FILTER_CODES or (status in (400, 403) and _FILTER_MESSAGE.search(complaint.message)):
        return ErrorCode.CONTENT_FILTERED
    if status in (401, 402, 403) or complaint.codes & _ACCOUNT_CODES:
        return ErrorCode.AUTH
    if status == 429:
        return ErrorCode.RATE_LIMITED
    if status in (408, 504):
        return ErrorCode.TIMEOUT
    return ErrorCode.PROVIDER_ERROR if status >= 500 else ErrorCode.INVALID_REQUEST


def error_of_response(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> ProviderError:
    complaint = read_complaint(body)
    retry_after = retry_after_seconds(headers, now)
    return ProviderError(
        code_of_status(status, complaint),
        f"HTTP {status}: {complaint.message}" if complaint.message else f"HTTP {status}",
        complaint.retry_after if retry_after is None else retry_after,
    )


def not_understood(error: ValueError) -> ProviderError:
    """The code of a 2xx without a usable body. Names the fields, not what was in them."""
    gist = str(error)
    if isinstance(error, ValidationError):
        gist = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return ProviderError(ErrorCode.PROVIDER_ERROR, f"the answer is not understood: {gist}")


def read_complaint(body: bytes) -> Complaint:
    """`{error: {message, type, code}}` of OpenAI and Anthropic, `{error: {message, status, details}}` of Google."""
    text = body[:_MAX_TEXT].decode(errors="replace").strip()
    try:
        parsed = orjson.loads(body)
    except ValueError:
        return Complaint(frozenset(), text)
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else {}
    if not isinstance(error, dict):
        return Complaint(frozenset(), str(error))
    details = [detail for detail in _list(error.get("details")) if isinstance(detail, dict)]
    said = [error, *details, *(inner for inner in [error.get("innererror")] if isinstance(inner, dict))]
    codes = {str(each[key]) for each in said for key in ("code", "type", "status", "reason") if each.get(key)}
    delays = [duration_seconds(str(detail["retryDelay"])) for detail in details if "retryDelay" in detail]
    message = error.get("message") or error.get("detail") or text
    return Complaint(frozenset(codes), str(message), delays[0] if delays else None)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
