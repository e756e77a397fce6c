"""The Python example of docs/graphql.md is run."""

from typing import Any

import httpx
import pytest

from cupel.client import Client
from tests.conftest import ROOT
from tests.documented_blocks import blocks_of
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import MODELS, completed_run


def test_the_example_reads_runs(client: GraphqlClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/graphql"
        answer = client.send(request.content.decode())
        return httpx.Response(answer.status, text=answer.text)

    def connect() -> Client:
        return Client("http://api.test", str(client.token), transport=httpx.MockTransport(respond))

    monkeypatch.setattr(Client, "from_environment", connect)
    run = completed_run()
    names: dict[str, Any] = {}
    (example,) = [each.text for each in blocks_of(ROOT / "docs/graphql.md") if each.language == "python"]
    exec(compile(example, "docs/graphql.md", "exec"), names)  # noqa: S102 - our own documentation
    (listed,) = names["listed"]
    assert (listed.id, listed.status, listed.models) == (run.id, "COMPLETED", list(MODELS))
