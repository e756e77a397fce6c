"""The official client of MCP, and `cupel mcp`, on a stack."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from tests.eval_api import create_definition, evaluate
from tests.interop import tools

VERSIONS = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture(scope="module")
def run_id(api: Client) -> str:
    """Ended. The function has answered before, since the client takes no answer within 10 s for an older server."""
    tools.install()
    assert api.send_mcp_message('{"jsonrpc": "2.0", "id": 1, "method": "ping"}', {})
    return str(evaluate(api, create_definition(api, 3), "sim/steady", "sim/bold")["id"])


def check(received: dict[str, Any], run_id: str, mode: str) -> None:
    assert (received["version"], received["run"]) == (VERSIONS[mode], [run_id, "COMPLETED"])
    assert (received["results"], received["refused"]) == (2, [True, 404])
    assert 15 <= received["tools"] <= 25


@pytest.mark.parametrize("mode", VERSIONS)
def test_the_official_client_over_http(stack: LocalStack, run_id: str, mode: str) -> None:
    check(tools.call_mcp_client(mode, run_id, f"{stack.api_url}/v1/mcp", stack.token), run_id, mode)


def test_the_official_client_through_the_command(stack: LocalStack, run_id: str, tmp_path: Path) -> None:
    command = tmp_path / "cupel"
    variables = {"CUPEL_API_URL": stack.api_url, "CUPEL_TOKEN": stack.token, "PATH": os.environ["PATH"]}
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    program = shlex.join([sys.executable, "-c", "from cupel.cli import app; app()", "mcp"])
    command.write_text(f"#!/bin/sh\n{exports}exec {program}\n")
    command.chmod(0o755)
    check(tools.call_mcp_client("auto", run_id, str(command)), run_id, "auto")


def test_figures_are_those_of_the_api(api: Client, stack: LocalStack, run_id: str) -> None:
    call = {"name": "get_run_summary", "arguments": {"run_id": run_id}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    reply = api.send_mcp_message(json.dumps(message), {}) or {}
    found = reply["result"]["structuredContent"]["targets"]
    columns = api.get_run_analysis(run_id)["figures"]["columns"]
    assert [each["decision"]["value"] for each in found] == [each["estimate"]["decision"]["mean"] for each in columns]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_streams_and_sessions_are_refused(stack: LocalStack, method: str) -> None:
    headers = {"Authorization": f"Bearer {stack.token}"}
    assert httpx.request(method, f"{stack.api_url}/v1/mcp", headers=headers).status_code == 405
    assert httpx.request("POST", f"{stack.api_url}/v1/mcp", json={}).status_code == 401
