"""Problem documents as OpenAI's error objects: `{"error": {"message", "type", "param", "code"}}`."""

from http import HTTPStatus
from typing import Any

import orjson

PREFIX = "/openai/"
_BAD_REQUEST = "invalid_request_error"
_TYPES = {
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.INTERNAL_SERVER_ERROR: "server_error",
    HTTPStatus.BAD_GATEWAY: "server_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "server_error",
}
_CODES = {
    HTTPStatus.UNAUTHORIZED: "invalid_api_key",
    HTTPStatus.FORBIDDEN: "insufficient_permissions",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "content_too_large",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_exceeded",
    HTTPStatus.SERVICE_UNAVAILABLE: "service_unavailable",
}


def as_openai_error(response: dict[str, Any]) -> dict[str, Any]:
    """The response, if it is a problem document, with OpenAI's error and its status for an invalid request: 400."""
    if response["statusCode"] < HTTPStatus.BAD_REQUEST:
        return response
    problem = orjson.loads(response["body"])
    status = response["statusCode"]
    is_invalid = status == HTTPStatus.UNPROCESSABLE_ENTITY
    errors = problem.get("errors") or []
    error = {
        "message": problem["detail"],
        "type": _TYPES.get(status, _BAD_REQUEST),
        "param": errors[0]["field"] if errors else None,
        "code": "invalid_value" if is_invalid else _CODES.get(status),
    }
    headers = {**response["headers"], "Content-Type": "application/json", "x-request-id": problem["requestId"]}
    body = orjson.dumps({"error": error}).decode()
    return {
        **response,
        "statusCode": int(HTTPStatus.BAD_REQUEST) if is_invalid else status,
        "headers": headers,
        "body": body,
    }
