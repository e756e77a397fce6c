"""The MCP server: what the API can do, as tools of language models, at `POST /v1/mcp`."""

import base64
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.clock import utc_now
from cupel_core.errors import Forbidden, Invalid, NotFound
from cupel_core.gateway.caller import caller
from cupel_core.gateway.problems import MethodNotAllowed
from cupel_core.gateway.requests import check_body
from cupel_core.gateway.serving import serve, text_response
from cupel_core.settings import settings
from mcpserver.protocol import answer
from mcpserver.registry import ToolGroup
from mcpserver.request import ToolRequest

PATH = "/v1/mcp"
MAX_BODY_BYTES = 1024 * 1024


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return serve(event, _carry_out)


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
    return text_response(status, "application/json", content)


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
