"""Errors of model calls, and how they are read from responses. Their meaning is in
`domain/limits/provider_errors.py`."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import AppError, RetryableError
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.limits.provider_errors import RefusedCall, Remedy, meaning_of, named_status, usual_repair
from cupel_core.domain.scoring.unscored import UnscoredCause
from cupel_core.domain.text.html_pages import describe_page, page_title
from cupel_core.domain.text.validation_messages import field_message
from cupel_core.providers.retry_after import MAX_SECONDS, duration_seconds, retry_after_seconds, seconds_until_reset

_MAX_BODY_BYTES = 4000


class ProviderError(AppError):
    """A model call failed after `attempts` attempts. `final` means that a retry cannot succeed."""

    status = 502
    title = "The model provider failed"

    def __init__(
        self,
        code: ProbeErrorCode,
        message: str,
        retry_after_seconds: float | None = None,
        attempts: int = 1,
        *,
        final: bool = False,
        refused: bool = False,
        is_quoting: bool = False,
        is_malformed: bool = False,
        usage: Usage | None = None,
        cost_usd: float | None = None,
        repair: Remedy | None = None,
    ) -> None:
        """Create an error.

        `refused` means that the provider certainly generated nothing: it answered with an error, or not at all.
        `is_quoting` means that the message repeats the conversation, and `is_malformed` that a reply could not be read,
        which another attempt seldom changes. `usage` and `cost_usd` are what a reply without a usable answer reports.
        `repair` says who can repair it, if the code alone does not tell.
        """
        super().__init__(message)
        self.spend: Spend | None = None
        """The (possible) cost of the attempts that ended this way."""
        self.charged_usd: float | None = None
        """A budget counts the call as this much, because its cost is unknown."""
        self.is_malformed = is_malformed
        self.usage = usage
        self.cost_usd = cost_usd
        self.repair = usual_repair(code) if repair is None else repair
        self.is_handed_back = False
        """True if the call should be made again once the owner has repaired it. Then the model has answered
        before or certainly will, and a run is paused meanwhile."""
        self.is_quoting = is_quoting
        self.code = code
        self.cause: UnscoredCause | None = None
        """The reason why a check stays unscored, if the call was one of a judge or an embedding model."""
        self.refused = refused
        self.retry_after_seconds = retry_after_seconds
        self.attempts = attempts
        self.final = final

    @property
    def message(self) -> str:
        return self.detail

    @property
    def retryable(self) -> bool:
        return self.repair in (Remedy.WAIT, Remedy.REPEAT) and not self.final

    @property
    def asks_to_wait(self) -> bool:
        """Return whether the account or the model asks to wait, which does not count as an attempt."""
        return self.repair is Remedy.WAIT and not self.final

    @property
    def may_be_billed(self) -> bool:
        """Return whether the call may cost something although its answer is missing."""
        return not self.refused and self.code not in _NEVER_BILLED


_NEVER_BILLED = frozenset(
    {
        ProbeErrorCode.RATE_LIMITED,
        ProbeErrorCode.AUTH,
        ProbeErrorCode.INVALID_REQUEST,
        ProbeErrorCode.FILE_NOT_FOUND,
    }
)


class ParameterRejected(ProviderError):
    """The model rejects a parameter, which the next attempt leaves out. This says nothing about the model or its
    limits."""

    def __init__(self, refusal: ProviderError) -> None:
        super().__init__(
            refusal.code,
            refusal.message,
            refusal.retry_after_seconds,
            refusal.attempts,
            refused=True,
            is_quoting=refusal.is_quoting,
            repair=refusal.repair,
        )


class RetryLater(RetryableError):
    """The next attempt is due later than the caller may wait, so the work must be redelivered with a delay."""

    title = "The model provider asks to wait"

    def __init__(
        self,
        retry_after_seconds: float,
        code: ProbeErrorCode,
        attempts: int = 1,
        model: str | None = None,
        words: str = "",
    ) -> None:
        """Create an error. The provider of `model` asks to wait, if it is known, with these `words`."""
        super().__init__(f"{words or code}; try again in {retry_after_seconds:.0f} s", retry_after_seconds)
        self.retry_after_seconds = retry_after_seconds
        self.code = code
        self.attempts = attempts
        self.model = model
        self.words = words

    def by(self, code: ProbeErrorCode, model: str | None) -> "RetryLater":
        """Return the error for a call that is not the target's, because its final error must not name the target."""
        return RetryLater(self.retry_after_seconds, code, self.attempts, model, self.words)


class CallPrevented(Exception):
    """A guard prevents the call before it is made, for good. It does not count as an attempt."""


