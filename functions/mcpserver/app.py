"""The MCP server: what the API can do, as tools of language models, at `POST /v1/mcp`."""

import base64
from collections.abc import Mapping
from http import HTTPStatus
from time import perf_counter
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.clock import utc_now
from cupel_core.errors import AppError, Forbidden, Invalid, NotFound
from cupel_core.gateway.caller import caller
from cupel_core.gateway.compression import compress
from cupel_core.gateway.cors import add_cors_headers
from cupel_core.gateway.problems import MethodNotAllowed, from_unexpected, lambda_response
from cupel_core.gateway.requests import check_body, check_edge
from cupel_core.settings import settings
from cupel_core.store.clients import AWS_ERRORS
from mcpserver.protocol import answer
from mcpserver.registry import ToolGroup
from mcpserver.request import ToolRequest

PATH = "/v1/mcp"
MAX_BODY_BYTES = 1024 * 1024
logger = Logger()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    started_at = perf_counter()
    request = APIGatewayProxyEventV2(event)
    response = add_cors_headers(request, _respond(request))
    response["headers"].setdefault("Cache-Control", "no-store")
    response = compress(request, response)
    fields = {
        "method": request.http_method,
        "route": request.path,
        "status": response["statusCode"],
        "durationMs": round((perf_counter() - started_at) * 1000, 1),
        "requestId": request.request_context.request_id,
    }
    logger.info("request", extra=fields)
    return response


def _respond(request: APIGatewayProxyEventV2) -> dict[str, Any]:
    try:
        check_edge(request.headers)
        return _carry_out(request)
    except AppError as refusal:
        return lambda_response(refusal, request.request_context.request_id)
    except AWS_ERRORS as error:
        return lambda_response(from_unexpected(error), request.request_context.request_id)


def _carry_out(request: APIGatewayProxyEventV2) -> dict[str, Any]:
    if request.path != PATH:
        raise NotFound("no such path")
    if request.http_method != "POST":
        # There are no streams to read and no sessions to end.
        raise MethodNotAllowed(["OPTIONS", "POST"])
    _check_origin(request.headers)
    who = caller(request)
    check_body(request, MAX_BODY_BYTES, "POST /v1/files uploads larger images and PDFs")
    text = request.body or ""
    body = base64.b64decode(text) if request.is_base64_encoded else text
    asked = ToolRequest(request.request_context.request_id, who, utc_now(), _groups(request))
    status, content = answer(body, request.headers, asked)
    return {
        "statusCode": HTTPStatus(status).value,
        "headers": {"Content-Type": "application/json"},
        "body": content.decode(),
        "isBase64Encoded": False,
    }


def _check_origin(headers: Mapping[str, str]) -> None:
    """Browsers send it; programs on a desktop do not."""
    origin = headers.get("origin")
    if origin and origin not in settings().origins:
        raise Forbidden("pages of this origin may not use the MCP server")


def _groups(request: APIGatewayProxyEventV2) -> frozenset[ToolGroup]:
    """Those that `?tools=read,runs` selects; all without it."""
    selected = request.query_string_parameters.get("tools")
    if selected is None:
        return frozenset(ToolGroup)
    names = {each.strip() for each in selected.split(",")}
    if not names <= set(ToolGroup):
        raise Invalid.field("tools", f"must be some of {', '.join(ToolGroup)}, separated by commas")
    return frozenset(ToolGroup(each) for each in names)
