from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from cupel_core.base.errors import AppError, ClientError, FieldError, Invalid
from cupel_core.domain.text.validation_messages import REQUIRED, error_message, without_union_members
from cupel_core.interfaces.gateway.problems import CONTENT_TYPE, document, headers
from cupel_core.store.unexpected_errors import from_unexpected

logger = Logger(child=True)

_MAX_NAME_LENGTH = 200
"""The name of a field is cut to this length; without a limit, a response could have the request's size."""

is_request_invalid: ContextVar[bool] = ContextVar("is_request_invalid", default=False)
"""True if the content of the request was refused before its operation looked anything up."""

type Path = tuple[str | int, ...]


def register(app: APIGatewayHttpResolver, locate: Callable[[Path, Any], Path] = without_union_members) -> None:
    """Register the handlers of errors. `locate` corrects the paths of invalid fields of a body, its second argument."""

    def request_id() -> str:
        return str(app.current_event.request_context.request_id)

    def on_validation_error(error: RequestValidationError) -> Response[str]:
        is_request_invalid.set(True)
        return response(from_validation(error, lambda path: locate(path, app.current_event.json_body)), request_id())

    app.exception_handler(AppError)(lambda error: _on_app_error(error, request_id()))
    app.exception_handler(RequestValidationError)(on_validation_error)
    app.exception_handler(Exception)(lambda error: response(from_unexpected(error), request_id()))


def response(error: AppError, request_id: str) -> Response[str]:
    body = orjson.dumps(document(error, request_id)).decode()
    return Response(error.status, CONTENT_TYPE, body, headers=headers(error))


def from_validation(error: RequestValidationError, locate: Callable[[Path], Path]) -> AppError:
    """Return 400 for text that is not JSON, and 422, field by field, for JSON of the wrong shape."""
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return ClientError("the body is not valid JSON")
    return Invalid.fields(_field_error(detail, locate) for detail in details)


def _field_error(detail: Mapping[str, Any], locate: Callable[[Path], Path]) -> FieldError:
    """Return an error. If the field that names the kind of object is missing, the error is about this field."""
    location = _field(detail["loc"], locate)
    if detail["type"] == "union_tag_not_found":
        return FieldError(f"{location}.{detail['ctx']['discriminator'].strip("'")}", REQUIRED)
    return FieldError(location, error_message(detail))


def _field(location: Path, locate: Callable[[Path], Path]) -> str:
    """Return the name of a field: `("body", "models", 1)` is `models.1`, and the body itself is `body`.

    Headers are capitalized as usual.
    """
    source, *path = location
    if source == "header":
        return "-".join("ID" if word == "id" else word.capitalize() for word in str(path[0]).split("-"))
    found = locate(tuple(path)) if source == "body" else path
    return ".".join(str(part)[:_MAX_NAME_LENGTH] for part in found) or str(source)


def _on_app_error(error: AppError, request_id: str) -> Response[str]:
    if error.status >= AppError.status:
        logger.warning("request failed", exc_info=error)
    return response(error, request_id)
