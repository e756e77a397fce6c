import json
from dataclasses import dataclass
from typing import Any

import pytest

from authorize import app as authorizer
from cupel_core.domain.access import AccessRole
from cupel_core.store import executions
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import request_rates, tokens
from graphqlapi import app
from tests.lambda_context import Context
from tests.started_runs import NOW
from tests.unit.api.client import Answer, Client, answered, event


@dataclass
class GraphqlClient(Client):
    """Calls the GraphQL function; other paths go to the API."""

    def send(self, body: str | None, *, token: str | None = None, headers: dict[str, str] | None = None) -> Answer:
        sent = {"Authorization": f"Bearer {token or self.token}", **(headers or {})}
        asked = event("POST", "/v1/graphql", sent, body)
        asked["requestContext"]["authorizer"] = {"lambda": authorizer.handler(asked, Context())["context"]}
        return call(asked)

    def execute(self, query: str, variables: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """The body of the answer."""

        answer = self.send(json.dumps({"query": query, "variables": variables}), **options)
        return dict(answer.json())

    def data(self, query: str, variables: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        answer = self.execute(query, variables, **options)
        assert "errors" not in answer, answer["errors"]
        return dict(answer["data"])

    def error(self, query: str, variables: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """The only error."""
        (error,) = self.execute(query, variables, **options)["errors"]
        return dict(error)


def call(asked: dict[str, Any]) -> Answer:
    return answered(app.handler(asked, Context()))


@pytest.fixture
def client(cloud: Settings) -> GraphqlClient:
    """Calls as an admin of the workspace `acme`; `token=` calls as someone else."""
    request_rates.forget()
    return GraphqlClient(tokens.issue("acme", AccessRole.ADMIN, "test", NOW).secret)


@pytest.fixture(autouse=True)
def started_rescores(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the rescores whose executions were started."""
    started: list[str] = []
    monkeypatch.setattr(executions, "start_rescore", lambda _, rescore_id, *__: started.append(rescore_id))
    return started


@pytest.fixture
def viewer(client: GraphqlClient) -> str:
    return client.issue(role=AccessRole.VIEWER)


@pytest.fixture
def stranger(client: GraphqlClient) -> str:
    return client.issue("other")
