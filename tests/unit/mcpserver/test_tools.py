"""Every tool: its declaration, its result, who may call it, and what it does with hostile arguments."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cupel_core.contract.operation import ToolGroup
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.mcp.registry import MODULES, AnyTool, McpTool, list_all_tools
from cupel_core.interfaces.mcp.request import MAX_RESULT_BYTES
from tests.conftest import ROOT
from tests.effort import some_of
from tests.in_one_test import in_one_test
from tests.unit.mcpserver.cases import CASES, CONTENT, World
from tests.unit.mcpserver.conftest import McpClient

TOOLS: dict[str, AnyTool] = {each.name: each for each in list_all_tools()}
MAX_DEFAULT_TOKENS = 6_000
MAX_PAGE_TOKENS = 2_000
BYTES_PER_TOKEN = 3.5
"""An approximation: of the vocabulary o200k, whose tokens of such JSON have four bytes on average, no copy is here."""
ALL = {"tools": "all", "schemas": "output"}
NAMES = sorted(TOOLS)
HOSTILE: tuple[Any, ...] = ("x" * 100_000, "\0", "\u202e", "../..", -1, 10**30, 1.5, True, None, [], {}, [{}] * 1_000)


@pytest.fixture
def world(client: McpClient) -> World:
    return World(client)


def test_every_tool_has_a_case() -> None:
    assert sorted(CASES) == NAMES


def test_every_module_has_the_tools_that_it_is_listed_with() -> None:
    folder = ROOT / "shared/cupel_core/interfaces/mcp/tools"
    assert sorted(MODULES) == sorted(path.stem for path in folder.glob("[a-z]*.py"))
    for module, names in MODULES.items():
        assert {written(each).function.__module__ for each in names} == {f"cupel_core.interfaces.mcp.tools.{module}"}


def written(name: str) -> McpTool:
    tool = TOOLS[name]
    assert isinstance(tool, McpTool)
    return tool


def test_listing_tools_imports_none_of_them() -> None:
    code = """import sys; from cupel_core.interfaces.mcp import listing
