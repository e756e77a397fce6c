"""Money: what a model may not start before the user has agreed, and calls that are repeated."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.interfaces.mcp.registry import list_all_tools
from cupel_core.interfaces.routes import load
from tests.unit.mcpserver.cases import CASES, CONTENT, YES, World, completed_run
from tests.unit.mcpserver.conftest import McpClient

PRICED, UNPRICED = "openai/gpt-5-mini", "openai/made-up-model"
SIM_PRICE = {"model": None, "inputUsdPerMillion": 10, "outputUsdPerMillion": 10}


@pytest.fixture
def world(client: McpClient) -> World:
    return World(client)


@pytest.fixture
def definition_id(world: World) -> str:
    assert world.client.put("/v1/providers/openai", {"apiKey": "sk-secret-123456789"}).status == 200
    return world.definition_id


def test_a_run_without_a_budget_starts_when_the_user_has_agreed(client: McpClient, definition_id: str) -> None:
    arguments = {"definition_id": definition_id, "models": [PRICED], "repeats": 1000}
    refused = client.problem("start_run", arguments)
    assert (refused["status"], "estimate" in refused) == (409, False)
    assert (
        f"ask the user whether ${refused['expectedUsd']:g} is acceptable, then send confirmed_usd" in refused["detail"]
    )
    assert "confirmedUsd" not in refused["detail"]
    assert client.problem("start_run", {**arguments, "confirmed_usd": 0.0})["status"] == 409
    assert client.use("start_run", {**arguments, "confirmed_usd": refused["expectedUsd"]})["run"]["status"] == "PENDING"
    assert client.use("start_run", {**arguments, "max_budget_usd": 1_000.0})["run"]["status"] == "PENDING"


def test_what_to_send_is_said_although_the_reason_is_long(client: McpClient, definition_id: str) -> None:
    """The run costs less than the month has left, but not with what a call needs in hand."""
    prices = [{**SIM_PRICE, "inputUsdPerMillion": 12_345.678, "outputUsdPerMillion": 12_345.678}]
    assert client.put("/v1/providers/sim", {"prices": prices}).status == 200
    arguments = {"definition_id": definition_id, "models": ["sim/steady"], "max_budget_usd": 100_000.0}
    expected = client.use("estimate_run", arguments)["usd"]["expected"]
    limits = {"budgets": {"monthUsd": round(expected + 0.123456, 6)}}
    assert client.put("/v1/settings", limits).status == 200
    detail = client.problem("start_run", arguments)["detail"]
    assert "in hand" in detail
    assert detail.endswith(f"send confirmed_usd of at least {expected}")


def test_an_integer_may_have_a_zero_fraction(client: McpClient, world: World) -> None:
    arguments = {"definition_id": world.definition_id, "models": ["sim/steady"]}
    assert client.use("estimate_run", {**arguments, "sample_percentage": 50.0})["jobCount"] == 1
    assert client.problem("estimate_run", {**arguments, "sample_percentage": 50.5})["status"] == 422


def test_a_budget_that_does_not_suffice_is_a_question_to_the_user(client: McpClient, definition_id: str) -> None:
    arguments = {"definition_id": definition_id, "models": [PRICED], "repeats": 1000, "max_budget_usd": 0.01}
    detail = client.problem("start_run", arguments)["detail"]
    assert "more than its budget of $0.01" in detail
    assert "ask the user whether" in detail
    assert "confirmedUsd" not in detail


@pytest.mark.parametrize("budget", [{}, {"max_budget_usd": 1.0}])
def test_unknown_prices_are_agreed_to_by_an_argument(
    client: McpClient, definition_id: str, budget: dict[str, Any]
) -> None:
    arguments = {"definition_id": definition_id, "models": [UNPRICED], **budget}
    refused = client.problem("start_run", arguments)
    assert [each["field"] for each in refused["errors"]] == ["allow_unpriced"]
    assert "allowUnpriced" not in refused["detail"]
    assert client.use("start_run", {**arguments, "allow_unpriced": True})["run"]["status"] == "PENDING"


def test_an_estimate_says_what_a_start_needs(client: McpClient, definition_id: str) -> None:
    arguments = {"definition_id": definition_id, "models": [PRICED], "repeats": 1000}
    assert client.use("estimate_run", arguments)["usd"]["expected"] > 0
    limited = client.use("estimate_run", {**arguments, "max_budget_usd": 0.01})["budget"]
    assert (limited["exceeds"], limited["confirmationRequired"]) == ("run", True)
    assert not client.use("estimate_run", {**arguments, "max_budget_usd": 1_000.0})["budget"]["confirmationRequired"]
    unpriced = client.use("estimate_run", {"definition_id": definition_id, "models": [UNPRICED]})
    assert unpriced["unpriced"] == [UNPRICED]
    free = client.use("estimate_run", {"definition_id": definition_id, "models": ["sim/steady"]})
    assert free["usd"]["expected"] == 0


def test_probes_that_are_added_to_a_run_without_a_budget_need_agreement(client: McpClient, world: World) -> None:
    assert client.put("/v1/providers/sim", {"prices": [SIM_PRICE]}).status == 200
    for name, arguments in (
        ("retry_run", {"run_id": world.run.id}),
        ("expand_run", {"run_id": world.sampled(), "sample_percentage": 100}),
    ):
        refused = client.problem(name, arguments)
        assert (refused["status"], "the run has no budget" in refused["detail"]) == (409, True)
        assert "then send confirmed_usd" in refused["detail"]
        assert client.use(name, {**arguments, "confirmed_usd": refused["expectedUsd"]})["status"] == "RUNNING"


def test_an_estimate_says_what_an_addition_needs(client: McpClient, world: World) -> None:
    free = client.use("estimate_retry", {"run_id": world.run.id})
    assert (free["jobCount"], free["usd"]["expected"]) == (1, 0)
    assert client.put("/v1/providers/sim", {"prices": [SIM_PRICE]}).status == 200
    priced = World(client)
    sampled = priced.sampled()
    paid = client.use("estimate_expansion", {"run_id": sampled, "sample_percentage": 100})
    assert (paid["jobCount"], paid["usd"]["expected"] > 0) == (6, True)
    assert client.use("estimate_retry", {"run_id": priced.run.id})["usd"]["expected"] > 0
    problem = client.problem("estimate_expansion", {"run_id": sampled, "sample_percentage": 50})
    assert problem["errors"][0]["field"] == "sample_percentage"


def test_a_rescore_by_a_judge_that_is_not_free_needs_a_budget(client: McpClient, world: World) -> None:
    rubric = {"run_id": world.run.id, "assertions": [{"type": "llm-rubric", "value": "is polite"}]}
    assert client.use("rescore_run", rubric)["status"] == "PENDING"
    assert client.put("/v1/providers/sim", {"prices": [SIM_PRICE]}).status == 200
    refused = client.problem("rescore_run", rubric)
    assert [each["field"] for each in refused["errors"]] == ["max_budget_usd"]
    assert "ask the user" in refused["detail"]
    made = client.use("rescore_run", {**rubric, "max_budget_usd": 2.0})
    assert made["budget"].items() >= {"maxBudgetUsd": 2, "spentUsd": 0, "reservedUsd": 0}.items()
    assert client.use("rescore_run", {"run_id": world.run.id, "assertions": [YES]})["status"] == "PENDING"


def test_a_scale_run_that_is_not_free_needs_agreement(client: McpClient, definition_id: str) -> None:
    arguments = {"models": [PRICED], "user_message": "Rate it", "count": 100, "evaluators": {"toxicity": False}}
    refused = client.problem("start_scale_run", arguments)
    assert (refused["status"], refused["expectedUsd"] > 0) == (409, True)
    assert client.use("start_scale_run", {**arguments, "max_budget_usd": 100.0})["jobCount"] == 100
    assert (
        client.use("start_scale_run", {**arguments, "confirmed_usd": refused["expectedUsd"]})["run"]["status"]
        == "PENDING"
    )


REPEATED: dict[str, Callable[[World], dict[str, Any]]] = {
    **{name: CASES[name] for name in ("create_definition", "fork_definition", "create_experiment", "start_run")},
    "generate_scenarios": lambda world: {"definition_id": world.definition(), "mode": "matrix"},
    "rescore_run": CASES["rescore_run"],
    "start_scale_run": CASES["start_scale_run"],
    "retry_run": CASES["retry_run"],
    "expand_run": CASES["expand_run"],
}


def test_every_tool_that_creates_like_the_api_has_a_key() -> None:
    changing = {each.name: each.operation for each in list_all_tools() if not each.changes_nothing}
    creating = {name for name, operation in changing.items() if operation and load(operation).replay}
    assert creating == set(REPEATED)
    assert creating == {each.name for each in list_all_tools() if "idempotency_key" in each.argument_names}


@pytest.mark.parametrize("name", sorted(REPEATED))
def test_a_call_that_is_repeated_with_its_key_creates_nothing_again(world: World, name: str) -> None:
    arguments = {**REPEATED[name](world), "idempotency_key": "k-1"}
    first, again = (world.client.use(name, arguments) for _ in range(2))
    assert first == again
    other: dict[str, Any] = {"name": "other"}
    if "run_id" in arguments:
        other = {"run_id": completed_run(world.definition_id).id}
    elif "definition_id" in arguments:
        other = {"definition_id": world.definition()}
    refused = world.client.problem(name, arguments | other)
    assert (refused["status"], refused["errors"][0]["field"]) in ((422, "idempotency_key"), (422, "sample_percentage"))


def test_without_a_key_each_call_creates_something(client: McpClient) -> None:
    arguments = {"name": "d", "content": CONTENT}
    assert client.use("create_definition", arguments)["id"] != client.use("create_definition", arguments)["id"]


def test_a_refused_call_frees_its_key(client: McpClient) -> None:
    invalid = {"definition_id": "none", "mode": "matrix", "idempotency_key": "k-1"}
    assert client.problem("generate_scenarios", invalid)["status"] == 404
    assert client.use("create_experiment", {"name": "e", "hypothesis": "h", "idempotency_key": "k-1"})["id"]


STATE = ("definitions", "runs", "experiments", "settings", "providers", "queue", "comparisons")
IDEMPOTENT = [each.name for each in list_all_tools() if each.is_idempotent and not each.changes_nothing]


def test_annotations_say_what_is_lost_and_which_tools_call_models(client: McpClient) -> None:
    hints = {each["name"]: each["annotations"] for each in client.result("tools/list", query={"tools": "all"})["tools"]}
    lossy = {"generate_scenarios", "update_settings", "update_provider", "set_run_budget", "delete_run"}
    assert all(hints[name]["destructiveHint"] for name in (*lossy, "remove_run_from_experiment"))
    assert not any(hints[name]["destructiveHint"] for name in ("start_run", "create_definition", "pause_run"))
    assert not any(hints[name]["idempotentHint"] for name in ("update_definition", "analyze_run", "generate_scenarios"))
    assert {name for name, each in hints.items() if each["openWorldHint"]} == {
        "call_operation",
        "start_run",
        "resume_run",
        "retry_run",
        "expand_run",
        "set_run_budget",
        "rescore_run",
        "set_rescore_budget",
        "start_scale_run",
        "generate_scenarios",
        "analyze_run",
        "create_report",
        "resume_queue",
        "redrive_dead_letters",
    }


@pytest.mark.parametrize("name", IDEMPOTENT)
def test_an_idempotent_tool_that_is_called_again_changes_nothing_more(world: World, name: str) -> None:
    arguments = CASES[name](world)
    world.client.use(name, arguments)
    before = _state(world)
    again = world.client.call(name, arguments)
    assert _state(world) == before
    if again["isError"]:
        assert json.loads(again["content"][0]["text"])["status"] in (404, 409, 422)


def _state(world: World) -> list[str]:
    answers = [world.client.get(f"/v1/{each}") for each in STATE]
    assert [each.status for each in answers] == [200] * len(STATE)
    return [re.sub('"updatedAt":"[^"]+"', "", each.text) for each in answers]
