"""Error bodies as the providers document them, and the code each one gets."""

from datetime import UTC, datetime
from typing import Any

import orjson
from multidict import CIMultiDict

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.errors import ProviderError, error_from_response
from tests.in_one_test import in_one_test

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def error_of(status: int, body: Any, headers: dict[str, str] | None = None) -> ProviderError:
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return error_from_response(status, CIMultiDict(headers or {}), content, NOW)


def openai(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google(code: int, message: str, status: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


@in_one_test(
    ("status", "body", "code"),
    [
        (401, openai("Incorrect API key provided", "invalid_request_error", "invalid_api_key"), ProbeErrorCode.AUTH),
        (403, openai("Country not supported", "request_forbidden", None), ProbeErrorCode.AUTH),
        (429, openai("Rate limit reached", "requests", "rate_limit_exceeded"), ProbeErrorCode.RATE_LIMITED),
        (
            429,
            openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
            ProbeErrorCode.AUTH,
        ),
        (
            404,
            openai("No such model", "invalid_request_error", "model_not_found"),
            ProbeErrorCode.INVALID_REQUEST,
        ),
        (400, openai("Rejected", "invalid_request_error", "content_policy_violation"), ProbeErrorCode.CONTENT_FILTERED),
        (400, openai("The response was filtered", "", "content_filter"), ProbeErrorCode.CONTENT_FILTERED),
        (
            400,
            openai("Unsupported value: 'temperature'", "invalid_request_error", None),
            ProbeErrorCode.INVALID_REQUEST,
        ),
        (500, openai("The server had an error", "server_error", None), ProbeErrorCode.PROVIDER_ERROR),
        (503, openai("Overloaded", "server_error", None), ProbeErrorCode.PROVIDER_ERROR),
        (402, openai("Insufficient Balance", "unknown_error", "invalid_request_error"), ProbeErrorCode.AUTH),
        (400, openai("Content Exists Risk", "invalid_request_error", None), ProbeErrorCode.CONTENT_FILTERED),
        (403, openai("`inputs` tokens + `max_new_tokens` must be <= 4097", "", None), ProbeErrorCode.INVALID_REQUEST),
        (403, {"code": "forbidden", "error": "Content violates usage guidelines."}, ProbeErrorCode.CONTENT_FILTERED),
        (401, anthropic("authentication_error", "invalid x-api-key"), ProbeErrorCode.AUTH),
        (403, anthropic("permission_error", "no access"), ProbeErrorCode.AUTH),
        (429, anthropic("rate_limit_error", "too many"), ProbeErrorCode.RATE_LIMITED),
        (529, anthropic("overloaded_error", "Overloaded"), ProbeErrorCode.PROVIDER_ERROR),
        (504, anthropic("timeout_error", "too long"), ProbeErrorCode.TIMEOUT),
        (413, anthropic("request_too_large", "too large"), ProbeErrorCode.INVALID_REQUEST),
        (
            400,
            anthropic("invalid_request_error", "Output blocked by content filtering policy"),
            ProbeErrorCode.CONTENT_FILTERED,
        ),
        (400, google(400, "Invalid value", "INVALID_ARGUMENT"), ProbeErrorCode.INVALID_REQUEST),
        (
            400,
            google(400, "API key not valid.", "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}),
            ProbeErrorCode.AUTH,
        ),
        (
            400,
            {"error": {"message": "No connected db.", "type": "no_db_connection", "param": None, "code": "400"}},
            ProbeErrorCode.AUTH,
        ),
        (429, [google(429, "Quota exceeded", "RESOURCE_EXHAUSTED")], ProbeErrorCode.RATE_LIMITED),
        (408, b"", ProbeErrorCode.TIMEOUT),
        (502, b"<html>Bad gateway</html>", ProbeErrorCode.PROVIDER_ERROR),
        (302, b"", ProbeErrorCode.INVALID_REQUEST),
        (500, b"[]", ProbeErrorCode.PROVIDER_ERROR),
        (500, b'{"error": null}', ProbeErrorCode.PROVIDER_ERROR),
    ],
)
def test_the_code_of_a_response(status: int, body: Any, code: ProbeErrorCode) -> None:
    assert error_of(status, body).code is code


def test_the_message_is_the_providers_own() -> None:
    assert error_of(429, openai("Rate limit reached", "requests", None)).message == "HTTP 429: Rate limit reached"
    assert error_of(404, {"detail": "Not here"}).message == "HTTP 404: Not here"


def test_the_retry_delay_is_read_from_the_header() -> None:
    assert error_of(529, anthropic("overloaded_error", "Overloaded"), {"Retry-After": "12"}).retry_after_seconds == 12


def test_the_retry_delay_of_google_is_read_from_the_body() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    assert error_of(429, google(429, "Quota exceeded", "RESOURCE_EXHAUSTED", info)).retry_after_seconds == 34
