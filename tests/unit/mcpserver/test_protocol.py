"""Messages of the protocol and its versions, without a tool."""

import json
from typing import Any

import pytest

from cupel_core.contract.service import VERSION
from cupel_core.runs import queries
from tests.conftest import ROOT
from tests.lambda_context import Context
from tests.unit.api.client import event
from tests.unit.mcpserver.conftest import ENVELOPE, MODERN, McpClient, app, call

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def error(client: McpClient, body: Any, status: int = 400, **options: Any) -> dict[str, Any]:
    answer = client.send(body if isinstance(body, str) else json.dumps(body), **options)
    assert answer.status == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    return dict(answer.json())


def sample(name: str) -> Any:
    return json.loads((ROOT / "events" / f"{name}.json").read_text())


@pytest.mark.parametrize(("name", "status"), [("mcpserver-unauthorized", 401), ("mcpserver-list-tools", 200)])
def test_a_sample_is_answered(client: McpClient, name: str, status: int) -> None:
    assert app.handler(sample(name), Context())["statusCode"] == status


def test_without_a_token_the_answer_is_a_problem_document(client: McpClient) -> None:
    answer = client.send(json.dumps(PING), token="cupel_unknown")
    assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_streams_and_no_sessions(client: McpClient, method: str) -> None:
    answer = client.send(None, method=method)
    assert (answer.status, answer.headers["Allow"]) == (405, "OPTIONS, POST")


def test_pages_of_foreign_origins_are_refused(client: McpClient) -> None:
    body = json.dumps(PING)
    assert client.send(body, headers={"Origin": "https://evil.example"}).status == 403
    assert client.send(body, headers={"Origin": "null"}).status == 403
    answer = client.send(body, headers={"Origin": "http://localhost:5173"})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, "http://localhost:5173")


def test_other_content_types_and_large_bodies_are_refused(client: McpClient) -> None:
    assert client.send("a=b", headers={"Content-Type": "text/plain"}).status == 415
    assert client.send(json.dumps({**PING, "params": {"a": "x" * 1_100_000}})).status == 413


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ("[" * 3_000, -32700),
        ("", -32700),
        ([PING], -32600),
        ([], -32600),
        ("1", -32600),
        ({**PING, "jsonrpc": "1.0"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, -32600),
        ({**PING, "method": 7}, -32600),
        ({**PING, "id": None}, -32600),
        ({**PING, "id": True}, -32600),
        ({**PING, "id": "x" * 2_000}, -32600),
    ],
)
def test_what_is_no_message_is_refused(client: McpClient, body: Any, code: int) -> None:
    answered = error(client, body)
    sent_id = 1 if isinstance(body, dict) and body["id"] == 1 and body["id"] is not True else None
    assert (answered["jsonrpc"], answered["id"], answered["error"]["code"]) == ("2.0", sent_id, code)


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ('"params": []', -32602),
        ('"params": null', -32602),
        ('"params": {"a": "\\ud83d"}', -32700),
    ],
)
def test_an_error_has_the_id_of_its_message(client: McpClient, rest: str, code: int) -> None:
    answered = error(client, f'{{"jsonrpc": "2.0", "id": 7, "method": "ping", {rest}}}')
    assert (answered["id"], answered["error"]["code"]) == (7, code)


