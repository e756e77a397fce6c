"""Calls that a connector of type `tools` executes: the request, its signature, its answers and its failures."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import orjson
import pytest
from aiohttp import web

from cupel_core.conversations.tool_connector import ConnectorTools
from cupel_core.conversations.tool_execution import ToolError
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.conversations.tool_results import ToolOutcome
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.resources.webhooks import sign
from cupel_core.providers import safe_http
from cupel_core.providers.call_guard import no_guard
from cupel_core.providers.completion import complete
from cupel_core.providers.connectors.connection_test import test_connection as call_connector
from cupel_core.providers.errors import RetryLater
from tests.unit.providers import agents
from tests.unit.providers.agents import Agent, ReceivedRequest

SECRET = "whsec_" + "QUJD" * 8
CALL = ToolCall("call_1", "find_order", '{"number":"A-17"}')
ARGUMENTS = {"number": "A-17"}


async def at_once(_: float) -> None:
    return


@dataclass
class ToolServer:
    agent: Agent
    respond: Callable[[], web.Response] = lambda: agents.json({"result": "ok"})
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def connector(self) -> Connector:
        return Connector("con_1", "orders", ConnectorType.TOOLS, self.agent.url, self.headers, {"path": "/call"})

    @property
    def requests(self) -> list[ReceivedRequest]:
        return self.agent.requests

    def tools(self, **changes: Any) -> ConnectorTools:
        probe = {"runId": "run_1"}
        tools = ConnectorTools(self.connector, no_guard, probe, "thread-1", 5.0, Random(1), allow_private=True)
        return replace(tools, sleep=at_once, **changes)


@pytest.fixture
async def server() -> AsyncIterator[ToolServer]:
    servers: list[ToolServer] = []
    async with agents.serving(lambda _: servers[0].respond()) as agent:
        servers.append(ToolServer(agent))
        yield servers[0]
        await safe_http.close()


async def test_a_call_is_posted_with_its_probe(server: ToolServer) -> None:
    server.respond = lambda: agents.json({"result": {"status": "shipped"}})
    assert await server.tools()(CALL, ARGUMENTS) == ToolOutcome('{"status": "shipped"}')
    [received] = server.requests
    assert (received.method, received.path, "webhook-signature" in received.headers) == ("POST", "/call", False)
    sent = received.body
    assert sent.pop("id") == received.headers["webhook-id"]
    assert sent == {
        "type": "tool.call",
        "callId": "call_1",
        "name": "find_order",
        "arguments": ARGUMENTS,
        "conversationId": "thread-1",
        "runId": "run_1",
    }


async def test_a_call_is_signed_and_the_secret_is_not_sent(server: ToolServer) -> None:
    server.headers = {"Webhook-Secret": SECRET, "X-Key": "k"}
    await server.tools()(CALL, ARGUMENTS)
    [received] = server.requests
    headers = received.headers
    moment = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    expected = sign(SECRET, headers["webhook-id"], moment, orjson.dumps(received.body))
    assert headers["webhook-signature"] == expected["webhook-signature"]
    assert (headers["x-key"], "webhook-secret" in headers) == ("k", False)


async def test_all_attempts_of_a_call_have_one_id_and_other_calls_another(server: ToolServer) -> None:
    answers = iter([web.Response(status=503), agents.json({"result": 1}), agents.json({"result": 2})])
    server.respond = lambda: next(answers)
    await server.tools()(CALL, ARGUMENTS)
    await server.tools()(replace(CALL, id="call_2"), ARGUMENTS)
    first, second, third = (received.headers["webhook-id"] for received in server.requests)
    assert first == second != third


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"result": "a text"}, ToolOutcome("a text")),
        ({"result": None}, ToolOutcome("null")),
        ({"error": "no such order"}, ToolOutcome("no such order", is_error=True)),
        ({"error": "x" * 20_000}, ToolOutcome("x" * 9_999 + "…", is_error=True)),
    ],
)
async def test_results_and_errors_are_for_the_model(server: ToolServer, answer: Any, outcome: ToolOutcome) -> None:
    server.respond = lambda: agents.json(answer)
    assert await server.tools()(CALL, ARGUMENTS) == outcome


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (lambda: web.Response(status=500, text="boom"), "HTTP 500: boom"),
        (lambda: web.Response(status=404, text="nothing"), "HTTP 404: nothing"),
        (lambda: web.Response(text="<html>", content_type="text/html"), "HTML page, status 200"),
        (lambda: agents.json(["result"]), "malformed response"),
        (lambda: agents.json({}), "exactly one of result and error"),
        (lambda: agents.json({"result": 1, "error": "no"}), "exactly one of result and error"),
        (lambda: agents.json({"result": "x" * 100_001}), "the result has 100,001 characters"),
        (lambda: web.Response(body=b"x" * 1_100_000), "larger than 1000000 bytes"),
    ],
)
async def test_any_other_answer_is_a_tool_error(
    server: ToolServer, response: Callable[[], web.Response], reason: str
) -> None:
    server.respond = response
    with pytest.raises(ToolError, match=reason) as error:
        await server.tools()(CALL, ARGUMENTS)
    assert error.value.code is ProbeErrorCode.TOOL_ERROR
    assert "the connector orders could not execute find_order" in error.value.detail


async def test_a_private_address_is_refused(server: ToolServer) -> None:
    with pytest.raises(ToolError, match="is in a private network"):
        await server.tools(allow_private=False)(CALL, ARGUMENTS)
    assert not server.requests


async def test_a_server_that_hangs_is_a_tool_error() -> None:
    async def hang(_: ReceivedRequest) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async with agents.serving(hang) as agent:
        tools = replace(ToolServer(agent).tools(), timeout_seconds=0.05)
        with pytest.raises(ToolError, match="timeout: no response"):
            await tools(CALL, ARGUMENTS)
        assert len(agent.requests) == 4
        await safe_http.close()


async def test_a_wait_names_the_connector(server: ToolServer) -> None:
    server.respond = lambda: web.Response(status=429, headers={"retry-after": "600"})
    with pytest.raises(RetryLater) as wait:
        await server.tools()(CALL, ARGUMENTS)
    assert (wait.value.code, wait.value.model) == (ProbeErrorCode.TOOL_ERROR, "connector/con_1")


async def test_no_error_repeats_a_header(server: ToolServer) -> None:
    server.respond = lambda: web.Response(status=400, text="bad key top-secret-key")
    server.headers = {"Authorization": "top-secret-key"}
    with pytest.raises(ToolError) as error:
        await server.tools()(CALL, ARGUMENTS)
    assert "top-secret-key" not in error.value.detail


async def test_a_deleted_connector_is_a_tool_error(server: ToolServer) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        await server.tools(connector=None)(CALL, ARGUMENTS)


async def test_a_connection_test_calls_a_function(server: ToolServer) -> None:
    result = await call_connector(
        server.connector, allow_private=True, timeout_seconds=5.0, attempt=complete, prices=()
    )
    assert (result.ok, result.reply) == (True, "ok")
    assert (server.requests[0].body["type"], server.requests[0].body["name"]) == ("tool.test", "cupel_test")


async def test_a_connection_test_reports_what_is_wrong(server: ToolServer) -> None:
    server.respond = lambda: web.Response(status=401, text="who are you?")
    result = await call_connector(
        server.connector, allow_private=True, timeout_seconds=5.0, attempt=complete, prices=()
    )
    assert (result.ok, result.error) == (False, "HTTP 401: who are you?")