class CallPostponed(RetryableError):
    """The limits of the workspace's account allow no call for a while: it is paused, suspended or fully used. No call
    was made, so this is never a failure of a model or a judge."""

    title = "The provider account is not available now"
    ends_by_itself = True
    """True if calls may start again without a person's help."""

    def __init__(self, provider: str, retry_after_seconds: float) -> None:
        super().__init__(
            f"no call to {provider} may start now: try again in {retry_after_seconds:.0f} s", retry_after_seconds
        )
        self.provider = provider
        self.retry_after_seconds = retry_after_seconds


class ModelRefused(CallPostponed):
    """No call was made, because the model refuses every call. Only a person can repair that."""

    title = "The model refuses every call"
    ends_by_itself = False

    def __init__(self, model: str, reason: str, retry_after_seconds: float) -> None:
        super().__init__(model.partition("/")[0], retry_after_seconds)
        self.model = model
        self.reason = reason
        self.detail = f"{model} is not called: {reason}"


NO_REPLY = (ProviderError, RetryLater, CallPrevented, CallPostponed)
"""The exceptions of a call without a reply, after which the work that it is part of continues."""


class ErrorDetail(NamedTuple):
    codes: frozenset[str]
    message: str
    retry_after_seconds: float | None = None


def refusal_error(
    status: int,
    detail: ErrorDetail,
    message: str | None = None,
    now: datetime | None = None,
    *,
    refused: bool = True,
) -> ProviderError:
    """Return the error of a response without an answer. `message` replaces the one of `detail`."""
    seconds = detail.retry_after_seconds
    meaning = meaning_of(RefusedCall(status, detail.codes, detail.message, seconds))
    shown = detail.message if message is None else message
    is_limit = meaning.code is ProbeErrorCode.RATE_LIMITED and meaning.repair is Remedy.OWNER
    if is_limit and seconds is not None:
        resets_at = (now or utc_now()) + timedelta(seconds=seconds)
        shown = f"{shown} (until {resets_at:%Y-%m-%d %H:%M} UTC)"
    return ProviderError(meaning.code, shown, seconds, refused=refused, repair=meaning.repair)


def error_from_response(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> ProviderError:
    detail = parse_error_detail(body, now)
    if (retry_after := retry_after_seconds(headers, now)) is not None:
        detail = detail._replace(retry_after_seconds=retry_after)
    message = f"HTTP {status}: {detail.message}" if detail.message else f"HTTP {status}"
    return refusal_error(status, detail, message, now)


def error_in_reply(error: object, *, unknown_status: int = 500) -> ProviderError:
    """Return the error that a response of status 200 contains instead of an answer. Its code is an HTTP status, as a
    number or as text, or a name that stands for one. For any other name, it is `unknown_status`."""
    return refusal_error(_status_of(error, unknown_status), _detail_of(error, str(error), utc_now()))


def reply_error(body: object, *, unknown_status: int = 500) -> ProviderError | None:
    """Return the error in a response of status 200, in whatever shape, or None. It is read before anything else,
    because a failed response need not have the other fields of an answer."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return None
    for error in (body.get("error"), *_errors_of_choices(body.get("choices"))):
        if _is_error(error):
            return error_in_reply(_of_response(error, body), unknown_status=unknown_status)
    is_error = "error" in (body.get("object"), body.get("type")) or not body.keys() & _ANSWER_FIELDS
    if is_error and any(_is_message(name, body.get(name)) for name in _MESSAGES):
        return error_in_reply(body, unknown_status=unknown_status)
    return None


_ANSWER_FIELDS = frozenset({
    "choices", "output", "content", "candidates", "promptFeedback", "usageMetadata", "data", "embeddings",
    "predictions", "embedding", "done",
})  # fmt: skip
"""A response with one of these fields is an answer, even if it has a message as well."""


def _is_message(name: str, value: object) -> bool:
    """Return whether a value is a message. FastAPI's details are lists. An object named `message` is one of a
    conversation."""
    return bool(value) and (isinstance(value, str) or (name in ("detail", "errors") and isinstance(value, list | dict)))


def _errors_of_choices(choices: object) -> list[object]:
    return [choice.get("error") for choice in _list(choices) if isinstance(choice, dict)]


def _is_error(error: object) -> bool:
    """Return whether a value is an error. Some servers send an empty one beside an answer."""
    return any(error.values()) if isinstance(error, dict) else bool(error)


def _of_response(error: object, body: Mapping[str, object]) -> object:
    """Return the error with the fields that are beside it in the body, unless it is an object."""
    if not isinstance(error, dict):
        beside = {name: body[name] for name in ("code", "type", "status", "error_type") if body.get(name)}
        return {"message": str(error), **beside} if beside else error
    return error


def _status_of(error: object, unknown_status: int) -> int:
    """Return the status. A code is more specific than a type: OpenAI's type for a wrong key is
    `invalid_request_error`."""
    if not isinstance(error, dict):
        return 500
    for name in ("code", "status", "http_status", "status_code", "type", "error_type", "error"):
        value = error.get(name)
        if isinstance(value, str):
            if (known := named_status(value.strip())) is not None:
                return known
            value = int(value) if value.strip().isdigit() and len(value) <= 4 else None
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return unknown_status if isinstance(error.get("code"), str) else 500


def malformed_reply_error(error: ValueError) -> ProviderError:
    """Return the error for a 2xx response whose body is unusable. The message names fields, not their values."""
    reason = str(error)
    if isinstance(error, ValidationError):
        reason = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {field_message(item['msg'])}" for item in error.errors()
        )
    return malformed_reply(reason)


def malformed_reply(reason: str, usage: Usage | None = None, cost_usd: float | None = None) -> ProviderError:
    """Return the error for a reply that cannot be read, with the usage and the cost that it reports."""
    message = f"malformed response: {reason}"
    return ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, is_malformed=True, usage=usage, cost_usd=cost_usd)


def html_page_error(title: str, status: int) -> ProviderError:
    """Return the error for a page in place of a reply: a proxy's, or one to sign in."""
    message = f"{describe_page(title)}, status {status}"
    return ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, is_malformed=True, refused=True)


