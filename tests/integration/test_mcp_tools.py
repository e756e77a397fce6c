"""A scripted agent does a whole evaluation with the tools of MCP alone, which it calls with the official client."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from cupel.stack.address import LocalStack
from tests.eval_api import TERMINAL, Json, wait_until
from tests.integration.test_graphql import CONTENT, SCENARIOS
from tests.interop import tools


class ToolUser:
    """Calls tools of the stack's MCP server."""

    def __init__(self, client: tools.McpSession) -> None:
        self._client = client

    def use(self, tool: str, **arguments: Any) -> Json:
        return self._client.call(tool, arguments)

    def run(self, definition_id: str, **more: Any) -> str:
        arguments = {"definition_id": definition_id, "models": ["sim/steady"], "sample_seed": 7, "max_budget_usd": 1.0}
        arguments |= more
        planned = {name: value for name, value in arguments.items() if name != "experiment_id"}
        assert self.use("estimate_run", **planned)["jobCount"] == SCENARIOS
        key = "-".join((definition_id, *sorted(more)))
        started, again = (self.use("start_run", **arguments, idempotency_key=key) for _ in range(2))
        assert again["run"]["id"] == started["run"]["id"]
        return str(started["run"]["id"])

    def follow(self, run_id: str) -> Json:
        def ended() -> Json | None:
            run = self.use("get_run", run_id=run_id)
            return run if run["status"] in TERMINAL else None

        return wait_until(ended, 60) or {}


@pytest.fixture
def agent(stack: LocalStack) -> Iterator[ToolUser]:
    tools.install()
    # The client waits less for the first answer than a cold start may take.
    httpx.post(f"{stack.api_url}/v1/mcp", timeout=60)
    with closing(tools.McpSession(f"{stack.api_url}/v1/mcp?tools=all&schemas=output", stack.token)) as client:
        yield ToolUser(client)


def test_an_evaluation_from_its_definition_to_its_conclusion(agent: ToolUser) -> None:
    checked = agent.use("validate_definition", content=CONTENT)
    assert (checked["valid"], checked["scenarioCount"]) == (True, SCENARIOS)
    definition_id = agent.use("create_definition", name="refunds by tools", content=CONTENT)["id"]
    assert agent.use("generate_scenarios_preview", definition_id=definition_id)["total"] == SCENARIOS
    written = agent.use("generate_scenarios", definition_id=definition_id, mode="matrix")
    assert written["status"] == "COMPLETED"

    baseline = agent.run(definition_id)
    assert agent.follow(baseline)["status"] == "COMPLETED"
    design = {"name": "by tools", "hypothesis": "warmer is kinder", "direction": "HIGHER", "baseline_run_id": baseline}
    experiment = agent.use("create_experiment", **design)["id"]
    run = agent.run(definition_id, experiment_id=experiment, config={"temperature": 1.5})
    assert agent.follow(run)["status"] == "COMPLETED"

    assert agent.use("analyze_run", run_id=run)["status"] == "COMPLETED"
    assert agent.use("analyze_run", run_id=run, kind="deep")["status"] == "COMPLETED"
    compared = agent.use("compare_runs", baseline_run_id=baseline, comparison_run_id=run)
    assert compared["status"] == "COMPLETED"
    [row] = compared["rows"]
    assert row["targets"] == ["sim/steady"]
    assert row["sentence"]
    assert compared["changes"]
    conclusion = {"conclusion": "INCONCLUSIVE", "note": row["sentence"]}
    concluded = agent.use("update_experiment", experiment_id=experiment, **conclusion)
    assert (concluded["status"], concluded["note"]) == ("CONCLUDED", row["sentence"])


def test_a_model_writes_scenarios_and_a_run_is_graded_again(agent: ToolUser) -> None:
    definition_id = agent.use("create_definition", name="written by a model, asked by tools", content=CONTENT)["id"]
    agent.use("generate_scenarios", definition_id=definition_id, mode="llm", model="sim/steady")

    def has_scenarios() -> bool:
        return bool(agent.use("get_definition", definition_id=definition_id)["scenarioCount"] == SCENARIOS)

    assert wait_until(has_scenarios)
    run_id = agent.run(definition_id)
    assert agent.follow(run_id)["status"] == "COMPLETED"
    rescore = agent.use("rescore_run", run_id=run_id, assertions=[{"type": "contains", "value": "Rating"}])

    def is_graded() -> bool:
        found = agent.use("get_rescore", run_id=run_id, rescore_id=rescore["id"])
        return bool(found["status"] == "COMPLETED" and found["progress"]["completed"] == SCENARIOS)

    assert wait_until(is_graded)


def test_a_prompt_is_tried(agent: ToolUser) -> None:
    targets = [{"model": "sim/steady", "label": label, "params": {"maxOutputTokens": 50}} for label in ("one", "two")]
    started = agent.use(
        "start_scale_run", targets=targets, system_prompt="Be brief.", user_message="Rate it", max_turns=1, count=1
    )
    assert agent.follow(started["run"]["id"])["status"] == "COMPLETED"
    results = agent.use("get_run_results", run_id=started["run"]["id"])["items"]
    assert [each["status"] for each in results] == ["COMPLETED"] * 2
    read = agent.use("get_transcript", transcript_id=results[0]["id"])
    assert [each["role"] for each in read["messages"]] == ["system", "user", "assistant"]
