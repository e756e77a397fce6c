"""The one mapping from errors to HTTP: RFC 9457 problem documents."""

from typing import Any

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from cupel_core.domain.limits.request_rate import RequestLimit
from cupel_core.domain.text.validation_messages import field_message
from cupel_core.errors import (
    AppError,
    ClientError,
    ConfirmationRequired,
    FieldError,
    InProgress,
    Invalid,
    PreconditionFailed,
    RetryableError,
    TooManyRequests,
    Unauthorized,
)
from cupel_core.settings import settings
from cupel_core.store.clients import is_transient

CONTENT_TYPE = "application/problem+json"

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


def register(app: APIGatewayHttpResolver) -> None:
    def request_id() -> str:
        return str(app.current_event.request_context.request_id)

    app.exception_handler(AppError)(lambda error: _on_app_error(error, request_id()))
    app.exception_handler(RequestValidationError)(lambda error: response(from_validation(error), request_id()))
    app.exception_handler(Exception)(lambda error: response(from_unexpected(error), request_id()))


def response(error: AppError, request_id: str) -> Response[str]:
    body = orjson.dumps(document(error, request_id)).decode()
    return Response(error.status, CONTENT_TYPE, body, headers=_headers(error))


def lambda_response(error: AppError, request_id: str) -> dict[str, Any]:
    """The response as the function returns it, for requests that are refused before they are routed."""
    rendered = response(error, request_id)
    return {
        "statusCode": rendered.status_code,
        "headers": rendered.headers,
        "body": rendered.body,
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
    """What the caller may know: nothing of an internal error."""
    return error.detail if error.status < AppError.status or isinstance(error, RetryableError) else "internal error"


def from_validation(error: RequestValidationError) -> AppError:
    """Text that is not JSON is a bad request (400); JSON of the wrong shape is invalid, field by field (422)."""
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return ClientError("the body is not valid JSON")
    return Invalid.fields(FieldError(_field(detail["loc"]), field_message(detail["msg"])) for detail in details)


def _field(location: tuple[str | int, ...]) -> str:
    """`("body", "models", 1)` is `models.1`; the body itself is `body`. Headers are capitalized as usual."""
    source, *path = location
    if source == "header":
        return "-".join("ID" if word == "id" else word.capitalize() for word in str(path[0]).split("-"))
    return ".".join(str(part) for part in path) or str(source)


def _headers(error: AppError) -> dict[str, str]:
    match error:
        case Unauthorized():
            return {"WWW-Authenticate": "Bearer"}
        case InProgress():
            return {"Retry-After": "1"}
        case TooManyRequests():
            return _retry_after(error) | _rate_limit(settings().request_limit)
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


def _rate_limit(limit: RequestLimit) -> dict[str, str]:
    """As in draft-ietf-httpapi-ratelimit-headers: `q` requests per `w` seconds; `r` are left for `t` seconds."""
    return {
        "RateLimit-Policy": f'"token";q={limit.burst};w={max(1, round(limit.window_seconds))}',
        "RateLimit": '"token";r=0;t=1',
    }


def _on_app_error(error: AppError, request_id: str) -> Response[str]:
    if error.status >= AppError.status:
        logger.warning("request failed", exc_info=error)
    return response(error, request_id)


def from_unexpected(error: Exception) -> AppError:
    """The last resort: the response does not reveal the cause; the log contains all of it."""
    if is_transient(error):
        logger.warning("request failed", exc_info=error)
        return RetryableError("an AWS service is busy or unavailable; repeat the request")
    logger.exception("unexpected error", exc_info=error)
    return AppError("unexpected error")
