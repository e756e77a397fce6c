"""Refusals of tools: in the words of tools and arguments, and bounded."""

from typing import Any

import pytest

from tests.unit.mcpserver.cases import World
from tests.unit.mcpserver.conftest import McpClient

MAX_BYTES = 8_000


@pytest.fixture
def world(client: McpClient) -> World:
    return World(client)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_runs", {"x" * 900_000: 1}),
        ("list_runs", {f"x{number}": 1 for number in range(5_000)}),
        ("start_run", {"definition_id": "d", "models": [1] * 100}),
        ("validate_definition", {}),
    ],
)
def test_refusals_are_bounded(client: McpClient, tool: str, arguments: dict[str, Any]) -> None:
    result = client.call(tool, arguments)
    assert result["isError"]
    assert len(result["content"][0]["text"]) < MAX_BYTES


def test_errors_that_are_not_shown_are_counted(client: McpClient) -> None:
    problem = client.problem("list_runs", {f"x{number}": 1 for number in range(25)})
    assert (len(problem["errors"]), problem["moreErrors"]) == (10, 15)


def test_fields_are_named_as_the_tool_has_them(world: World) -> None:
    start = {"definition_id": world.definition_id, "models": ["sim/steady"]}
    run = {"baseline_run_id": world.run.id, "comparison_run_id": world.run.id}
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("start_run", {**start, "config": {"judgeModel": "none/x"}}, "config.judgeModel"),
        ("start_run", {**start, "sample_percentage": 101}, "sample_percentage"),
        (
            "fork_definition",
            {"definition_id": world.definition_id, "name": "f", "content": {"template": 5}},
            "content.template",
        ),
        ("compare_runs", {**run, "baseline_targets": ["nope"]}, "baseline_targets.0"),
    ]
    for tool, arguments, field in cases:
        problem = world.client.problem(tool, arguments)
        assert field in [each["field"] for each in problem["errors"]], problem
        assert problem["detail"].count(f"{field}: "), problem


def test_requests_of_the_api_are_named_as_tools(world: World) -> None:
    detail = world.client.problem("get_run_summary", {"run_id": world.run.id})["detail"]
    assert "analyze_run" in detail
    assert "/v1/" not in detail


def test_who_sets_a_missing_key_is_said_since_no_tool_does(world: World) -> None:
    start = {"definition_id": world.definition_id, "models": ["openai/gpt-5-mini"], "confirmed_usd": 1.0}
    detail = world.client.problem("start_run", start)["detail"]
    assert detail == "models.0: provider openai has no API key: `cupel providers set openai` sets it"
