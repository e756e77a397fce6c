"""The one mapping from errors to HTTP: RFC 9457 problem documents."""

import re
from typing import Any

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from cupel_core.errors import AppError, ClientError, FieldError, Invalid, RetryableError, Unauthorized

CONTENT_TYPE = "application/problem+json"

logger = Logger()


class MethodNotAllowed(ClientError):
    status = 405
    title = "Method not allowed"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"this resource answers {', '.join(allowed)}")
        self.allowed = allowed


class UnsupportedContentType(ClientError):
    status = 415
    title = "Unsupported content type"


def register(app: APIGatewayHttpResolver) -> None:
    app.exception_handler(AppError)(_raised)
    app.exception_handler(RequestValidationError)(lambda error: response(from_validation(error)))
    app.exception_handler(Exception)(_unexpected)


def response(error: AppError) -> Response[str]:
    return Response(error.status, CONTENT_TYPE, orjson.dumps(document(error)).decode(), headers=_headers(error))


def answer(error: AppError) -> dict[str, Any]:
    """The same as a function's result, for what is refused before there is a route."""
    told = response(error)
    return {"statusCode": told.status_code, "headers": told.headers, "body": told.body, "isBase64Encoded": False}


def document(error: AppError) -> dict[str, Any]:
    problem: dict[str, Any] = {
        "type": f"urn:cupel:problem:{error.title.lower().replace(' ', '-')}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail
        if error.status < 500 or isinstance(error, RetryableError)
        else "something of ours failed",
    }
    if error.errors:
        problem["errors"] = [{"field": wrong.field, "message": wrong.message} for wrong in error.errors]
    return problem


def from_validation(error: RequestValidationError) -> AppError:
    """Text that is no JSON is a bad request; JSON of the wrong shape is invalid, field by field."""
    found = [FieldError(_field(wrong["loc"]), _message(wrong)) for wrong in error.errors()]
    if any(wrong["type"] == "json_invalid" for wrong in error.errors()):
        return ClientError("the body is not valid JSON")
    return Invalid("; ".join(f"{wrong.field}: {wrong.message}" for wrong in found[:5]), tuple(found))


def _field(location: tuple[str | int, ...]) -> str:
    """`("body", "models", 1)` is `models.1`; the body itself is `body`. Headers are told as people write them."""
    place, *path = location
    if place == "header":
        return "-".join("ID" if word == "id" else word.capitalize() for word in str(path[0]).split("-"))
    return ".".join(str(part) for part in path) or str(place)


def _message(wrong: dict[str, Any]) -> str:
    return re.sub(r"^Value error, ", "", str(wrong["msg"]))


def _headers(error: AppError) -> dict[str, str]:
    match error:
        case Unauthorized():
            return {"WWW-Authenticate": "Bearer"}
        case RetryableError():
            return {"Retry-After": str(max(1, round(error.retry_after)))}
        case MethodNotAllowed():
            return {"Allow": ", ".join(error.allowed)}
    return {}


def _raised(error: AppError) -> Response[str]:
    if error.status >= AppError.status:
        logger.warning("request failed", exc_info=error)
    return response(error)


def _unexpected(error: Exception) -> Response[str]:
    """The last resort: whoever called learns nothing of the inside, the log everything."""
    logger.exception("unexpected error", exc_info=error)
    return response(AppError("unexpected error"))
