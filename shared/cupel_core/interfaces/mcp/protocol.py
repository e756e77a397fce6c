"""Answers JSON-RPC messages of MCP statelessly: one request, one response, nothing stored between them.

Since 2026-07-28 each request carries its protocol version and the client's capabilities in `_meta`, and repeats its
method and name in headers, for proxies. Earlier versions begin with a handshake, `initialize`, which needs no session.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import public_detail
from cupel_core.interfaces.mcp.methods import INVALID_PARAMS, METHODS, RESOURCE_NOT_FOUND, RpcError, RpcMethod
from cupel_core.interfaces.mcp.numbers import as_integer
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.versions import HANDSHAKE_VERSIONS, MODERN_VERSION, SERVER_INFO
from cupel_core.store.unexpected_errors import from_unexpected

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
_STATUSES = {METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND, INTERNAL_ERROR: HTTPStatus.OK}
_META = "io.modelcontextprotocol/"
_VERSION_HEADER = "mcp-protocol-version"
_NAME_KEYS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_ID_LENGTH = 1_000
_MAX_ID = 2**63


class RpcReply(NamedTuple):
    status: int
    body: bytes
    """Empty for a notification."""


class RpcMessage(NamedTuple):
    id: str | int | None
    method: str
    params: Mapping[str, Any]

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def answer(body: bytes | str, headers: Mapping[str, str], request: ToolRequest) -> RpcReply:
    """Return the response to a POST. Errors of a message have the HTTP status that its version of the protocol
    requires."""
    try:
        sent = orjson.loads(body)
    except ValueError:
        refusal = RpcError(PARSE_ERROR, "the body is not valid JSON of texts that UTF-8 can represent")
        return _error(_id_of(_read_leniently(body)), refusal, HTTPStatus.BAD_REQUEST)
    try:
        message = _parse(sent)
        is_modern = _is_modern(message, headers)
        if message.id is None:
            _check_version(headers.get(_VERSION_HEADER, MODERN_VERSION) if is_modern else MODERN_VERSION)
            return RpcReply(HTTPStatus.ACCEPTED, b"")
        return _respond(message, headers, request, is_modern=is_modern)
    except RpcError as error:
        status = _STATUSES.get(error.code, HTTPStatus.BAD_REQUEST)
        return _error(_id_of(sent), error, status)
    except Exception as error:  # noqa: BLE001 - from_unexpected logs it
        refusal = RpcError(INTERNAL_ERROR, public_detail(from_unexpected(error)))
        return _error(_id_of(sent), refusal, HTTPStatus.OK)


def _read_leniently(body: bytes | str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _id_of(sent: Any) -> str | int | None:
    found = as_integer(sent.get("id")) if isinstance(sent, dict) else None
    if isinstance(found, str):
        return found if len(found) <= _MAX_ID_LENGTH and not _SURROGATE.search(found) else None
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if abs(found) <= _MAX_ID else None


def _parse(sent: Any) -> RpcMessage:
    if isinstance(sent, list):
        raise RpcError(INVALID_REQUEST, "batches are not accepted; send one message per request")
    if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0" or not isinstance(sent.get("method"), str):
        raise RpcError(INVALID_REQUEST, "the body must be one JSON-RPC 2.0 request or notification")
    message_id, params = as_integer(sent.get("id")), sent.get("params", {})
    if "id" in sent and (isinstance(message_id, bool) or not isinstance(message_id, str | int)):
        raise RpcError(INVALID_REQUEST, "`id` must be a string or an integer")
    if isinstance(message_id, str) and len(message_id) > _MAX_ID_LENGTH:
        raise RpcError(INVALID_REQUEST, f"`id` must have at most {_MAX_ID_LENGTH:,} characters")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "`params` must be an object")
    return RpcMessage(message_id, sent["method"], params)


def _is_modern(message: RpcMessage, headers: Mapping[str, str]) -> bool:
    """Return whether a message has a version without a handshake, or claims an unknown version."""
    version = headers.get(_VERSION_HEADER)
    return (version is not None and version not in HANDSHAKE_VERSIONS) or f"{_META}protocolVersion" in message.meta


def _respond(message: RpcMessage, headers: Mapping[str, str], request: ToolRequest, *, is_modern: bool) -> RpcReply:
    if is_modern:
        _check_envelope(message, headers)
        method = _method(message)
        result = {**_modern_result(method, message, request), **method.caching, "resultType": "complete"}
        return _result(message, {**result, "_meta": {f"{_META}serverInfo": SERVER_INFO}})
    try:
        return _result(message, _method(message, of_handshake=True).function(request, message.params))
    except RpcError as error:
        # Errors of a method are no errors of HTTP before 2026-07-28.
        return _error(message.id, error, HTTPStatus.OK)


def _modern_result(method: RpcMethod, message: RpcMessage, request: ToolRequest) -> dict[str, Any]:
    try:
        return method.function(request, message.params)
    except RpcError as error:
        code = INVALID_PARAMS if error.code == RESOURCE_NOT_FOUND else error.code
        raise RpcError(code, error.message, error.data) from None


def _method(message: RpcMessage, *, of_handshake: bool = False) -> RpcMethod:
    method = METHODS.get(message.method)
    if method is None or not (method.of_handshake if of_handshake else method.is_modern):
        raise RpcError(METHOD_NOT_FOUND, "method not found", message.method[:_MAX_ID_LENGTH])
    return method


def _check_envelope(message: RpcMessage, headers: Mapping[str, str]) -> None:
    missing = [key for key in ("protocolVersion", "clientCapabilities") if f"{_META}{key}" not in message.meta]
    if missing:
        if "protocolVersion" in missing:
            _check_version(headers[_VERSION_HEADER], (MODERN_VERSION, *HANDSHAKE_VERSIONS))
        raise RpcError(INVALID_PARAMS, f"`params._meta` must have {' and '.join(_META + key for key in missing)}")
    version = message.meta[f"{_META}protocolVersion"]
    if not isinstance(version, str) or headers.get(_VERSION_HEADER) != version:
        raise RpcError(HEADER_MISMATCH, "MCP-Protocol-Version must be the protocol version of `params._meta`")
    if headers.get("mcp-method") != message.method:
        raise RpcError(HEADER_MISMATCH, "Mcp-Method must be the method of the request")
    key = _NAME_KEYS.get(message.method)
    name = message.params.get(key) if key else None
    if name is not None and _decoded(headers.get("mcp-name")) != name:
        raise RpcError(HEADER_MISMATCH, f"Mcp-Name must be `params.{key}` of the request")
    _check_version(version)


def _check_version(version: str, supported: tuple[str, ...] = (MODERN_VERSION,)) -> None:
    if version != MODERN_VERSION:
        data = {"supported": list(supported), "requested": version[:_MAX_ID_LENGTH]}
        raise RpcError(UNSUPPORTED_VERSION, "unsupported protocol version", data)


def _decoded(header: str | None) -> str | None:
    """Decode a header: values that a header cannot carry are sent in base64."""
    encoded = _ENCODED.fullmatch(header or "")
    if encoded is None:
        return header
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _result(message: RpcMessage, result: Mapping[str, Any]) -> RpcReply:
    return RpcReply(HTTPStatus.OK, orjson.dumps({"jsonrpc": "2.0", "id": message.id, "result": result}))


def _error(message_id: str | int | None, error: RpcError, status: HTTPStatus) -> RpcReply:
    described = {"code": error.code, "message": error.message} | ({} if error.data is None else {"data": error.data})
    return RpcReply(status, orjson.dumps({"jsonrpc": "2.0", "id": message_id, "error": described}))
