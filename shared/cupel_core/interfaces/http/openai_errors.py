"""Converts problem documents to OpenAI's error objects: `{"error": {"message", "type", "param", "code"}}`."""

import re
from collections.abc import Mapping
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
_MAX_ERRORS_IN_MESSAGE = 5
_INDEX = re.compile(r"\.(\d+)(?=\.|$)")
_MARKS = ("[key]", "[grader]", "[graders]")
"""Parts of a path that are not fields but mark an invalid name of a field, and the forms of the graders of a `multi`
grader."""


def without_tags(path: tuple[str | int, ...], body: Any) -> tuple[str | int, ...]:
    """Return the path of a field in the body without the `type` of each chosen member of a union."""
    found: list[str | int] = []
    value, is_after_tag = body, False
    for part, following in zip(path, (*path[1:], None), strict=False):
        if not is_after_tag and _is_tag(value, part, following):
            is_after_tag = True
            continue
        if part not in _MARKS:
            found.append(part)
            value, is_after_tag = _child(value, part), False
    return tuple(found)


def _is_tag(value: Any, part: str | int, following: str | int | None) -> bool:
    """Return whether a part of a path is a tag.

    A field may have the name of its object's type: in `{"type": "template", "template": […]}`, the first one of
    `template.template` is the tag.
    """
    if not isinstance(value, Mapping) or value.get("type") != part:
        return False
    return part not in value or following == part or following in value


def _child(value: Any, part: str | int) -> Any:
    match value:
        case Mapping():
            return value.get(part)
        case list() if isinstance(part, int) and part < len(value):
            return value[part]
    return None


def _param(field: str) -> str:
    """Write `testing_criteria.0.input` as OpenAI does: `testing_criteria[0].input`."""
    return _INDEX.sub(r"[\1]", field)


def _message(problem: Mapping[str, Any], errors: list[dict[str, str]]) -> str:
    named = (f"{_param(each['field'])}: {each['message']}" for each in errors[:_MAX_ERRORS_IN_MESSAGE])
    return "; ".join(named) or problem["detail"]


def as_openai_error(response: dict[str, Any]) -> dict[str, Any]:
    """Convert a problem document to OpenAI's error object with OpenAI's status of invalid requests, 400.

    Other responses are unchanged.
    """
    if response["statusCode"] < HTTPStatus.BAD_REQUEST:
        return response
    problem = orjson.loads(response["body"])
    status = response["statusCode"]
    is_invalid = status == HTTPStatus.UNPROCESSABLE_ENTITY
    errors = problem.get("errors") or []
    error = {
        "message": _message(problem, errors),
        "type": _TYPES.get(status, _BAD_REQUEST),
        "param": _param(errors[0]["field"]) if errors else None,
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
