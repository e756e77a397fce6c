"""Cross-origin answers for the stack's own origins only. Anyone else gets no CORS header, and the browser refuses."""

from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.settings import settings

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}


def preflight() -> dict[str, Any]:
    """Without a token: browsers send none with OPTIONS."""
    return {"statusCode": 204, "headers": {}, "body": "", "isBase64Encoded": False}


def open_to(request: APIGatewayProxyEventV2, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, readable by the page that asked if its origin is one of ours."""
    headers = {**answer["headers"], "Vary": "Origin"}
    origin = request.headers.get("origin", "")
    if origin in settings().origins:
        headers |= {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "Retry-After, Location"}
        if request.http_method == "OPTIONS":
            headers |= _PREFLIGHT
    return {**answer, "headers": headers}
