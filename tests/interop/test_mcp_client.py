"""The official client of MCP on the functions, behind a server that stands for API Gateway, over HTTP and stdio."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest

from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.mcp.listing import read_tools
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import request_rates, tokens
from tests.interop import tools
from tests.started_runs import NOW
from tests.unit.mcpserver.cases import CASES, World, build
from tests.unit.mcpserver.conftest import McpClient

VERSIONS = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}


class _Gateway(BaseHTTPRequestHandler):
    """Calls the MCP server, one request at a time."""

    owner: ClassVar[McpClient]
    lock: ClassVar[Lock] = Lock()

    def _serve(self) -> None:
        target = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        headers = {name: value for name, value in self.headers.items() if name.lower() != "authorization"}
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        with self.lock:
            query = dict(parse_qsl(target.query))
            answer = self.owner.send(body, method=self.command, token=token, headers=headers, query=query)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name != "Content-Encoding":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the names of the base class

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture
def world(cloud: Settings) -> World:
    request_rates.forget()
    return build(McpClient(tokens.issue("acme", AccessRole.ADMIN, "test", NOW).secret))


@pytest.fixture
def address(world: World) -> Iterator[str]:
    _Gateway.owner = world.client
    with ThreadingHTTPServer(("127.0.0.1", 0), _Gateway) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def check(received: dict[str, object], world: World, mode: str, transport: str) -> None:
    assert received.pop("guide") == "# How to write a definition", transport
    assert received == {
        "version": VERSIONS[mode],
        "tools": sum(each["isDefault"] for each in read_tools()),
        "run": [world.run.id, "COMPLETED"],
        "results": 2,
        "notice": True,
        "refused": [True, 404],
        "resources": 7,
        "templates": 5,
        "prompts": ["analyze-run", "compare-runs", "design-experiment", "author-definition"],
        "prompt": True,
    }


@pytest.mark.parametrize("mode", VERSIONS)
def test_the_official_client_uses_the_server_over_http(world: World, address: str, mode: str) -> None:
    token = world.client.token or ""
    check(tools.call_mcp_client(mode, world.run.id, f"{address}/v1/mcp", token), world, mode, "http")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_uses_the_server_through_the_command(
    world: World, address: str, mode: str, tmp_path: Path
) -> None:
    command = tmp_path / "cupel"
    variables = {"CUPEL_API_URL": address, "CUPEL_TOKEN": world.client.token or "", "PATH": os.environ["PATH"]}
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    program = shlex.join([sys.executable, "-c", "from cupel.cli import app; app()", "mcp"])
    command.write_text(f"#!/bin/sh\n{exports}exec {program}\n")
    command.chmod(0o755)
    check(tools.call_mcp_client(mode, world.run.id, str(command)), world, mode, "stdio")


def test_the_official_client_reads_reports_chats_and_queries_in_one_session(world: World, address: str) -> None:
    """It checks each result against the schema of its tool."""
    with closing(tools.McpSession(f"{address}/v1/mcp?tools=all&schemas=output", world.client.token or "")) as client:
        for name in ("get_report", "get_chat", "get_model_profile", "graphql_query", "get_transcript"):
            assert client.call(name, CASES[name](world)), name
        with pytest.raises(AssertionError, match="404"):
            client.call("get_run", {"run_id": "run_none"})
        assert client.call("get_run", {"run_id": world.run.id})["id"] == world.run.id
