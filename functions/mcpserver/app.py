"""Serves MCP at `POST /v1/mcp`: the capabilities of the API as tools of language models."""

import base64
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Forbidden, Invalid, NotFound
from cupel_core.contract.operation import ToolGroup
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.gateway.problems import MethodNotAllowed
from cupel_core.interfaces.gateway.requests import check_body
from cupel_core.interfaces.gateway.serving import serve, text_response
from cupel_core.interfaces.mcp.authorization import METADATA_PATH, PATH, challenge, resource_metadata
from cupel_core.interfaces.mcp.protocol import answer
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.store.settings import settings

MAX_BODY_BYTES = 1024 * 1024
_ALL, _OUTPUT = "all", "output"


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    response = serve(event, _carry_out)
    if response["statusCode"] == HTTPStatus.UNAUTHORIZED:
        response["headers"]["WWW-Authenticate"] = challenge()
    return response


def _carry_out(request: APIGatewayProxyEventV2) -> dict[str, Any]:
    if request.path == METADATA_PATH and request.http_method == "GET":
        return _metadata()
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
    asked = ToolRequest(request.request_context.request_id, who, utc_now(), _groups(request), _with_output(request))
    status, content = answer(body, request.headers, asked)
    return text_response(status, "application/json", content)


def _metadata() -> dict[str, Any]:
    """Return public metadata: a client reads them before it has a token."""
    found = resource_metadata()
    if found is None:
        raise NotFound("this stack's JWTs are not for its MCP server; use an API token")
    return text_response(HTTPStatus.OK, "application/json", orjson.dumps(found))


def _check_origin(headers: Mapping[str, str]) -> None:
    """Check the header `Origin`, which browsers send and programs on a desktop do not."""
    origin = headers.get("origin")
    if origin and origin not in settings().origins:
        raise Forbidden("pages of this origin may not use the MCP server")


def _groups(request: APIGatewayProxyEventV2) -> frozenset[ToolGroup] | None:
    """Return the groups of `?tools=read,runs`, all for `?tools=all`, or None if the address selects none."""
    selected = request.query_string_parameters.get("tools")
    if selected is None:
        return None
    names = {each.strip() for each in selected.split(",")}
    if names == {_ALL}:
        return frozenset(ToolGroup)
    if not names <= set(ToolGroup):
        raise Invalid.field("tools", f"must be {_ALL}, or some of {', '.join(ToolGroup)}, separated by commas")
    return frozenset(ToolGroup(each) for each in names)


def _with_output(request: APIGatewayProxyEventV2) -> bool:
    """Return whether `?schemas=output` requests the schemas of results, which most clients do not read."""
    selected = request.query_string_parameters.get("schemas")
    if selected not in (None, _OUTPUT):
        raise Invalid.field("schemas", f"must be {_OUTPUT} if it is given")
    return selected == _OUTPUT
