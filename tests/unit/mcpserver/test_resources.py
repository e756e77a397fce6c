"""Resources and prompts."""

import json
from typing import Any

import pytest

from cupel_core.contract.definitions import CreateDefinition
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.mcp.prompts import PROMPTS
from tests.operations import OPERATIONS
from tests.unit.mcpserver.cases import World, build
from tests.unit.mcpserver.conftest import McpClient


@pytest.fixture
def world(client: McpClient) -> World:
    return build(client)


def read(client: McpClient, uri: str, **options: Any) -> str:
    (content,) = client.result("resources/read", {"uri": uri}, **options)["contents"]
    assert content["uri"] == uri
    return str(content["text"])


def refusal(client: McpClient, method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
    answer = client.message(method, params, **options)
    assert answer.status == 400
    return dict(answer.json()["error"])


def test_every_listed_resource_can_be_read(client: McpClient) -> None:
    listed = client.result("resources/list")["resources"]
    assert {"cupel://authoring/guide", "cupel://models", "cupel://glossary"} <= {each["uri"] for each in listed}
    for each in listed:
        text = read(client, each["uri"])
        assert len(text) > 400
        assert each["mimeType"] in ("text/markdown", "application/graphql") or json.loads(text)


def test_the_example_of_a_definition_can_be_created(client: McpClient) -> None:
    examples = json.loads(read(client, "cupel://authoring/examples"))
    CreateDefinition.model_validate(examples["createDefinition"])


def test_templates_read_what_tools_return(world: World, stranger: str) -> None:
    ids = {
        "cupel://definitions/{id}": world.definition_id,
        "cupel://runs/{id}/analysis": world.run.id,
        "cupel://comparisons/{id}": world.comparison["id"],
        "cupel://experiments/{id}": world.experiment_id,
    }
    listed = world.client.result("resources/templates/list")["resourceTemplates"]
    assert {each["uriTemplate"] for each in listed} == {*ids, "cupel://graphql/schema/{name}"}
    for template, value in ids.items():
        uri = template.replace("{id}", value)
        assert value in read(world.client, uri)
        error = refusal(world.client, "resources/read", {"uri": uri}, token=stranger)
        assert (error["code"], error["data"]["status"]) == (-32602, 404)


@pytest.mark.parametrize("role", AccessRole)
def test_a_role_reads_the_resources_of_the_tools_that_it_may_call(world: World, role: AccessRole) -> None:
    token = world.client.issue(role=role)
    for uri, operation in (
        (f"cupel://definitions/{world.definition_id}", "getDefinition"),
        (f"cupel://runs/{world.run.id}/analysis", "getRunAnalysis"),
        (f"cupel://comparisons/{world.comparison['id']}", "getComparison"),
        (f"cupel://experiments/{world.experiment_id}", "getExperiment"),
        ("cupel://models", "listModels"),
    ):
        if OPERATIONS[operation].permits(role):
            assert read(world.client, uri, token=token), uri
        else:
            assert refusal(world.client, "resources/read", {"uri": uri}, token=token)["data"]["status"] == 404, uri


@pytest.mark.parametrize("uri", ["cupel://nothing", "cupel://runs/../analysis", "file:///etc/passwd", "x" * 10_000])
def test_other_addresses_are_refused(client: McpClient, uri: str) -> None:
    assert refusal(client, "resources/read", {"uri": uri})["code"] == -32602


def test_versions_with_a_handshake_have_a_code_of_their_own_for_unknown_resources(client: McpClient) -> None:
    for uri in ("cupel://nothing", "cupel://definitions/def_none"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
        assert client.send(json.dumps(body)).json()["error"]["code"] == -32002


def test_a_resource_needs_an_address(client: McpClient) -> None:
    assert refusal(client, "resources/read", {})["code"] == -32602


def test_prompts_have_their_arguments_filled_in(client: McpClient) -> None:
    listed = client.result("prompts/list")["prompts"]
    assert [each["name"] for each in listed] == list(PROMPTS)
    for each in listed:
        values = {one["name"]: f"<{one['name']}>" for one in each["arguments"]}
        (message,) = client.result("prompts/get", {"name": each["name"], "arguments": values})["messages"]
        assert message["role"] == "user"
        assert all(value in message["content"]["text"] for value in values.values())
        assert "{" not in message["content"]["text"]


def test_a_value_that_looks_like_an_argument_stays_as_it_is(client: McpClient) -> None:
    values = {"baseline": "{comparison}", "comparison": "run_2"}
    (message,) = client.result("prompts/get", {"name": "compare-runs", "arguments": values})["messages"]
    assert "Compare the run run_2 with the baseline {comparison}." in message["content"]["text"]


def test_prompts_name_tools_that_there_are(client: McpClient) -> None:
    tools = {each["name"] for each in client.result("tools/list")["tools"]}
    for prompt in PROMPTS.values():
        words = {word.strip(".,;") for word in prompt.text.split()}
        named = {word for word in words if word.startswith(("get_", "list_"))}
        assert named <= tools


@pytest.mark.parametrize("arguments", [{}, {"run_id": ""}, {"run_id": 7}, {"run_id": "x" * 3_000}, {"a": "b"}, []])
def test_wrong_arguments_of_a_prompt_are_refused(client: McpClient, arguments: Any) -> None:
    params = {"name": "analyze-run", "arguments": arguments}
    assert refusal(client, "prompts/get", params)["code"] == -32602


def test_an_unknown_prompt_is_refused(client: McpClient) -> None:
    assert refusal(client, "prompts/get", {"name": "no-such-prompt"})["code"] == -32602
