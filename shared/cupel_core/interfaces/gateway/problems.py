"""Maps all errors to HTTP as problem documents of RFC 9457."""

from typing import Any

import orjson

from cupel_core.base.errors import (
    AppError,
    ClientError,
    ConfirmationRequired,
    InProgress,
    PreconditionFailed,
    RetryableError,
    TooManyRequests,
    Unauthorized,
    public_detail,
)
from cupel_core.domain.limits.request_rate import LimitScope, RequestLimit

CONTENT_TYPE = "application/problem+json"


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
    from cupel_core.contract.estimates import EstimateResponse  # It is rarely needed, and slow to import.
    from cupel_core.providers.prices import price_list_version

    return EstimateResponse.of(error.estimate, price_list_version()).model_dump(by_alias=True, mode="json")


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
    return {
        "RateLimit-Policy": f'"{scope}";q={limit.burst};w={max(1, round(limit.window_seconds))}',
        "RateLimit": f'"{scope}";r=0;t=1',
    }
