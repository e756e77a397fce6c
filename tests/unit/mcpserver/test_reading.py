"""What reading tools return: the same as the API, in parts that a model can read."""

import json
from typing import Any

import pytest
from hypothesis import given

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import AppError, RetryableError
from cupel_core.contract.results import MessageResponse
from cupel_core.domain.conversations.model_request import Message
from cupel_core.interfaces.mcp.models import UNTRUSTED
from cupel_core.interfaces.mcp.tools.transcripts import message_briefs
from cupel_core.runs import queries
from cupel_core.store import audit_log
from tests.hostile_texts import conversations
from tests.unit.mcpserver.cases import INJECTION, MODELS, World, build, completed_run
from tests.unit.mcpserver.conftest import McpClient


@pytest.fixture
def world(client: McpClient) -> World:
    return build(client)


def read_all(client: McpClient, tool: str, arguments: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """The items of a list, and the number of calls."""
    items: list[dict[str, Any]] = []
    page: dict[str, Any] = {"nextCursor": None}
    calls = 0
    while "nextCursor" in page:
        cursor = {"cursor": page["nextCursor"]} if page["nextCursor"] else {}
        page = client.use(tool, arguments | cursor)
        items += page["items"]
        calls += 1
    return items, calls


def test_a_list_is_cut_at_whole_items_and_continues(client: McpClient) -> None:
    for number in range(40):
        body = {"name": f"{number} " + "x" * 150, "folder": f"f{number % 2}", "content": {"template": "Rate it"}}
        assert client.post("/v1/definitions", body).status == 201
    page = client.use("list_definitions", {"limit": 100})
    assert (page["truncated"], len(page["items"]) < 40) == (True, True)
    items, calls = read_all(client, "list_definitions", {"limit": 100})
    assert ([int(each["name"].split()[0]) for each in items], calls > 1) == ([*range(39, -1, -1)], True)
    items, _ = read_all(client, "list_definitions", {"limit": 100, "folder": "f1"})
    assert len(items) == 20


def test_a_definition_that_is_too_large_is_cut_and_says_so(client: McpClient) -> None:
    body = {"name": "long", "content": {"template": "é" * 20_000, "system": "short"}}
    answer = client.post("/v1/definitions", body)
    assert answer.status == 201, answer.text
    definition_id = answer.json()["id"]
    found = client.use("get_definition", {"definition_id": definition_id})
    assert found["truncated"]
    assert found["content"]["system"] == "short"
    assert found["content"]["template"].endswith("… [cut]")


def test_a_run_is_what_rest_responds_with(world: World) -> None:
    rest = world.client.get(f"/v1/runs/{world.run.id}").json()
    found = world.client.use("get_run", {"run_id": world.run.id})
    assert {name: found[name] for name in ("id", "status", "createdAt")} == {
        name: rest[name] for name in ("id", "status", "createdAt")
    }
    assert found["progress"] == {name: rest["progress"][name] for name in ("total", "completed", "failed")}
    assert [each["model"] for each in found["config"]["targets"]] == list(MODELS)


def test_scenarios_are_found_by_text_and_by_dimension(world: World) -> None:
    arguments = {"definition_id": world.definition_id}
    of = world.client.use
    total = len(of("search_scenarios", arguments)["items"])
    (found,) = of("search_scenarios", {**arguments, "query": "IGNORE all"})["items"]
    assert (found["name"], found["preview"][:20]) == ("second", INJECTION[:20])
    first = of("search_scenarios", {**arguments, "dimensions": {"stakes": 1}})["items"]
    assert {each["dimensions"]["stakes"] for each in first} == {1}
    assert 0 < len(first) < total


def test_instructions_in_texts_stay_data(world: World) -> None:
    result = world.client.call("get_transcript", {"transcript_id": world.transcript["id"]})
    content = result["structuredContent"]
    assert content["notice"] == UNTRUSTED
    assert INJECTION in content["messages"][-1]["content"]
    assert [each["type"] for each in result["content"]] == ["text"]
    assert json.loads(result["content"][0]["text"]) == content
    assert "notice" in world.client.use("get_run_results", {"run_id": world.run.id})


def test_a_transcript_is_found_by_what_the_probe_was_about(world: World) -> None:
    transcript = world.transcript
    key = {"run_id": world.run.id, "scenario_id": transcript["scenarioId"], "model": transcript["modelId"]}
    assert world.client.use("get_transcript_summary", key)["id"] == transcript["id"]
    assert world.client.problem("get_transcript_summary", {**key, "repeat": 5})["status"] == 404
    for sent, fields in (
        ({}, ["transcript_id"]),
        ({"run_id": world.run.id}, ["scenario_id", "model"]),
        ({**key, "transcript_id": transcript["id"]}, ["transcript_id"]),
    ):
        problem = world.client.problem("get_transcript", sent)
        assert (problem["status"], [each["field"] for each in problem["errors"]]) == (422, fields)


@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600", '"', "\x01"])
def test_a_long_transcript_is_read_in_parts(world: World, letter: str) -> None:
    text = "".join(f"{number} {letter * 50}\n" for number in range(700))
    run = completed_run(world.definition_id, lambda _: text, 1)
    transcript_id = world.client.get(f"/v1/runs/{run.id}/transcripts").json()["items"][0]["id"]
    received, offset, calls = "", 0, 0
    while offset is not None:
        arguments = {"transcript_id": transcript_id, "max_characters": 16_000, "offset": offset}
        part = world.client.use("get_transcript", arguments)
        received += "".join(each["content"] for each in part["messages"])
        offset = part.get("nextOffset")
        calls += 1
        assert calls < 100
    assert text in received
    assert len(received) == part["totalCharacters"]


def test_results_are_filtered(world: World) -> None:
    def results(**arguments: Any) -> list[dict[str, Any]]:
        return read_all(world.client, "get_run_results", {"run_id": world.run.id, **arguments})[0]

    assert len(results()) == 12
    (errored,) = results(status="error")
    assert (errored["index"], errored["error"]["code"]) == (11, "timeout")
    assert len(results(status="completed", model="sim/bold")) == 5
    assert {each["decisionCode"] for each in results(status="completed")} == {"4"}
    assert results(status="unsummarized") == []


def test_figures_are_those_of_the_analysis(world: World) -> None:
    rest = world.client.get(f"/v1/runs/{world.run.id}/analysis").json()["figures"]
    found = world.client.use("get_run_summary", {"run_id": world.run.id})
    first, column = found["targets"][0], rest["columns"][0]["estimate"]
    assert first["decision"]["value"] == column["decision"]["mean"]
    assert first["decision"]["interval95"] == column["decision"]["interval95"]
    assert found["cautions"] == [each["text"] for each in rest["cautions"]]
    assert found["narrative"], "of the deep analysis"
    assert "insights" not in world.client.use("get_run_summary", {"run_id": world.run.id, "include_insights": False})


def test_dimensions_are_those_of_one_target(world: World) -> None:
    arguments = {"run_id": world.run.id}
    of_all = world.client.use("get_dimension_analysis", arguments)
    of_one = world.client.use("get_dimension_analysis", {**arguments, "model": "sim/bold"})
    assert [each["name"] for each in of_all["dimensions"]] == [each["name"] for each in of_one["dimensions"]]
    assert "target" not in of_all
    problem = world.client.problem("get_dimension_analysis", {**arguments, "model": "sim/none"})
    assert (problem["status"], problem["errors"][0]["field"]) == (422, "model")


@pytest.mark.parametrize("part", ["narrative", "pca", "outliers", "effects", "interactions"])
def test_parts_of_a_deep_analysis(world: World, part: str) -> None:
    found = world.client.use("get_deep_analysis", {"run_id": world.run.id, "part": part})
    assert (found["part"], len(found["columns"])) == (part, 2)
    assert found["figures"]


def test_a_comparison_has_its_verdict_and_changed_scenarios(world: World) -> None:
    rest = world.client.get(f"/v1/comparisons/{world.comparison['id']}").json()
    found = world.client.use("get_comparison", {"comparison_id": world.comparison["id"], "scenarios": 2})
    assert found["verdict"] == rest["verdict"]
    assert found["rows"][0]["difference"] == rest["figures"]["rows"][0]["difference"] == 0
    assert len(found["changedScenarios"]) <= 2
    none = world.client.use("get_comparison", {"comparison_id": world.comparison["id"], "scenarios": 0})
    assert none["changedScenarios"] == []


def test_models_are_those_of_usable_providers(world: World) -> None:
    available, _ = read_all(world.client, "list_models", {"limit": 100})
    assert {each["id"].split("/")[0] for each in available} >= {"sim"}
    assert all(each["usable"] for each in available)


def test_fields_of_the_api_are_named_as_arguments(world: World) -> None:
    problem = world.client.problem("list_runs", {"definition_id": "def_none"})
    assert (problem["status"], problem["errors"][0]["field"]) == (422, "definition_id")


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (RetryableError("later", 3), 503, "later"),
        (AppError("the password is 1234"), 500, "internal error"),
    ],
)
def test_errors_reveal_nothing_internal(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, detail: str
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(queries, "get_run", fail)
    problem = world.client.problem("get_run", {"run_id": world.run.id})
    assert (problem["status"], problem["detail"], problem["requestId"]) == (status, detail, "request-1")


def test_reading_is_not_recorded(world: World) -> None:
    before = len(audit_log.list_records("acme", 50, None, utc_now(), None, None).items)
    world.client.use("list_runs")
    world.client.problem("get_run", {"run_id": "run_none"})
    assert len(audit_log.list_records("acme", 50, None, utc_now(), None, None).items) == before


def test_agents_are_listed_without_their_headers(client: McpClient) -> None:
    headers = {"Authorization": "Bearer secret"}
    agent = {"name": "a", "type": "openai", "baseUrl": "https://agent.example.com", "config": {"model": "m"}}
    made = client.post("/v1/connectors", {**agent, "headers": headers}).json()["id"]
    listed = client.use("list_connectors")["items"]
    assert listed == [{"id": made, "name": "a", "type": "openai", "baseUrl": "https://agent.example.com"}]


@given(conversations)
def test_a_text_of_a_transcript_cannot_pretend_to_be_another(said: tuple[Message, ...]) -> None:
    """Neither a message of another speaker nor a call that was not made."""
    shown = [brief for each in said for brief in message_briefs(MessageResponse.of(each))]
    read = [(each.role, each.kind, each.content) for each in shown if each.kind is None]
    assert read == [(each.role, None, each.content) for each in said if each.content or not each.tool_calls]
    called = [json.loads(each.content) for each in shown if each.kind == "toolCall"]
    made = [call for each in said for call in each.tool_calls]
    assert [(each["name"], each["arguments"]) for each in called] == [(each.name, each.arguments) for each in made]
