"""The methods of MCP that the server has, by name, and how a tool is called."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import AppError, Forbidden
from cupel_core.contract.common import ResponseModel
from cupel_core.interfaces.gateway.auditing import Author, record_change
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp import prompts, resources
from cupel_core.interfaces.mcp.listing import list_tools
from cupel_core.interfaces.mcp.problems import problem_of
from cupel_core.interfaces.mcp.registry import McpTool, ToolEffect, find_tool
from cupel_core.interfaces.mcp.request import MAX_RESULT_BYTES, ToolRequest
from cupel_core.interfaces.mcp.results import dump, fit
from cupel_core.interfaces.mcp.versions import HANDSHAKE_VERSIONS, INSTRUCTIONS, MODERN_VERSION, SERVER_INFO
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.unexpected_errors import from_unexpected

INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603
_LIST_TTL_MS = 300_000
_CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}


class RpcError(Exception):
    """An error of the protocol; what a tool cannot do is a result of the tool."""

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
    """How long the client may use the result again; None if it may not say so."""

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
    """Lists of the protocol are whole, so that no cursor has been given out."""
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
        raise _refusal(INVALID_PARAMS, problem_of(error, request.id)) from None
    except AWS_ERRORS as error:
        raise _refusal(_INTERNAL_ERROR, problem_of(from_unexpected(error), request.id)) from None
    if found is None:
        raise RpcError(INVALID_PARAMS, "there is no such resource; resources/list and templates name them")
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


def call_tool(tool: McpTool, request: ToolRequest, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result as JSON and as text, or what is wrong, which the model may correct."""
    max_bytes = min(tool.max_bytes, MAX_RESULT_BYTES)
    try:
        result = _carry_out(tool, replace(request, max_result_bytes=max_bytes), arguments)
        content = fit(result, max_bytes)
    except AppError as error:
        return _failed(tool, error, request)
    except AWS_ERRORS as error:
        return _failed(tool, from_unexpected(error), request)
    return {"content": [_text(content)], "structuredContent": content, "isError": False}


def _carry_out(tool: McpTool, request: ToolRequest, arguments: Mapping[str, Any]) -> Any:
    """The tool's result. Changes are recorded, and refusals of changes because of the role."""
    try:
        _check_permission(tool, request)
        result = tool.function(request, parse(tool.arguments, arguments, ""))
    except Exception as error:
        _audit(tool, request, arguments, error)
        raise
    _audit(tool, request, arguments, result)
    return result


def _check_permission(tool: McpTool, request: ToolRequest) -> None:
    if tool.group not in request.groups:
        raise Forbidden(f"{tool.name} is not among the tools that the address selects with `?tools=`")
    role = request.caller.role
    if not tool.operation.permits(role):
        raise Forbidden(f"{tool.name} requires the role {tool.operation.minimum_role}; this token has {role}")


def _audit(tool: McpTool, request: ToolRequest, arguments: Mapping[str, Any], outcome: Any) -> None:
    if tool.effect is ToolEffect.READ:
        return
    made = dump(outcome) if isinstance(outcome, ResponseModel) else outcome
    record_change(tool.operation, Author(request.id, request.caller, request.now), arguments, made)


def _failed(tool: McpTool, error: AppError, request: ToolRequest) -> dict[str, Any]:
    return {"content": [_text(problem_of(error, request.id, tool))], "isError": True}


def _text(content: dict[str, Any]) -> dict[str, str]:
    return {"type": "text", "text": orjson.dumps(content).decode()}