def test_an_unexpected_error_is_an_answer_with_the_id(client: McpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("secret")

    monkeypatch.setattr(queries, "get_run", fail)
    arguments = {"name": "get_run", "arguments": {"run_id": "a"}}
    answered = error(client, {**PING, "id": 7, "method": "tools/call", "params": arguments}, 200)
    assert (answered["id"], answered["error"]) == (7, {"code": -32603, "message": "internal error"})


@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2025-06-18"}, {"MCP-Protocol-Version": MODERN}])
def test_notifications_are_accepted_without_an_answer(client: McpClient, headers: dict[str, str]) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    answer = client.send(body, headers=headers)
    assert (answer.status, answer.text) == (202, "")


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_handshake_agrees_to_a_version_that_the_server_has(client: McpClient, version: str) -> None:
    result = handshake(client, version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "cupel", "title": "Cupel", "version": VERSION}
    assert "tools" in result["capabilities"]
    assert "resultType" not in result


@pytest.mark.parametrize("version", ["2024-11-05", "1999-01-01", MODERN, 7, None])
def test_the_handshake_offers_its_newest_version_instead_of_others(client: McpClient, version: Any) -> None:
    assert handshake(client, version)["protocolVersion"] == "2025-11-25"


def handshake(client: McpClient, version: Any) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = client.send(json.dumps({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}))
    assert answer.status == 200
    assert answer.json()["id"] == "a"
    return dict(answer.json()["result"])


def test_after_a_handshake_requests_need_no_envelope(client: McpClient) -> None:
    answer = client.send(json.dumps({**PING, "method": "tools/list"}), headers={"MCP-Protocol-Version": "2025-11-25"})
    assert answer.status == 200
    assert {"list_runs", "get_run"} <= {each["name"] for each in answer.json()["result"]["tools"]}


def test_errors_of_methods_are_answered_with_200_before_2026(client: McpClient) -> None:
    assert error(client, {**PING, "method": "server/discover"}, 200)["error"]["code"] == -32601
    unknown = {**PING, "method": "tools/call", "params": {"name": "no_such_tool"}}
    assert error(client, unknown, 200)["error"]["code"] == -32602


def test_discovery_replaces_the_handshake(client: McpClient) -> None:
    result = client.result("server/discover")
    assert result["supportedVersions"] == [MODERN]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == VERSION
    for method in ("initialize", "ping", "resources/subscribe", "logging/setLevel"):
        answer = client.message(method)
        assert (answer.status, answer.json()["error"]["code"]) == (404, -32601)


def test_lists_say_how_long_they_may_be_used(client: McpClient) -> None:
    result = client.result("tools/list")
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (300_000, "private", "complete")


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
        ({"Mcp-Method": "tools/call"}, -32020),
        ({"Mcp-Method": "tools/list, tools/list"}, -32020),
    ],
)
def test_headers_that_contradict_the_message_are_refused(client: McpClient, changed: dict[str, str], code: int) -> None:
    answer = client.message("tools/list", headers=changed)
    assert (answer.status, answer.json()["error"]["code"]) == (400, code)


@pytest.mark.parametrize("name", ["", "get_run", "=?base64?!?=", "=?base64?Z2V0X3J1bg==?="])
def test_the_name_in_the_headers_must_be_that_of_the_tool(client: McpClient, name: str) -> None:
    params = {"name": "list_runs", "arguments": {}}
    answer = client.message("tools/call", params, headers={"Mcp-Name": name})
    assert (answer.status, answer.json()["error"]["code"]) == (400, -32020)


def test_a_name_in_base64_is_decoded(client: McpClient) -> None:
    params = {"name": "list_runs", "arguments": {}}
    assert client.message("tools/call", params, headers={"Mcp-Name": "=?base64?bGlzdF9ydW5z?="}).status == 200


def test_an_unknown_version_is_refused_with_those_that_the_server_has(client: McpClient) -> None:
    params = {"_meta": {**ENVELOPE, VERSION_KEY: "2099-01-01"}}
    answer = client.message("tools/list", params, headers={"MCP-Protocol-Version": "2099-01-01"})
    assert (answer.status, answer.json()["error"]["code"]) == (400, -32022)
    assert answer.json()["error"]["data"] == {"supported": [MODERN], "requested": "2099-01-01"}


def test_the_envelope_is_required(client: McpClient) -> None:
    for meta in ({}, {VERSION_KEY: MODERN}, "x", None):
        answer = client.message("tools/list", {"_meta": meta})
        assert (answer.status, answer.json()["error"]["code"]) == (400, -32602)


def test_a_plain_request_of_an_unknown_version_is_refused_with_those_that_the_server_has(client: McpClient) -> None:
    refused = error(client, {**PING, "method": "tools/list"}, headers={"MCP-Protocol-Version": "2024-11-05"})["error"]
    assert (refused["code"], refused["data"]["requested"]) == (-32022, "2024-11-05")
    assert refused["data"]["supported"] == [MODERN, "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
def test_a_cursor_that_was_not_given_out_is_refused(client: McpClient, method: str) -> None:
    answer = client.message(method, {"cursor": "none"})
    assert (answer.status, answer.json()["error"]["code"]) == (400, -32602)


def test_an_id_may_have_a_zero_fraction(client: McpClient) -> None:
    answer = client.send('{"jsonrpc": "2.0", "id": 1.0, "method": "ping"}')
    assert (answer.status, answer.json()["id"]) == (200, 1)
    for invalid in ("1.5", "18446744073709551616"):
        refused = error(client, f'{{"jsonrpc": "2.0", "id": {invalid}, "method": "ping"}}')
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)


def test_arguments_must_be_an_object(client: McpClient) -> None:
    answer = client.message("tools/call", {"name": "list_runs", "arguments": []})
    assert (answer.status, answer.json()["error"]["code"]) == (400, -32602)


def test_the_path_is_the_only_one(client: McpClient) -> None:
    assert call(event("POST", "/v1/mcp/x")).status == 404


def test_a_page_may_send_the_headers_of_the_protocol(client: McpClient) -> None:
    answer = client.request("OPTIONS", "/v1/mcp", headers={"Origin": "http://localhost:5173"})
    allowed = answer.headers["Access-Control-Allow-Headers"]
    assert {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} <= set(allowed.split(", "))
