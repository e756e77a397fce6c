"""Messages of MCP from a desktop client to the stack: with the headers that HTTP requires, and errors as messages."""

import base64
import json
import re
from typing import Any

from cupel.client import Client
from cupel.errors import CupelError

_NAME_KEYS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_VISIBLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_PARSE_ERROR = -32700
_INTERNAL_ERROR = -32603


def answer(client: Client, line: str, tools: str | None = None) -> str | None:
    """The message to answer a line with, without line breaks; None if there is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, _PARSE_ERROR, "the line is not valid JSON")
    try:
        reply = client.send_mcp_message(line, _headers(message), tools)
    except CupelError as error:
        if isinstance(message, dict) and "id" not in message:
            return None
        return _error(_object(message).get("id"), _INTERNAL_ERROR, str(error))
    return reply and " ".join(reply.splitlines())


def _headers(message: Any) -> dict[str, str]:
    """Since 2026-07-28, headers repeat what a message says."""
    params = _object(_object(message).get("params"))
    version = _object(params.get("_meta")).get("io.modelcontextprotocol/protocolVersion")
    if version is None:
        return {}
    method = message.get("method")
    name = params.get(_NAME_KEYS[method]) if isinstance(method, str) and method in _NAME_KEYS else None
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name}
    return {header: _encoded(value) for header, value in headers.items() if isinstance(value, str)}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _encoded(value: str) -> str:
    """Values that a header cannot carry are sent in base64."""
    if _VISIBLE.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="


def _error(message_id: Any, code: int, text: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}})
