"""The Python example of docs/graphql.md is run, and the queries of its script are valid."""

from typing import Any

import httpx
import pytest
from graphql import parse, validate

from cupel.client import Client
from cupel_core.interfaces.graphql.schema import schema
from tests import graphql_example
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


SCRIPT = graphql_example.load()
QUERIES = {name: text for name, text in vars(SCRIPT).items() if str(text).startswith(("query", "mutation"))}


def test_the_script_has_queries() -> None:
    assert len(QUERIES) > 10


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_of_the_script_is_valid(name: str) -> None:
    assert validate(schema(), parse(QUERIES[name])) == []
