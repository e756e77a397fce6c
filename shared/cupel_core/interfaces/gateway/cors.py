"""Adds CORS headers for the configured origins. Other origins get none, so browsers refuse the response."""

from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.interfaces.routes import methods_at
from cupel_core.store.settings import settings

PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, Idempotency-Key, Last-Event-ID, "
    "MCP-Protocol-Version, Mcp-Method, Mcp-Name",
    "Access-Control-Max-Age": "600",
}
EXPOSED = "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, apigw-requestid"
"""API Gateway adds the last one; problem documents have it as `requestId`."""


def preflight(path: str) -> dict[str, Any]:
    """Return the response to OPTIONS, which needs no token because browsers send none with OPTIONS."""
    allowed = ", ".join(methods_at(path) or ["OPTIONS"])
    return {"statusCode": 204, "headers": {"Allow": allowed}, "body": "", "isBase64Encoded": False}


def add_cors_headers(request: APIGatewayProxyEventV2, response: dict[str, Any]) -> dict[str, Any]:
    """Add the headers that let a page from a configured origin read the response."""
    headers = dict(response["headers"])
    origin = request.headers.get("origin", "")
    if origin in settings().origins:
        headers |= {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED}
        if request.http_method == "OPTIONS":
            headers |= PREFLIGHT
    return {**response, "headers": headers}
