"""`cupel mcp` serves MCP on standard input and output, for programs on a desktop."""

import base64
import json
import re
import sys
from collections.abc import Callable, Iterable
from threading import Lock, Semaphore
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cupel.errors import ApiProblem, CupelError
from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client

_NAME_KEYS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_VISIBLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_MAX_REQUESTS = 4
"""Number of requests that are answered at a time."""
_PARSE_ERROR = -32700
_INTERNAL_ERROR = -32603


def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS", help="Tools of these groups: read, authoring, runs, analysis, admin, with commas; or all."
        ),
    ] = None,
) -> None:
    """Pass messages of the Model Context Protocol between standard input and output and the stack, one a line."""

    def write(reply: bytes) -> None:
        sys.stdout.buffer.write(reply)
        sys.stdout.buffer.flush()

    session = ctx.ensure_object(Session)
    with session.connect() as client:
        # Bytes are used because the encoding of pipes is not UTF-8 everywhere.
        pass_messages(client, sys.stdin.buffer, write, tools)


def pass_messages(
    client: "Client", lines: Iterable[bytes], write: Callable[[bytes], object], tools: str | None
) -> None:
    """Answer lines, several at a time: replies have ids, and may come in another order.

    `write` gets a whole line and is never called by two threads at once.
    """
    from concurrent.futures import ThreadPoolExecutor

    free, lock = Semaphore(_MAX_REQUESTS), Lock()
    failures: list[Exception] = []

    def pass_on(line: bytes) -> None:
        try:
            reply = answer(client, line, tools)
            if reply is not None:
                with lock:
                    write(reply + b"\n")
        except Exception as failure:  # noqa: BLE001 (raised below, in the main thread)
            failures.append(failure)
        finally:
            free.release()

    with ThreadPoolExecutor(_MAX_REQUESTS) as threads:
        for line in lines:
            if failures:
                break
            if line.strip():
                free.acquire()
                threads.submit(pass_on, line)
    if failures:
        raise failures[0]


def answer(client: "Client", line: bytes, tools: str | None = None) -> bytes | None:
    try:
        text = line.decode("utf-8-sig")
        message = json.loads(text)
    except UnicodeDecodeError:
        return _error(None, _PARSE_ERROR, "the line is not valid UTF-8")
    except (ValueError, RecursionError):
        return _error(None, _PARSE_ERROR, "the line is not valid JSON")
    message_id = _object(message).get("id")
    is_notification = "method" in _object(message) and "id" not in message
    try:
        reply = client.send_mcp_message(text, _headers(message), tools)
    except ApiProblem as problem:
        return None if is_notification else _error(message_id, _INTERNAL_ERROR, f"HTTP {problem}")
    except CupelError as error:
        return None if is_notification else _error(message_id, _INTERNAL_ERROR, str(error))
    if is_notification:
        return None
    if reply is None:
        return _error(message_id, _INTERNAL_ERROR, "the answer is empty")
    if reply.get("id") is None and "error" in reply:
        reply = {**reply, "id": message_id}
    if reply.get("id") != message_id:
        return _error(message_id, _INTERNAL_ERROR, "the answer is to another message")
    return _line(reply)


def _headers(message: Any) -> dict[str, str]:
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
    """Encode in base64 values that a header cannot carry."""
    if _VISIBLE.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="


def _error(message_id: Any, code: int, text: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}})


def _line(message: Json) -> bytes:
    """Write ASCII: ids may have lone surrogates, and some clients end lines at more than line feeds."""
    return json.dumps(message).encode()
