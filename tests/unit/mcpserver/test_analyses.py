"""What tools read of analyses: texts that are not trusted, counts, and runs with several prompts and many targets."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.interfaces.mcp.models import UNTRUSTED
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.mcpserver.cases import CASES, World
from tests.unit.mcpserver.conftest import McpClient


@pytest.fixture
def world(client: McpClient) -> World:
    return World(client)


def analyzed(world: World, **fields: Any) -> str:
    """The id of a run with four scenarios of two levels, and its analysis."""
    scenarios = tuple(
        Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),), {"stakes": float(number % 2 + 1)})
        for number in range(4)
    )
    described = {
        "answer": lambda index: f"Rating: {index % 5 + 1}",
        "summary": Summary("3", "x", NOW),
        "content": Content(decision=DecisionMethod(pattern="Rating: ([1-5])")),
        **fields,
    }
    run = AnsweredRun(scenarios, workspace="acme", definition_id=world.definition_id, **described).completed()
    assert world.client.post(f"/v1/runs/{run.id}/analysis").status == 200
    return run.id


@pytest.mark.parametrize(
    "name",
    [
        "get_run_summary",
        "get_contested_scenarios",
        "get_deep_analysis",
        "get_comparison",
        "get_run",
        "get_queue_status",
    ],
)
def test_results_with_texts_of_others_say_that_these_are_data(world: World, name: str) -> None:
    assert world.client.use(name, CASES[name](world))["notice"] == UNTRUSTED


def test_the_answers_of_a_level_are_those_that_its_mean_is_of(world: World) -> None:
    run_id = analyzed(world, models=("sim/steady",), summary=None)
    (found,) = world.client.use("get_dimension_analysis", {"run_id": run_id})["dimensions"]
    assert [(each["n"], each["completed"], "mean" in each) for each in found["levels"]] == [(0, 2, False)] * 2


def test_a_target_with_several_prompts_is_named_with_one(world: World) -> None:
    run_id = analyzed(world, prompt_ids=("kind", "terse"))
    arguments = {"run_id": run_id, "model": "sim/bold"}
    ambiguous = world.client.problem("get_dimension_analysis", arguments)
    assert [each["field"] for each in ambiguous["errors"]] == ["prompt_id"]
    assert "kind, terse" in ambiguous["detail"]
    rest = world.client.get(f"/v1/runs/{run_id}/analysis").json()["figures"]
    for number, prompt_id in ((2, "kind"), (3, "terse")):
        found = world.client.use("get_dimension_analysis", {**arguments, "prompt_id": prompt_id})
        assert found["target"] == rest["columns"][number]["name"]
        expected = rest["dimensions"][0]["columns"][number]["levels"]
        means = [each["decision"]["mean"] for each in expected]
        assert [each["mean"] for each in found["dimensions"][0]["levels"]] == means
        named = world.client.use("get_dimension_analysis", {"run_id": run_id, "model": found["target"]})
        assert named == found


@pytest.mark.parametrize(
    ("arguments", "field", "known"),
    [
        ({"model": "sim/bold", "prompt_id": "none"}, "prompt_id", "kind, terse"),
        ({"prompt_id": "kind"}, "model", "sim/steady, sim/bold"),
        ({"model": "none"}, "model", "sim/steady, sim/bold"),
    ],
)
def test_what_names_no_target_is_refused_with_those_of_the_run(
    world: World, arguments: dict[str, Any], field: str, known: str
) -> None:
    run_id = analyzed(world, prompt_ids=("kind", "terse"))
    refused = world.client.problem("get_dimension_analysis", {"run_id": run_id, **arguments})
    assert [each["field"] for each in refused["errors"]] == [field]
    assert known in refused["detail"]


MANY = tuple(f"sim/steady-{number:02d}" for number in range(40))


def read_on(world: World, tool: str, arguments: dict[str, Any], key: str, offset: str = "offset") -> list[Any]:
    """What a tool lists under the key, as often as it is cut."""
    found: list[Any] = []
    total = 1
    while len(found) < total:
        part = world.client.use(tool, {**arguments, offset: len(found)})
        assert part[key]
        found += part[key]
        total = part[f"total{key.capitalize()}"]
    return found


def test_all_targets_of_a_run_can_be_read(world: World) -> None:
    run_id = analyzed(world, models=MANY)
    rest = world.client.get(f"/v1/runs/{run_id}/analysis").json()["figures"]
    for tool in ("get_run_summary", "get_statistical_summary", "get_latency_stats"):
        targets = read_on(world, tool, {"run_id": run_id}, "targets")
        assert [each["name"] for each in targets] == list(MANY)
    arguments = {"run_id": run_id, "targets": [MANY[0], *MANY[20:39]], "offset": 20}
    pairs = read_on(world, "get_statistical_summary", arguments, "pairs", "pair_offset")
    assert len({(each["first"], each["second"]) for each in pairs}) == len(pairs) == 190
    assert world.client.use("get_statistical_summary", {"run_id": run_id})["totalPairs"] == 780
    assert len(rest["agreement"]["pairs"]) == 780
    grouped = {"run_ids": [run_id], "group_by": ["model"], "dimensions": ["stakes"]}
    rows = read_on(world, "aggregate_results", grouped, "rows")
    assert len({(each["model"], each["levels"]["stakes"]) for each in rows}) == len(rows) == 80


def test_a_run_with_many_long_names_is_cut_and_read_whole_by_its_fields(world: World) -> None:
    """Neither a page of runs nor a run fits into a result."""
    models = tuple(f"sim/steady-{number:02d}-{'x' * 200}" for number in range(40))
    run = AnsweredRun(models=models, workspace="acme").start()
    (listed,) = world.client.use("list_runs", {"limit": 1})["items"]
    shown = listed["config"]["models"]
    assert (listed["id"], shown, len(shown) < 40) == (run.id, list(models[: len(shown)]), True)
    found = world.client.use("get_run", {"run_id": run.id})
    assert found["truncated"]
    assert found["cut"] == [f"config.targets: {len(found['config']['targets'])} of 40"]
    called = {"operation": "getRun", "arguments": {"run_id": run.id}, "fields": ["config.models"]}
    assert world.client.use("call_operation", called)["result"] == {"config": {"models": list(models)}}


@pytest.mark.parametrize("tool", ["get_run_summary", "get_statistical_summary", "get_latency_stats"])
def test_targets_are_named_by_name_id_or_model(world: World, tool: str) -> None:
    run_id = analyzed(world, models=("sim/steady", "sim/bold", "sim/terse"), prompt_ids=("a", "b"))
    wanted = {"run_id": run_id, "targets": ["sim/terse", "sim/steady · b"]}
    found = world.client.use(tool, wanted)
    assert [each["name"] for each in found["targets"]] == ["sim/steady · b", "sim/terse · a", "sim/terse · b"]
    assert found["totalTargets"] == 3
    assert found.get("totalPairs", 3) == len(found.get("pairs", range(3))) == 3
    refused = world.client.problem(tool, {"run_id": run_id, "targets": ["sim/steady", "none"]})
    assert [each["field"] for each in refused["errors"]] == ["targets"]
    assert "sim/steady, sim/bold, sim/terse" in refused["detail"]
