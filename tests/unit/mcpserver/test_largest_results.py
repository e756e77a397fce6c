"""Results of every tool in a workspace with the largest things: within their size, and of their schema."""

import json
from functools import cached_property
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cupel_core.analysis.jobs import run_job
from cupel_core.base.messages import JobRequest
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.interfaces.mcp.registry import list_all_tools
from cupel_core.interfaces.mcp.request import MAX_RESULT_BYTES
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.mcpserver.cases import CASES, INJECTION, World
from tests.unit.mcpserver.conftest import McpClient

TARGETS, SCENARIOS, DIMENSIONS = 40, 6, 30
TOOLS = {each.name: each for each in list_all_tools()}
LONG = '\U0001f600é\\"\n' * 600
"""Each character of which takes several bytes as JSON."""
NAMES = [f"{number:02d} {'é' * 90}" for number in range(DIMENSIONS)]
LAST = ("update_experiment", "remove_run_from_experiment", "retry_run", "delete_definition", "delete_run")
"""Called after all others, because of what they change."""


class LargeWorld(World):
    @cached_property
    def definition_id(self) -> str:
        level = {"label": "é" * 100, "description": "é" * 100, "options": ["é" * 100, "è" * 100]}
        levels = [{**level, "score": score} for score in (1, 2)]
        content = {
            "system": LONG,
            "template": "Rate it: " + " ".join(f"[{name}]" for name in NAMES),
            "dimensions": [{"name": name, "levels": levels} for name in NAMES],
        }
        scores = dict.fromkeys(NAMES, 1)
        case = {"messages": [{"role": "user", "content": LONG}], "dimensions": scores}
        scenarios = [{**case, "name": f"{number} {'é' * 150}"} for number in range(10)]
        body = {
            "name": "é" * 190,
            "folder": "é" * 190,
            "tags": [f"{number} {'é' * 90}" for number in range(49)],
            "content": content,
            "scenarios": scenarios,
        }
        return str(self._created("/v1/definitions", body)["id"])

    @cached_property
    def run(self) -> Run:
        return self.completed()

    def completed(self) -> Run:
        return AnsweredRun(
            tuple(_case(number) for number in range(SCENARIOS)),
            tuple(f"sim/steady-{number:02d}-{'x' * 200}" for number in range(TARGETS)),
            answer=_answer,
            content=Content(decision=DecisionMethod(pattern="Rating: ([1-5])")),
            workspace="acme",
            definition_id=self.definition_id,
            summary=Summary("4", LONG, NOW),
        ).completed()

    @cached_property
    def comparison(self) -> dict[str, Any]:
        body = {"baseline": {"runId": self.run.id}, "comparison": {"runId": self.completed().id}}
        answer = self.client.post("/v1/comparisons", body)
        assert answer.status == 202, answer.text
        run_job(JobRequest(workspace="acme", job_id=answer.json()["jobId"]), 900)
        return dict(answer.json())

    @cached_property
    def experiment_id(self) -> str:
        body = {
            "hypothesis": "é" * 5_000,
            "nullHypothesis": "é" * 5_000,
            "description": "é" * 5_000,
            "tags": [f"{number} {'é' * 90}" for number in range(50)],
            "controlledVariables": [f"{number} {'é' * 90}" for number in range(50)],
            "baselineRunId": self.run.id,
        }
        made = [self._created("/v1/experiments", {**body, "name": f"{n} {'é' * 90}"}) for n in range(10)]
        return str(made[0]["id"])

    @cached_property
    def chat_id(self) -> str:
        chat = self._created("/v1/chats", {"title": "é" * 90, "target": {"model": "sim/steady"}, "system": LONG})
        turn = self.client.post(f"/v1/chats/{chat['id']}/turns", {"content": LONG})
        assert turn.status == 201, turn.text
        return str(chat["id"])


def _answer(index: int) -> str | None:
    return None if index == TARGETS * SCENARIOS - 1 else f"Rating: {index % 5 + 1}. {INJECTION} {LONG}"


def _case(number: int) -> Scenario:
    scores = {name: float((number >> (position % 3)) % 2 + 1) for position, name in enumerate(NAMES)}
    return Scenario("", f"{number} {'é' * 150}", (Message(MessageRole.USER, LONG),), scores)


def arguments_of(name: str, world: World) -> dict[str, Any]:
    """As many as possible of what the tool returns."""
    arguments = dict(CASES[name](world))
    fields = TOOLS[name].argument_names
    if "limit" in fields:
        arguments["limit"] = 100
    if name == "aggregate_results":
        arguments |= {"group_by": ["run", "model", "target"], "dimensions": NAMES[:5]}
    if name == "generate_scenarios":  # The levels of the large definition have too many combinations.
        arguments["definition_id"] = world.definition()
    if name == "get_comparison":
        arguments["scenarios"] = 50
    return arguments


@pytest.fixture
def world(client: McpClient) -> LargeWorld:
    return LargeWorld(client)


def order_of(name: str) -> tuple[bool, int]:
    return not TOOLS[name].changes_nothing, LAST.index(name) + 1 if name in LAST else 0


def test_every_result_has_its_schema_and_its_size(world: LargeWorld) -> None:
    schemas = {
        each["name"]: each["outputSchema"]
        for each in world.client.result("tools/list", query={"tools": "all", "schemas": "output"})["tools"]
    }
    cut = set()
    for name in sorted(TOOLS, key=order_of):
        token = world.client.issue()  # A token may send 100 requests at once.
        result = world.client.call(name, arguments_of(name, world), token=token)
        assert not result["isError"], (name, result["content"])
        content = result["structuredContent"]
        Draft202012Validator(schemas[name]).validate(content)
        assert json.loads(result["content"][0]["text"]) == content, name
        assert len(result["content"][0]["text"].encode()) <= TOOLS[name].max_bytes, name
        if content.get("truncated") or content.get("nextCursor") or content.get("nextOffset"):
            cut.add(name)
    assert len(cut) > 15, sorted(cut)


def test_every_resource_has_the_size_of_a_result(world: LargeWorld) -> None:
    for uri in (
        f"cupel://definitions/{world.definition_id}",
        f"cupel://runs/{world.analyzed_run_id}/analysis",
        f"cupel://comparisons/{world.comparison['id']}",
        f"cupel://experiments/{world.experiment_id}",
    ):
        (content,) = world.client.result("resources/read", {"uri": uri})["contents"]
        assert len(content["text"].encode()) <= MAX_RESULT_BYTES, uri
        assert json.loads(content["text"])
