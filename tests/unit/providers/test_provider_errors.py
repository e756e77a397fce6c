"""Error bodies as the providers document them, and the code each becomes."""

from datetime import UTC, datetime
from typing import Any

import httpx
import orjson
import pytest

from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.providers.errors import ProviderError, error_of_response
from cupel_core.providers.failures import error_of_exception

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def error_of(status: int, body: Any, headers: dict[str, str] | None = None) -> ProviderError:
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return error_of_response(status, httpx.Headers(headers or {}), content, NOW)


def openai(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google(code: int, message: str, status: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, openai("Incorrect API key provided", "invalid_request_error", "invalid_api_key"), ErrorCode.AUTH),
        (403, openai("Country not supported", "request_forbidden", None), ErrorCode.AUTH),
        (429, openai("Rate limit reached", "requests", "rate_limit_exceeded"), ErrorCode.RATE_LIMITED),
        (429, openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), ErrorCode.AUTH),
        (
            404,
            openai("No such model", "invalid_request_error", "model_not_found"),
            ErrorCode.INVALID_REQUEST,
        ),
        (400, openai("Rejected", "invalid_request_error", "content_policy_violation"), ErrorCode.CONTENT_FILTERED),
        (400, openai("The response was filtered", "", "content_filter"), ErrorCode.CONTENT_FILTERED),
        (400, openai("Unsupported value: 'temperature'", "invalid_request_error", None), ErrorCode.INVALID_REQUEST),
        (500, openai("The server had an error", "server_error", None), ErrorCode.PROVIDER_ERROR),
        (503, openai("Overloaded", "server_error", None), ErrorCode.PROVIDER_ERROR),
        (402, openai("Insufficient Balance", "unknown_error", "invalid_request_error"), ErrorCode.AUTH),
        (400, openai("Content Exists Risk", "invalid_request_error", None), ErrorCode.CONTENT_FILTERED),
        (403, {"code": "forbidden", "error": "Content violates usage guidelines."}, ErrorCode.CONTENT_FILTERED),
        (401, anthropic("authentication_error", "invalid x-api-key"), ErrorCode.AUTH),
        (403, anthropic("permission_error", "no access"), ErrorCode.AUTH),
        (429, anthropic("rate_limit_error", "too many"), ErrorCode.RATE_LIMITED),
        (529, anthropic("overloaded_error", "Overloaded"), ErrorCode.PROVIDER_ERROR),
        (504, anthropic("timeout_error", "too long"), ErrorCode.TIMEOUT),
        (413, anthropic("request_too_large", "too large"), ErrorCode.INVALID_REQUEST),
        (
            400,
            anthropic("invalid_request_error", "Output blocked by content filtering policy"),
            ErrorCode.CONTENT_FILTERED,
        ),
        (400, google(400, "Invalid value", "INVALID_ARGUMENT"), ErrorCode.INVALID_REQUEST),
        (400, google(400, "API key not valid.", "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}), ErrorCode.AUTH),
        (429, [google(429, "Quota exceeded", "RESOURCE_EXHAUSTED")], ErrorCode.RATE_LIMITED),
        (408, b"", ErrorCode.TIMEOUT),
        (502, b"<html>Bad gateway</html>", ErrorCode.PROVIDER_ERROR),
        (302, b"", ErrorCode.INVALID_REQUEST),
        (500, b"[]", ErrorCode.PROVIDER_ERROR),
        (500, b'{"error": null}', ErrorCode.PROVIDER_ERROR),
    ],
)
def test_the_code_of_an_answer(status: int, body: Any, code: ErrorCode) -> None:
    assert error_of(status, body).code is code


def test_the_message_is_the_providers_own() -> None:
    assert error_of(429, openai("Rate limit reached", "requests", None)).message == "HTTP 429: Rate limit reached"
    assert error_of(404, {"detail": "Not here"}).message == "HTTP 404: Not here"


def test_the_header_says_how_long_to_wait() -> None:
    assert error_of(529, anthropic("overloaded_error", "Overloaded"), {"Retry-After": "12"}).retry_after == 12


def test_google_says_in_the_body_how_long_to_wait() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    assert error_of(429, google(429, "Quota exceeded", "RESOURCE_EXHAUSTED", info)).retry_after == 34


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpx.ConnectError("refused"), ErrorCode.NETWORK),
        (httpx.ReadError("reset"), ErrorCode.NETWORK),
        (httpx.RemoteProtocolError("closed"), ErrorCode.NETWORK),
        (httpx.ReadTimeout("slow"), ErrorCode.TIMEOUT),
        (httpx.ConnectTimeout("slow"), ErrorCode.TIMEOUT),
        (httpx.DecodingError("gzip"), ErrorCode.PROVIDER_ERROR),
        (httpx.UnsupportedProtocol("ftp"), ErrorCode.INVALID_REQUEST),
        (httpx.InvalidURL("bad"), ErrorCode.INVALID_REQUEST),
        (OSError("broken pipe"), ErrorCode.NETWORK),
    ],
)
def test_the_code_of_an_exchange_without_an_answer(error: Exception, code: ErrorCode) -> None:
    assert error_of_exception(error).code is code
