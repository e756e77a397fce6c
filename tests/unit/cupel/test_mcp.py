"""`cupel mcp`: the bridge between standard input and output and the stack."""

import json
from typing import Any

import httpx
import pytest

from tests.unit.cupel.fake_api import Cupel, FakeApi

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "get_run", "arguments": {}}}
RESULT = {"jsonrpc": "2.0", "id": 7, "result": {}}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def lines(*messages: Any) -> str:
    return "".join(f"{json.dumps(message)}\n" for message in messages)


def replies(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_message_is_posted_and_its_answer_printed_on_one_line(api: FakeApi, cupel: Cupel) -> None:
    api.refusals = [
        httpx.Response(200, text=json.dumps(RESULT, indent=2), headers={"Content-Type": "application/json"})
    ]
    result = cupel("mcp", "--tools", "read,runs", stdin=lines(CALL) + "\n")
    assert (result.exit_code, replies(result.stdout)) == (0, [RESULT])
    (request,) = api.requests
    assert (request.method, request.url.path, request.url.params["tools"]) == ("POST", "/v1/mcp", "read,runs")
    assert json.loads(request.content) == CALL
    assert request.headers["Authorization"].startswith("Bearer ")
    assert "MCP-Protocol-Version" not in request.headers


@pytest.mark.parametrize(("name", "header"), [("get_run", "get_run"), ("größe", "=?base64?Z3LDtsOfZQ==?=")])
def test_headers_repeat_what_a_message_of_2026_says(api: FakeApi, cupel: Cupel, name: str, header: str) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    api.refusals = [httpx.Response(200, json=RESULT)]
    cupel("mcp", stdin=lines({**CALL, "params": {"name": name, "_meta": meta}}))
    headers = api.requests[0].headers
    sent = [headers[key] for key in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")]
    assert sent == ["2026-07-28", "tools/call", header]


def test_a_notification_has_no_answer(api: FakeApi, cupel: Cupel) -> None:
    refused = httpx.Response(401, json={"title": "Unauthorized"}, headers={"Content-Type": "application/problem+json"})
    api.refusals = [httpx.Response(202), refused]
    assert cupel("mcp", stdin=lines(NOTIFICATION, NOTIFICATION)).stdout == ""


def test_errors_of_the_protocol_are_passed_on(api: FakeApi, cupel: Cupel) -> None:
    refusal = {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "method not found"}}
    api.refusals = [httpx.Response(404, json=refusal)]
    assert replies(cupel("mcp", stdin=lines(CALL)).stdout) == [refusal]


def test_a_refused_token_and_a_lost_connection_are_errors_of_the_message(api: FakeApi, cupel: Cupel) -> None:
    problem = {"title": "Unauthorized", "status": 401, "detail": "the token is not known"}
    headers = {"Content-Type": "application/problem+json"}
    api.refusals = [httpx.Response(401, json=problem, headers=headers), httpx.ConnectError("refused")]
    refused, lost = replies(cupel("mcp", stdin=lines(CALL, CALL)).stdout)
    assert (refused["id"], refused["error"]["code"]) == (7, -32603)
    assert "the token is not known" in refused["error"]["message"]
    assert "cannot be reached" in lost["error"]["message"]


@pytest.mark.parametrize("line", ["{", "[" * 100_000])
def test_a_line_that_is_no_json_is_answered_without_a_request(api: FakeApi, cupel: Cupel, line: str) -> None:
    (reply,) = replies(cupel("mcp", stdin=f"{line}\n").stdout)
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)
    assert api.requests == []
