"""An id in a body that names nothing is an invalid field; one in the path is not found."""

from typing import Any

import pytest

from cupel_core.store.settings import Settings
from tests.compared_runs import run_of
from tests.unit.api.client import Client

NEW = {"definitionId": "{definition}", "models": ["sim/steady"]}
TOOLS = {"targets": [{"model": "sim/steady", "params": {"toolConnectorId": "con_none"}}]}
EVAL = {"name": "x", "scenarioIds": ["{scenario}"], "connectorId": "{connector}"}
CHAT = {"target": {"model": "sim/steady"}}
SCALE = {"goal": "Book", "count": 1, "userMessage": "Hi", "models": ["sim/steady"]}
PLAY = {"definitionId": "{definition}", "target": {"model": "sim/steady"}, "scenarioId": "{scenario}"}
SCHEDULE = {"name": "x", "expression": "rate(1 day)"}
PIECES = [{"type": "image", "fileId": "file_none"}]
SCENARIO = {"name": "x", "messages": [{"role": "user", "content": "?"}]}
PICTURE = {"name": "x", "messages": [{"role": "user", "content": PIECES}]}


def _made(client: Client, path: str, body: dict[str, Any]) -> str:
    answer = client.post(path, body)
    assert answer.status == 201, answer.text
    identity: str = answer.json()["id"]
    return identity


@pytest.fixture
def world(client: Client, cloud: Settings) -> dict[str, str]:
    definition = _made(client, "/v1/definitions", {"name": "x", "content": {"system": "Be brief."}})
    path = f"/v1/definitions/{definition}/scenarios"
    assert client.post(path, {"items": [SCENARIO]}).status == 201
    scenario = client.get(path).json()["items"][0]["id"]
    agent = {"name": "x", "type": "openai", "baseUrl": "https://example.com/v1", "config": {"model": "m"}}
    connector = _made(client, "/v1/connectors", agent)
    ids = {"definition": definition, "scenario": scenario, "connector": connector, "run": run_of(definition, "+").id}
    ids["eval"] = _made(client, "/v1/evals", _filled(EVAL, ids))
    ids["chat"] = _made(client, "/v1/chats", CHAT)
    schedule = {**SCHEDULE, "run": NEW}
    ids["schedule"] = _made(client, "/v1/schedules", _filled(schedule, ids))
    ids["experiment"] = _made(client, "/v1/experiments", {"name": "x", "hypothesis": "y"})
    return ids


def _filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, str):
        return value.format_map(ids) if value.startswith("{") or "/{" in value else value
    if isinstance(value, dict):
        return {name: _filled(each, ids) for name, each in value.items()}
    return [_filled(each, ids) for each in value] if isinstance(value, list) else value


