"""`cupel mcp`: the bridge between standard input and output and the stack."""

import json
from threading import Event
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.commands.mcp import pass_messages
from cupel.session import Session
from tests.unit.cupel.fake_api import Connect, Cupel, FakeApi

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
    api.refusals = [httpx.Response(401, json=problem, headers=headers)]
    (refused,) = replies(cupel("mcp", stdin=lines(CALL)).stdout)
    api.refusals = [httpx.ConnectError("refused")]
    (lost,) = replies(cupel("mcp", stdin=lines(CALL)).stdout)
    assert (refused["id"], refused["error"]["code"]) == (7, -32603)
    assert "the token is not known" in refused["error"]["message"]
    assert "cannot be reached" in lost["error"]["message"]


@pytest.mark.parametrize("line", ["{", "[" * 100_000])
def test_a_line_that_is_no_json_is_answered_without_a_request(api: FakeApi, cupel: Cupel, line: str) -> None:
    (reply,) = replies(cupel("mcp", stdin=f"{line}\n").stdout)
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)
    assert api.requests == []


@pytest.mark.parametrize(
    ("response", "named"),
    [
        (httpx.Response(503, json={"message": "Service Unavailable"}), "HTTP 503 Service Unavailable"),
        (httpx.Response(500, json={"message": "Internal Server Error"}), "HTTP 500"),
        (httpx.Response(403, json={"message": "Forbidden"}), "HTTP 403 Forbidden"),
        (httpx.Response(502, text="<html>bad</html>"), "HTTP 502 Bad Gateway"),
        (httpx.Response(200, json={"hello": 1}), "Not a response of the MCP server"),
        (httpx.Response(200, json=[1]), "did not return a JSON object"),
        (httpx.Response(200), "the answer is empty"),
        (httpx.Response(200, json={**RESULT, "id": 8}), "the answer is to another message"),
    ],
)
def test_what_is_no_answer_of_the_server_is_an_error_of_the_message(
    api: FakeApi, cupel: Cupel, response: httpx.Response, named: str
) -> None:
    api.refusals = [response]
    (reply,) = replies(cupel("mcp", stdin=lines(CALL)).stdout)
    assert (reply["jsonrpc"], reply["id"], reply["error"]["code"]) == ("2.0", 7, -32603)
    assert named in reply["error"]["message"]
    api.refusals = [response]
    assert cupel("mcp", stdin=lines(NOTIFICATION)).stdout == ""


def test_an_error_without_an_id_gets_that_of_the_message(api: FakeApi, cupel: Cupel) -> None:
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no"}}
    api.refusals = [httpx.Response(400, json=refusal)]
    line = '{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}\n'
    assert replies(cupel("mcp", stdin=line).stdout) == [{**refusal, "id": "\ud83d"}]


def test_texts_are_utf_8_whatever_the_encoding_of_the_pipes(api: FakeApi, connect: Connect) -> None:
    texts = {"jsonrpc": "2.0", "id": 7, "result": {"t": "ö\u2028\x85 日"}}
    api.refusals = [httpx.Response(200, content=json.dumps(texts, ensure_ascii=False).encode())]
    call = json.dumps({**CALL, "params": {"name": "größe"}}, ensure_ascii=False)
    line = b"\xef\xbb\xbf" + call.encode() + b"\n"
    result = CliRunner(charset="cp1252").invoke(app, ["mcp"], input=line, obj=Session(connect=connect))
    assert [json.loads(each) for each in result.stdout_bytes.split(b"\n")[:-1]] == [texts]
    assert json.loads(api.requests[0].content)["params"]["name"] == "größe"


def test_bytes_that_are_no_utf_8_are_refused_and_the_next_line_is_answered(api: FakeApi, cupel: Cupel) -> None:
    api.refusals = [httpx.Response(200, json=RESULT)]
    result = cupel("mcp", stdin=b'{"jsonrpc": "2.0", "id": 7, "method": "a\xff"}\n' + lines(CALL).encode())
    answered = sorted(replies(result.stdout), key=lambda each: "error" in each)
    assert (result.exit_code, answered[0], answered[1]["error"]["code"]) == (0, RESULT, -32700)


def test_messages_are_answered_while_an_earlier_one_waits() -> None:
    first_answered = Event()
    written: list[bytes] = []

    class Waiting(Client):
        def send_mcp_message(self, message: str, headers: Any, tools: str | None = None) -> Any:  # noqa: ARG002
            number = json.loads(message)["id"]
            if number == 1:
                assert first_answered.wait(30)
            return {**RESULT, "id": number}

    def write(line: bytes) -> None:
        written.append(line)
        first_answered.set()

    client = Waiting("http://api.test", "cupel_token", source="a test")
    pass_messages(client, [json.dumps({**CALL, "id": number}).encode() for number in (1, 2)], write, None)
    assert [json.loads(each)["id"] for each in written] == [2, 1]


def test_a_lost_output_ends_the_command() -> None:
    def write(_: bytes) -> None:
        raise BrokenPipeError

    client = Client("http://api.test", "cupel_token", source="a test")
    with pytest.raises(BrokenPipeError):
        pass_messages(client, [b"{", b"{"], write, None)
