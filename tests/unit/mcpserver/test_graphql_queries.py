"""The tool that sends GraphQL queries: what they return, and what they may not do."""

import json
import subprocess
import sys
from typing import Any

import pytest
from graphql import parse, print_ast

from cupel_core.base.errors import RetryableError
from cupel_core.interfaces.graphql import execution
from cupel_core.interfaces.graphql.schema import printed
from cupel_core.interfaces.mcp.models import UNTRUSTED
from tests.conftest import ROOT
from tests.unit.mcpserver.cases import INJECTION, QUERY, World
from tests.unit.mcpserver.conftest import McpClient


@pytest.fixture
def world(client: McpClient) -> World:
    return World(client)


def query(client: McpClient, text: str, **options: Any) -> dict[str, Any]:
    return client.use("graphql_query", {"query": text}, **options)


def messages(client: McpClient, text: str, **options: Any) -> list[str]:
    """Of a refused query."""
    problem = client.problem("graphql_query", {"query": text}, **options)
    assert {each["field"] for each in problem["errors"]} == {"query"}
    return [each["message"] for each in problem["errors"]]


def test_the_fields_of_a_query_are_returned(world: World) -> None:
    found = world.client.use("graphql_query", {"query": QUERY, "variables": {"id": world.run.id}})
    assert found["notice"] == UNTRUSTED
    run = found["data"]["run"]
    assert (run["id"], run["status"], run["definition"]) == (world.run.id, "COMPLETED", {"name": "rating"})
    assert [each["decisionCode"] for each in run["transcripts"]] == ["4"] * 3
    assert "errors" not in found


def test_a_field_without_a_value_is_null(world: World) -> None:
    assert query(world.client, '{ run(id: "run_none") { id } }')["data"] == {"run": None}


def test_instructions_in_a_transcript_stay_data(world: World) -> None:
    text = f'{{ run(id: "{world.run.id}") {{ transcripts(limit: 1) {{ content {{ messages {{ content }} }} }} }} }}'
    result = world.client.call("graphql_query", {"query": text})
    content = result["structuredContent"]
    assert INJECTION in content["data"]["run"]["transcripts"][0]["content"]["messages"][-1]["content"]
    assert json.loads(result["content"][0]["text"]) == content


@pytest.mark.parametrize("root", ["mutation", "subscription"])
def test_nothing_can_be_changed(world: World, root: str) -> None:
    (message,) = messages(world.client, f'{root} {{ deleteRun(id: "{world.run.id}") }}')
    assert "quer" in message or "subscription" in message
    assert world.client.use("get_run", {"run_id": world.run.id})["id"] == world.run.id


def test_a_query_has_the_limits_of_the_api(client: McpClient) -> None:
    (message,) = messages(client, "{ runs(limit: 100) { transcripts(limit: 100) { id } } }")
    assert "costs" in message
    assert len(messages(client, "{ runs { secret other } }")) == 2


def test_an_error_of_a_field_leaves_the_others(client: McpClient) -> None:
    found = query(client, "{ me { role } chats(limit: 0) { id } }")
    (error,) = found["errors"]
    assert (error["code"], error["path"]) == ("INVALID_REQUEST", ["chats"])


def test_a_query_that_takes_too_long_can_be_repeated(client: McpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def take_too_long(*_: object) -> None:
        raise RetryableError("the query took longer than 25 seconds")

    monkeypatch.setattr(execution, "_check", take_too_long)
    problem = client.problem("graphql_query", {"query": "{ runs { id } }"})
    assert (problem["status"], problem["detail"]) == (503, "the query took longer than 25 seconds")


def test_a_large_result_is_cut(world: World) -> None:
    assert world.client.post("/v1/definitions", {"name": "long", "content": {"template": "é" * 20_000}}).status == 201
    result = world.client.call("graphql_query", {"query": "{ definitions { content } }"})
    assert result["structuredContent"]["truncated"]
    assert len(result["content"][0]["text"].encode()) <= 40_000


def test_another_workspace_reads_nothing(world: World, stranger: str) -> None:
    found = world.client.use("graphql_query", {"query": QUERY, "variables": {"id": world.run.id}}, token=stranger)
    assert found["data"] == {"run": None}


def test_the_schema_is_read_type_by_type(client: McpClient) -> None:
    def read(uri: str) -> str:
        (content,) = client.result("resources/read", {"uri": uri})["contents"]
        return str(content["text"])

    names = [line.removeprefix("# ") for line in read("cupel://graphql/schema").splitlines()[1:]]
    types = [read(f"cupel://graphql/schema/{name}") for name in names[:80]]
    whole = print_ast(parse(printed()))
    assert all(each.strip() in whole for each in types)
    assert {"Query", "Run"} <= set(names)
    assert client.message("resources/read", {"uri": "cupel://graphql/schema/Nothing"}).status == 400


def test_graphql_core_is_imported_with_the_first_query() -> None:
    code = """import sys; from mcpserver import app; from cupel_core.interfaces.mcp import registry
registry.list_all_tools(); print('graphql' in sys.modules)"""
    environment = {"PYTHONPATH": "functions:shared", "AWS_DEFAULT_REGION": "us-east-1", "PATH": ""}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
