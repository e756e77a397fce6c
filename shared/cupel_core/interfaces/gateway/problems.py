"""The one mapping from errors to HTTP: RFC 9457 problem documents."""

from typing import Any

import orjson
from aws_lambda_powertools import Logger

from cupel_core.base.errors import (
    AppError,
    ClientError,
    ConfirmationRequired,
    InProgress,
    PreconditionFailed,
    RetryableError,
    TooManyRequests,
    Unauthorized,
)
from cupel_core.domain.limits.request_rate import LimitScope, RequestLimit
from cupel_core.store.clients import is_transient

CONTENT_TYPE = "application/problem+json"
UNEXPECTED_ERRORS = "UnexpectedErrors"
"""The metric that an alarm watches."""

logger = Logger()


class MethodNotAllowed(ClientError):
    status = 405
    title = "Method not allowed"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"allowed methods: {', '.join(allowed)}")
        self.allowed = allowed


class UnsupportedContentType(ClientError):
    status = 415
    title = "Unsupported content type"


class UnsupportedContentEncoding(ClientError):
    status = 415
    title = "Unsupported content encoding"


def lambda_response(error: AppError, request_id: str) -> dict[str, Any]:
    """The response as a function returns it."""
    return {
        "statusCode": error.status,
        "headers": {"Content-Type": CONTENT_TYPE, **headers(error)},
        "body": orjson.dumps(document(error, request_id)).decode(),
        "isBase64Encoded": False,
    }


def document(error: AppError, request_id: str) -> dict[str, Any]:
    problem: dict[str, Any] = {
        "type": f"urn:cupel:problem:{error.title.lower().replace(' ', '-')}",
        "title": error.title,
        "status": error.status,
        "detail": public_detail(error),
        "requestId": request_id,
    }
    if error.errors:
        problem["errors"] = [{"field": one.field, "message": one.message} for one in error.errors]
    if isinstance(error, PreconditionFailed) and error.etag is not None:
        problem["etag"] = error.etag
    if isinstance(error, ConfirmationRequired):
        problem["estimate"] = _estimate(error)
    return problem


def _estimate(error: ConfirmationRequired) -> dict[str, Any]:
    from cupel_core.contract.estimates import EstimateResponse  # needed rarely, and slow to import
    from cupel_core.providers.prices import price_list_version

    return EstimateResponse.of(error.estimate, price_list_version()).model_dump(by_alias=True, mode="json")


def public_detail(error: AppError) -> str:
    """Return the detail that the caller may see, which reveals nothing about an internal error."""
    return error.detail if error.status < AppError.status or isinstance(error, RetryableError) else "internal error"


def headers(error: AppError) -> dict[str, str]:
    match error:
        case Unauthorized():
            return {"WWW-Authenticate": "Bearer"}
        case InProgress():
            return {"Retry-After": "1"}
        case TooManyRequests(scope=scope, limit=limit):
            return _retry_after(error) | _rate_limit(scope, limit)
        case RetryableError():
            return _retry_after(error)
        case PreconditionFailed(etag=str(etag)):
            return {"ETag": etag}
        case MethodNotAllowed():
            return {"Allow": ", ".join(error.allowed)}
        case UnsupportedContentEncoding():
            return {"Accept-Encoding": "identity"}
    return {}


def _retry_after(error: RetryableError) -> dict[str, str]:
    return {"Retry-After": str(max(1, round(error.retry_after)))}


def _rate_limit(scope: LimitScope, limit: RequestLimit) -> dict[str, str]:
    """Return the headers of draft-ietf-httpapi-ratelimit-headers.

    They allow `q` requests per `w` seconds, of which `r` are left for `t` seconds.
    """
    return {
        "RateLimit-Policy": f'"{scope}";q={limit.burst};w={max(1, round(limit.window_seconds))}',
        "RateLimit": f'"{scope}";r=0;t=1',
    }


def from_unexpected(error: Exception) -> AppError:
    """The last resort: the response does not reveal the cause; the log contains all of it."""
    if is_transient(error):
        logger.warning("request failed", exc_info=error)
        return RetryableError("an AWS service is busy or unavailable; repeat the request")
    logger.exception("unexpected error", exc_info=error)
    _count_unexpected()
    return AppError("unexpected error")


def _count_unexpected() -> None:
    """Publish a metric: the invocation succeeds, so Lambda counts no error, and GraphQL and MCP answer with 200."""
    from aws_lambda_powertools.metrics import MetricUnit, single_metric  # needed rarely

    with single_metric(name=UNEXPECTED_ERRORS, unit=MetricUnit.Count, value=1):
        pass  # A log line is written at the end; its dimension is the service, which is the stack's name.