from cupel_core.domain.access import AccessRole
assert len(listing._select(AccessRole.ADMIN, None, with_output=False)) > 15
print([name for name in sys.modules if name.startswith("cupel_core.interfaces.mcp.tools")])"""
    environment = {"PYTHONPATH": "functions:shared", "AWS_DEFAULT_REGION": "us-east-1", "PATH": ""}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_tool_is_described(client: McpClient) -> None:
    listed = client.result("tools/list", query=ALL)["tools"]
    assert {each["name"] for each in listed} == set(NAMES)
    for each in listed:
        check_description(each["name"], each)


def check_description(name: str, listed: dict[str, Any]) -> None:
    tool = TOOLS[name]
    assert re.fullmatch("[a-z]+(_[a-z]+)*", name)
    assert listed["title"]
    assert listed["description"].endswith(".")
    assert len(listed["description"]) <= 600
    assert listed["annotations"]["readOnlyHint"] == tool.changes_nothing
    assert tool.changes_nothing or tool.operation is None or tool.operation.method != "GET"
    for schema in (listed["inputSchema"], listed["outputSchema"]):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", each) for each in listed["inputSchema"].get("properties", {}))
    assert listed["inputSchema"]["additionalProperties"] is False
    assert tool.max_bytes <= MAX_RESULT_BYTES


def test_every_argument_of_tools_that_are_no_operations_is_bounded(client: McpClient) -> None:
    """The contract bounds the arguments of operations."""
    written = {each for names in MODULES.values() for each in names}
    for listed in client.result("tools/list", query=ALL)["tools"]:
        for argument, schema in listed["inputSchema"].get("properties", {}).items():
            assert listed["name"] not in written or list(_unbounded(schema)) == [], (listed["name"], argument)


def _unbounded(schema: dict[str, Any]) -> Iterator[str]:
    kind = schema.get("type")
    if kind == "string" and not {"enum", "const"} & schema.keys() and "maxLength" not in schema:
        yield "a text without maxLength"
    bounds = ({"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"})
    has_range = all(len(each & schema.keys()) == 1 for each in bounds)
    if kind in ("integer", "number") and not has_range:
        yield "a number without a range"
    if kind == "array":
        if "maxItems" not in schema:
            yield "a list without maxItems"
        yield from _unbounded(schema["items"])
    if kind == "object" and "maxProperties" not in schema:
        yield "an object without maxProperties"
    for each in schema.get("anyOf", ()):
        yield from _unbounded(each)


def tokens(content: Any) -> float:
    return len(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()) / BYTES_PER_TOKEN


def test_a_model_pays_at_most_6000_tokens_for_the_default_list(client: McpClient) -> None:
    listed = client.result("tools/list")["tools"]
    assert 15 <= len(listed) <= 25
    assert tokens(listed) <= MAX_DEFAULT_TOKENS
    assert not any("outputSchema" in each for each in listed)
    assert all("outputSchema" in each for each in client.result("tools/list", query={"schemas": "output"})["tools"])
    assert client.message("tools/list", query={"schemas": "all"}).status == 422


def test_a_page_of_20_runs_or_definitions_has_at_most_2000_tokens(client: McpClient) -> None:
    world = World(client)
    for number in range(20):
        world.started(name=f"Release candidate {number}", models=["sim/steady", "sim/bold"])
        made = client.post("/v1/definitions", {"name": f"Refunds {number}", "folder": "team/a", "content": CONTENT})
        assert made.status == 201, made.text
    for name in ("list_runs", "list_definitions"):
        page = client.use(name)
        assert (len(page["items"]), "truncated" in page) == (20, False)
        assert tokens(page) <= MAX_PAGE_TOKENS, name


@pytest.mark.parametrize("name", NAMES)
def test_the_lowest_role_that_may_call_a_tool_gets_a_result_of_its_schema(world: World, name: str) -> None:
    ascending = (AccessRole.VIEWER, AccessRole.MEMBER, AccessRole.ADMIN, AccessRole.OPERATOR)
    role = next(each for each in ascending if TOOLS[name].permits(each))
    result = world.client.call(name, CASES[name](world), token=world.client.issue(role=role))
    assert not result["isError"], result["content"]
    (described,) = [each for each in world.client.result("tools/list", query=ALL)["tools"] if each["name"] == name]
    Draft202012Validator(described["outputSchema"]).validate(result["structuredContent"])
    (content,) = result["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"]) == result["structuredContent"]
    assert len(content["text"].encode()) <= TOOLS[name].max_bytes


@in_one_test("name", NAMES)
def test_another_workspace_gets_nothing(world: World, stranger: str, name: str) -> None:
    result = world.client.call(name, CASES[name](world), token=stranger)
    assert world.run.id not in json.dumps(result.get("structuredContent", {}))
    assert world.definition_id not in json.dumps(result.get("structuredContent", {}))
    if result["isError"]:
        assert json.loads(result["content"][0]["text"])["status"] in (404, 422)


@pytest.mark.parametrize("role", AccessRole)
def test_a_role_sees_the_tools_that_it_may_call(client: McpClient, role: AccessRole) -> None:
    listed = client.result("tools/list", token=client.issue(role=role), query=ALL)["tools"]
    assert {each["name"] for each in listed} == {name for name in NAMES if TOOLS[name].permits(role)}


FORBIDDEN = [(name, role) for name in NAMES for role in AccessRole if not TOOLS[name].permits(role)]


def test_an_operator_uses_the_operations_of_operators(client: McpClient) -> None:
    """Operators read nothing within a workspace, so no other tool is for them."""
    operator = client.issue("operators", AccessRole.OPERATOR)
    listed = client.result("tools/list", token=operator)["tools"]
    assert {each["name"] for each in listed} == {"search_operations", "call_operation"}
    assert client.post("/v1/workspaces", {"name": "team-z"}, token=operator).status == 201
    (found,) = client.use("search_operations", {"query": "get workspace", "limit": 1}, token=operator)["items"]
    called = {"operation": found["id"], "arguments": {"name": "team-z"}}
    assert client.use("call_operation", called, token=operator)["result"]["name"] == "team-z"
    refused = client.problem("call_operation", {"operation": "listRuns", "arguments": {}}, token=operator)
    assert (refused["status"], refused["detail"]) == (403, "listRuns requires the role viewer; this token has operator")


def test_no_model_erases_a_workspace(client: McpClient) -> None:
    operator = client.issue("operators", AccessRole.OPERATOR)
    client.post("/v1/workspaces", {"name": "team-y"}, token=operator)
    erasure = {"operation": "erase_workspace", "arguments": {"name": "team-y", "confirm": "team-y"}}
    refused = client.problem("call_operation", erasure, token=operator)
    assert (refused["status"], "cannot be undone" in refused["detail"]) == (403, True)
    assert client.get("/v1/workspaces/team-y", token=operator).json()["erasedAt"] is None


def test_tools_refuse_the_roles_that_may_not_call_them(world: World) -> None:
    for name, role in FORBIDDEN:
        result = world.client.call(name, CASES[name](world), token=world.client.issue(role=role))
        status = json.loads(result["content"][0]["text"])["status"]
        assert (name, role, result["isError"], status) == (name, role, True, 403)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_arguments_are_refused_in_words(world: World, name: str) -> None:
    arguments = CASES[name](world)
    for number, argument in enumerate(TOOLS[name].argument_names, start=NAMES.index(name)):
        token = world.client.issue()  # A token may send 100 requests at once.
        for value in some_of(HOSTILE, number):
            result = world.client.call(name, {**arguments, argument: value}, token=token)
            if result["isError"]:
                problem = json.loads(result["content"][0]["text"])
                assert problem["status"] in (400, 404, 409, 422), (argument, value, problem)
            assert len(result["content"][0]["text"].encode()) <= MAX_RESULT_BYTES


def test_unknown_arguments_are_refused(world: World) -> None:
    for name in NAMES:
        token = world.client.issue()  # A token may send 100 requests at once.
        result = world.client.call(name, {**CASES[name](world), "no_such_argument": 1}, token=token)
        problem = json.loads(result["content"][0]["text"])
        assert (name, problem["status"], problem["errors"][0]["field"]) == (name, 422, "no_such_argument")


def test_tools_are_selected_by_group(client: McpClient) -> None:
    listed = client.result("tools/list", query={"tools": "read"})["tools"]
    assert {each["name"] for each in listed} == {name for name, tool in TOOLS.items() if tool.group is ToolGroup.READ}
    assert client.problem("list_runs", query={"tools": "admin"})["status"] == 403
    assert client.message("tools/list", query={"tools": "everything"}).status == 422