def parse_error_detail(body: bytes, now: datetime | None = None) -> ErrorDetail:
    """Parse the error formats of OpenAI and Anthropic, Google, and Cohere. They are `{error: {message, type, code}}`,
    `{error: {message, status, details}}` and `{message}`."""
    text = body[:_MAX_BODY_BYTES].decode(errors="replace").strip()
    try:
        parsed = orjson.loads(body)
    except ValueError:
        title = page_title(text)
        return ErrorDetail(frozenset(), text if title is None else describe_page(title))
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    return _detail_of(parsed.get("error", parsed) if isinstance(parsed, dict) else {}, text, now or utc_now())


_MESSAGES = ("message", "detail", "msg", "error_msg", "error_message", "errors")


def _detail_of(error: object, text: str, now: datetime) -> ErrorDetail:
    if not isinstance(error, dict):
        return ErrorDetail(frozenset(), str(error))
    details = [detail for detail in _list(error.get("details")) if isinstance(detail, dict)]
    objects = [error, *details, *(inner for inner in [error.get("innererror")] if isinstance(inner, dict))]
    codes = {str(item[key]) for item in objects for key in ("code", "type", "status", "reason") if item.get(key)}
    message = next((str(error[name]) for name in _MESSAGES if error.get(name)), text)
    upstream = error.get("metadata")
    if isinstance(upstream, dict):
        codes |= {"content_filter"} if "flagged_input" in upstream else set()
        message = ": ".join([message, *(str(upstream[key]) for key in ("provider_name", "raw") if upstream.get(key))])
    waits = [wait for wait in _waits_in(error, details, now) if wait is not None]
    return ErrorDetail(frozenset({*codes, *_quotas_in(details)}), message, max(waits, default=None))


def _quotas_in(details: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of the exhausted quotas of Google, such as `GenerateRequestsPerDayPerProjectPerModel`."""
    for detail in details:
        for violation in _list(detail.get("violations")):
            if isinstance(violation, dict):
                yield from (str(violation[key]) for key in ("quotaId", "quotaMetric") if violation.get(key))


def _waits_in(error: dict[str, Any], details: list[dict[str, Any]], now: datetime) -> Iterator[float | None]:
    """Yield the waits that a body asks for. They are Google's RetryInfo, `retry_after` of several gateways, and the
    received headers that OpenRouter passes on."""
    yield from (duration_seconds(str(detail["retryDelay"])) for detail in details if "retryDelay" in detail)
    if error.get("retry_after") is not None:
        yield duration_seconds(str(error["retry_after"]))
    upstream = error.get("metadata")
    headers = upstream.get("headers") if isinstance(upstream, dict) else None
    if isinstance(headers, dict):
        lower = {str(name).lower(): str(value) for name, value in headers.items()}
        yield retry_after_seconds(lower, now)
        if "x-ratelimit-reset" in lower and (seconds := seconds_until_reset(lower["x-ratelimit-reset"], now)):
            yield min(max(0.0, seconds), MAX_SECONDS)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