CASES = [
    ("POST /v1/runs", {**NEW, "definitionId": "def_none"}, "definitionId"),
    ("POST /v1/runs", {**NEW, "experimentId": "exp_none"}, "experimentId"),
    ("POST /v1/runs", {**NEW, "config": {"profileId": "prf_none"}}, "config.profileId"),
    ("POST /v1/runs", {**NEW, "config": {"params": {"toolConnectorId": "con_none"}}}, "config.params.toolConnectorId"),
    ("POST /v1/runs", {**NEW, "models": ["connector/con_none"]}, "models.0"),
    ("POST /v1/runs", {"definitionId": "{definition}", **TOOLS}, "targets.0.params.toolConnectorId"),
    ("POST /v1/runs/estimate", {**NEW, "definitionId": "def_none"}, "definitionId"),
    ("POST /v1/runs/{run}/rerun", {"experimentId": "exp_none"}, "experimentId"),
    ("POST /v1/runs/{run}/rerun", {"config": {"profileId": "prf_none"}}, "config.profileId"),
    (
        "POST /v1/runs/{run}/rerun",
        {"targets": [{"connectorId": "con_none", "label": "agent"}]},
        "targets.0.connectorId",
    ),
    ("POST /v1/runs/{run}/analysis", {"rescoreId": "rsc_none"}, "rescoreId"),
    ("POST /v1/runs/{run}/analysis", {"rescoreId": "rsc_none", "kind": "deep"}, "rescoreId"),
    (
        "POST /v1/definitions/{definition}/scenarios",
        {"items": [{**SCENARIO, "personaIds": ["per_none"]}]},
        "items.0.personaIds",
    ),
    ("POST /v1/definitions/{definition}/scenarios", {"items": [PICTURE]}, "items.0.messages.0.content.0.fileId"),
    ("PATCH /v1/definitions/{definition}/scenarios/{scenario}", {"personaIds": ["per_none"]}, "personaIds"),
    (
        "POST /v1/definitions",
        {"name": "x", "content": {}, "scenarios": [{**SCENARIO, "personaIds": ["per_none"]}]},
        "scenarios.0.personaIds",
    ),
    ("POST /v1/evals", {**EVAL, "connectorId": "con_none"}, "connectorId"),
    ("POST /v1/evals", {**EVAL, "scenarioIds": ["scn_none"]}, "scenarioIds.0"),
    ("PATCH /v1/evals/{eval}", {"scenarioIds": ["scn_none"]}, "scenarioIds.0"),
    ("POST /v1/evals/{eval}/runs", {"experimentId": "exp_none"}, "experimentId"),
    ("POST /v1/evals/{eval}/runs", {"config": {"profileId": "prf_none"}}, "config.profileId"),
    ("POST /v1/schedules", {**SCHEDULE, "run": {**NEW, "definitionId": "def_none"}}, "run.definitionId"),
    ("POST /v1/schedules", {**SCHEDULE, "run": {**NEW, "experimentId": "exp_none"}}, "run.experimentId"),
    ("POST /v1/schedules", {**SCHEDULE, "evalRun": {"evalId": "evl_none"}}, "evalRun.evalId"),
    ("PATCH /v1/schedules/{schedule}", {"run": {**NEW, "definitionId": "def_none"}}, "run.definitionId"),
    ("POST /v1/experiments", {"name": "x", "hypothesis": "y", "baselineRunId": "run_none"}, "baselineRunId"),
    ("PATCH /v1/experiments/{experiment}", {"baselineRunId": "run_none"}, "baselineRunId"),
    ("POST /v1/comparisons", {"baseline": {"runId": "run_none"}, "comparison": {"runId": "{run}"}}, "baseline.runId"),
    ("POST /v1/comparisons", {"baseline": {"runId": "{run}"}, "comparison": {"runId": "run_none"}}, "comparison.runId"),
    (
        "POST /v1/comparisons",
        {"baseline": {"runId": "{run}", "rescoreId": "rsc_none"}, "comparison": {"runId": "{run}"}},
        "baseline.rescoreId",
    ),
    ("POST /v1/chats", {**CHAT, "profileId": "prf_none"}, "profileId"),
    ("POST /v1/chats", {**CHAT, "target": {"connectorId": "con_none"}}, "target.connectorId"),
    ("PATCH /v1/chats/{chat}", {"profileId": "prf_none"}, "profileId"),
    ("PATCH /v1/chats/{chat}", {"activeBranchId": "br_none"}, "activeBranchId"),
    ("PATCH /v1/chats/{chat}", {"target": {"connectorId": "con_none"}}, "target.connectorId"),
    ("POST /v1/chats/{chat}/branches", {"fromBranchId": "br_none"}, "fromBranchId"),
    ("POST /v1/chats/{chat}/branches", {"afterExchangeId": "exc_none"}, "afterExchangeId"),
    ("POST /v1/chats/{chat}/turns", {"content": "hello", "branchId": "br_none"}, "branchId"),
    ("POST /v1/chats/{chat}/turns", {"content": "hello", "profileId": "prf_none"}, "profileId"),
    ("POST /v1/scale-runs", {**SCALE, "experimentId": "exp_none"}, "experimentId"),
    ("POST /v1/scale-runs", {**SCALE, "personaIds": ["per_none"]}, "personaIds.0"),
    (
        "POST /v1/scale-runs",
        {"goal": "Book", "count": 1, "userMessage": "Hi", "connectorId": "con_none"},
        "connectorId",
    ),
    (
        "POST /v1/scale-runs",
        {"goal": "Book", "count": 1, "userMessage": "Hi", "targets": [{"connectorId": "con_none", "label": "agent"}]},
        "targets.0.connectorId",
    ),
    ("POST /v1/playground/runs", {**PLAY, "definitionId": "def_none"}, "definitionId"),
    ("POST /v1/playground/runs", {**PLAY, "scenarioId": "scn_none"}, "scenarioId"),
    ("POST /v1/playground/runs", {**PLAY, "personaId": "per_none"}, "personaId"),
    (
        "POST /v1/playground/runs",
        {"definitionId": "{definition}", "scenarioId": "{scenario}", "connectorId": "con_none"},
        "connectorId",
    ),
    ("POST /v1/judge/persona-message", {"personaId": "per_none", "messages": [], "model": "sim/steady"}, "personaId"),
]


def test_an_unknown_id_in_a_body_is_an_invalid_field(client: Client, world: dict[str, str]) -> None:
    """The requests share one world, because none of them changes it."""
    wrong = []
    for request_line, body, field in CASES:
        method, path = _filled(request_line, world).split(" ")
        answer = client.request(method, path, json=_filled(body, world))
        if (answer.status, answer.fields() if answer.status == 422 else []) != (422, [field]):
            wrong.append(f"{request_line} {field}: {answer.status} {answer.text}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", ["/v1/runs/run_none/analysis", "/v1/chats/chat_none/turns", "/v1/evals/evl_none/runs"])
def test_an_unknown_id_in_the_path_is_not_found(client: Client, path: str) -> None:
    assert client.post(path, {"content": "hello"} if "chats" in path else {}).status == 404
