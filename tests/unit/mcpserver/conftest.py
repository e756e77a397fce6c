import json
from dataclasses import dataclass
from typing import Any

import pytest

from authorize import app as authorizer
from cupel_core.domain.access import AccessRole
from cupel_core.domain.limits.quotas import Quotas
from cupel_core.domain.limits.request_rate import RequestLimit
from cupel_core.store import executions
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import request_rates, tokens
from mcpserver import app
from tests.lambda_context import Context
from tests.started_runs import NOW
from tests.unit.api.client import Answer, Client, answered, event

MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class McpClient(Client):
    """Calls the MCP server; other paths go to the API."""

    def send(
        self,
        body: str | None,
        *,
        method: str = "POST",
        token: str | None = None,
        headers: dict[str, str] | None = None,
        query: dict[str, str] | None = None,
    ) -> Answer:
        sent = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json", **(headers or {})}
        asked = event(method, "/v1/mcp", sent, body, query)
        asked["requestContext"]["authorizer"] = {"lambda": authorizer.handler(asked, Context())["context"]}
        return call(asked)

    def message(self, method: str, params: dict[str, Any] | None = None, **options: Any) -> Answer:
        """The answer to a request of the newest protocol."""
        params = {"_meta": ENVELOPE, **(params or {})}
        name = params.get("name") or params.get("uri")
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.send(json.dumps(body), headers=headers | options.pop("headers", {}), **options)

    def result(self, method: str, params: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        answer = self.message(method, params, **options)
        assert answer.status == 200, answer.text
        return dict(answer.json()["result"])

    def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """The whole result of a tool, which may be an error."""
        return self.result("tools/call", {"name": tool, "arguments": arguments or {}}, **options)

    def use(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """What a tool returns."""
        result = self.call(tool, arguments, **options)
        assert not result["isError"], result["content"]
        return dict(result["structuredContent"])

    def problem(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """The problem that a tool returns."""
        result = self.call(tool, arguments, **options)
        assert result["isError"], result["content"]
        assert "structuredContent" not in result
        return dict(json.loads(result["content"][0]["text"]))


def call(asked: dict[str, Any]) -> Answer:
    return answered(app.handler(asked, Context()))


@pytest.fixture(autouse=True)
def unlimited_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test call all tools of one workspace within a second. `api/test_rate_limit.py` tests the limits."""
    limit = property(lambda _: RequestLimit(100_000, 100_000))
    monkeypatch.setattr(Settings, "request_limit", limit)
    monkeypatch.setattr(Quotas, "requests", limit)


@pytest.fixture
def client(cloud: Settings) -> McpClient:
    """Calls as an admin of the workspace `acme`; `token=` calls as someone else."""
    request_rates.forget()
    return McpClient(tokens.issue("acme", AccessRole.ADMIN, "test", NOW).secret)


@pytest.fixture
def viewer(client: McpClient) -> str:
    return client.issue(role=AccessRole.VIEWER)


@pytest.fixture
def stranger(client: McpClient) -> str:
    """An admin of another workspace."""
    return client.issue("other")


@pytest.fixture(autouse=True)
def started_rescores(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the rescores whose executions were started."""
    started: list[str] = []
    monkeypatch.setattr(executions, "start_rescore", lambda _, rescore_id, *__: started.append(rescore_id))
    return started
