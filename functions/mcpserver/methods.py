"""The methods of MCP that the server has, by name."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mcpserver.calls import call_tool, list_tools
from mcpserver.registry import find_tool
from mcpserver.request import ToolRequest
from mcpserver.versions import HANDSHAKE_VERSIONS, INSTRUCTIONS, MODERN_VERSION, SERVER_INFO

_INVALID_PARAMS = -32602
_LIST_TTL_MS = 300_000
_CAPABILITIES: dict[str, Any] = {"tools": {}}


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


def _list_tools(request: ToolRequest, _: Mapping[str, Any]) -> dict[str, Any]:
    return {"tools": list_tools(request)}


def _call_tool(request: ToolRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments")
    tool = find_tool(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(_INVALID_PARAMS, "there is no tool of this name; tools/list names them")
    if arguments is not None and not isinstance(arguments, dict):
        raise RpcError(_INVALID_PARAMS, "`params.arguments` must be an object")
    return call_tool(tool, request, arguments or {})


METHODS = {
    "initialize": RpcMethod(_initialize, is_modern=False),
    "ping": RpcMethod(_ping, is_modern=False),
    "server/discover": RpcMethod(_discover, of_handshake=False, ttl_ms=_LIST_TTL_MS),
    "tools/list": RpcMethod(_list_tools, ttl_ms=_LIST_TTL_MS),
    "tools/call": RpcMethod(_call_tool),
}
