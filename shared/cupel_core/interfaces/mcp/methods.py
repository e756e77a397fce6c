from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import AppError, Forbidden, NotFound
from cupel_core.interfaces.mcp import prompts, resources
from cupel_core.interfaces.mcp.listing import list_tools
from cupel_core.interfaces.mcp.problems import problem_of
from cupel_core.interfaces.mcp.registry import AnyTool, find_tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.versions import HANDSHAKE_VERSIONS, INSTRUCTIONS, MODERN_VERSION, SERVER_INFO
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.unexpected_errors import from_unexpected

INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
"""Handshake versions have this code; 2026-07-28 has INVALID_PARAMS instead."""
_INTERNAL_ERROR = -32603
_LIST_TTL_MS = 300_000
_CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}


class RpcError(Exception):
    """An error of the protocol is raised; a failure of a tool is a result of the tool instead."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class RpcMethod(NamedTuple):
    function: Callable[[ToolRequest, Mapping[str, Any]], dict[str, Any]]
    is_modern: bool = True
    of_handshake: bool = True
    ttl_ms: int | None = None
    """The client may use the result again for this long; None if the result does not say so."""

    @property
    def caching(self) -> dict[str, Any]:
        return {} if self.ttl_ms is None else {"ttlMs": self.ttl_ms, "cacheScope": "private"}


def _initialize(_: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": _CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": INSTRUCTIONS,
    }


def _discover(_: ToolRequest, __: Mapping[str, Any]) -> dict[str, Any]:
    return {"supportedVersions": [MODERN_VERSION], "capabilities": _CAPABILITIES, "instructions": INSTRUCTIONS}


def _ping(_: ToolRequest, __: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _check_cursor(params: Mapping[str, Any]) -> None:
    """Refuse a cursor: lists of the protocol are whole, so the server never returns one."""
    if params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "there is no such cursor; the list has one page")


def _list_tools(request: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    _check_cursor(params)
    return {"tools": list_tools(request)}


def _call_tool(request: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments")
    tool = find_tool(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, "there is no tool of this name; tools/list names them")
    if arguments is not None and not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "`params.arguments` must be an object")
    return call_tool(tool, request, arguments or {})


def _list_resources(_: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    _check_cursor(params)
    return {"resources": resources.list_resources()}


def _list_templates(_: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    _check_cursor(params)
    return {"resourceTemplates": resources.list_templates()}


def _read_resource(request: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    uri = params.get("uri")
    try:
        found = resources.read_resource(request, uri) if isinstance(uri, str) else None
    except AppError as error:
        code = RESOURCE_NOT_FOUND if error.status == NotFound.status else INVALID_PARAMS
        raise _refusal(code, problem_of(error, request.id)) from None
    except AWS_ERRORS as error:
        raise _refusal(_INTERNAL_ERROR, problem_of(from_unexpected(error), request.id)) from None
    if found is None:
        raise RpcError(RESOURCE_NOT_FOUND, "there is no such resource; resources/list and templates name them")
    return found


def _refusal(code: int, problem: dict[str, Any]) -> RpcError:
    return RpcError(code, problem["detail"], problem)


def _list_prompts(_: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    _check_cursor(params)
    return {"prompts": prompts.list_prompts()}


def _get_prompt(_: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    name, values = params.get("name"), params.get("arguments") or {}
    prompt = prompts.PROMPTS.get(name) if isinstance(name, str) else None
    if prompt is None:
        raise RpcError(INVALID_PARAMS, "there is no prompt of this name; prompts/list names them")
    error = prompts.argument_errors(prompt, values if isinstance(values, dict) else {})
    if error is not None:
        raise RpcError(INVALID_PARAMS, error)
    return prompts.render(prompt, values)


METHODS = {
    "initialize": RpcMethod(_initialize, is_modern=False),
    "ping": RpcMethod(_ping, is_modern=False),
    "server/discover": RpcMethod(_discover, of_handshake=False, ttl_ms=_LIST_TTL_MS),
    "tools/list": RpcMethod(_list_tools, ttl_ms=_LIST_TTL_MS),
    "tools/call": RpcMethod(_call_tool),
    "resources/list": RpcMethod(_list_resources, ttl_ms=_LIST_TTL_MS),
    "resources/templates/list": RpcMethod(_list_templates, ttl_ms=_LIST_TTL_MS),
    "resources/read": RpcMethod(_read_resource, ttl_ms=0),
    "prompts/list": RpcMethod(_list_prompts, ttl_ms=_LIST_TTL_MS),
    "prompts/get": RpcMethod(_get_prompt),
}


def call_tool(tool: AnyTool, request: ToolRequest, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if request.groups is not None and tool.group not in request.groups:
            raise Forbidden(f"{tool.name} is not among the tools that the address selects with `?tools=`")
        content = tool.run(request, arguments)
    except AppError as error:
        return _failed(tool, error, request)
    except AWS_ERRORS as error:
        return _failed(tool, from_unexpected(error), request)
    return {"content": [_text(content)], "structuredContent": content, "isError": False}


def _failed(tool: AnyTool, error: AppError, request: ToolRequest) -> dict[str, Any]:
    return {"content": [_text(problem_of(error, request.id, tool))], "isError": True}


def _text(content: dict[str, Any]) -> dict[str, str]:
    return {"type": "text", "text": orjson.dumps(content).decode()}
