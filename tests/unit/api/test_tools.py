"""Tools that are called in a run, over HTTP: their scripted results, rounds and limits."""

from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.store import executions, runs
from tests.started_runs import dispatch_and_probe
from tests.unit.api.client import Answer, Client

TOOLS = [{"name": "find_order"}, {"name": "pay"}]
SCRIPTS = [
    {"name": "find_order", "arguments": {"number": "A-17"}, "error": "busy", "times": 1},
    {"name": "find_order", "result": {"status": "shipped"}},
]


@pytest.fixture(autouse=True)
def _not_finishing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)


def create(client: Client, content: dict[str, Any], scenario: dict[str, Any]) -> Answer:
    body = {"name": "orders", "content": {"params": {"tools": TOOLS}, **content}, "scenarios": [scenario]}
    return client.post("/v1/definitions", body)


def run_of(client: Client, definition_id: str, **config: Any) -> dict[str, Any]:
    """The transcript of a run with one probe."""
    body = {"definitionId": definition_id, "models": ["sim/steady"], "config": config}
    run_id = client.post("/v1/runs", body).json()["run"]["id"]
    dispatch_and_probe(runs.get(RunRef("acme", run_id)))
    [transcript] = client.get(f"/v1/runs/{run_id}/transcripts").json()["items"]
    found: dict[str, Any] = transcript
    return found


def test_scripted_results_are_part_of_the_transcript(client: Client) -> None:
    prompt = 'find_order {"number": "A-17"}, then find_order {"number": "A-17"}, then pay'
    created = create(client, {"toolResults": SCRIPTS}, {"prompt": prompt})
    transcript = run_of(client, created.json()["id"])
    messages = transcript["content"]["messages"]
    assert [(each["content"], each.get("isError")) for each in messages if each["role"] == "tool"] == [
        ("busy", True),
        ('{"status": "shipped"}', None),
        ("No result is defined for this call.", True),
    ]
    assert (transcript["turnCount"], transcript["toolRounds"], transcript["stopReason"]) == (1, 3, None)
    assert transcript["totalSpend"]["calls"] == 4


def test_a_run_limits_the_rounds(client: Client) -> None:
    created = create(client, {"toolResults": SCRIPTS}, {"prompt": "find_order, find_order, find_order"})
    transcript = run_of(client, created.json()["id"], params={"maxToolRounds": 2})
    assert (transcript["toolRounds"], transcript["stopReason"]) == (2, "max_tool_rounds")
    assert transcript["content"]["messages"][-1]["toolCalls"]


def test_scripts_are_returned_as_they_can_be_sent_again(client: Client) -> None:
    scripts = [*SCRIPTS, {"name": "pay", "result": None}]
    definition_id = create(client, {"toolResults": scripts}, {"prompt": "Hi", "toolResults": scripts}).json()["id"]
    content = client.get(f"/v1/definitions/{definition_id}").json()["content"]
    [scenario] = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"]
    again = create(client, content, {"prompt": "Hi", "toolResults": scenario["toolResults"]})
    assert again.status == 201, again.text
    stored = client.get(f"/v1/definitions/{again.json()['id']}/scenarios").json()["items"][0]
    assert stored["toolResults"] == scenario["toolResults"]


@pytest.mark.parametrize(
    ("script", "field"),
    [
        ({"name": "pay"}, ""),
        ({"name": "pay", "result": 1, "error": "no"}, ""),
        ({"name": "no name", "result": 1}, ".name"),
        ({"name": "pay", "result": "x" * 100_001}, ".result"),
        ({"name": "pay", "result": 1, "times": 0}, ".times"),
    ],
)
def test_an_invalid_script_is_refused(client: Client, script: dict[str, Any], field: str) -> None:
    refused = create(client, {}, {"prompt": "Hi", "toolResults": [script]})
    assert refused.status == 422
    assert refused.json()["errors"][0]["field"] == f"scenarios.0.toolResults.0{field}"


@pytest.mark.parametrize("rounds", [-1, 101, True])
def test_the_number_of_rounds_is_limited(client: Client, rounds: int) -> None:
    refused = create(client, {"params": {"maxToolRounds": rounds}}, {"prompt": "Hi"})
    assert refused.json()["errors"][0]["field"] == "content.params.maxToolRounds"


def connector(client: Client, **changes: Any) -> Answer:
    body = {"name": "shop", "type": "tools", "baseUrl": "https://shop.example/tools", **changes}
    return client.post("/v1/connectors", body)


def start(client: Client, definition_id: str, **body: Any) -> dict[str, str]:
    """The errors of a refused start."""
    answer = client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"], **body})
    assert answer.status == 422, answer.text
    return {error["field"]: error["message"] for error in answer.json()["errors"]}


def test_a_connector_that_executes_calls_is_checked_when_a_run_starts(client: Client) -> None:
    definition_id = create(client, {}, {"prompt": "Hi"}).json()["id"]
    agent = connector(client, name="agent", type="openai", config={"model": "m"}).json()["id"]
    errors = start(client, definition_id, config={"params": {"toolConnectorId": agent}})
    assert errors == {"config.params.toolConnectorId": f"{agent} is not of type tools: it is an agent"}
    errors = start(client, definition_id, config={"params": {"toolConnectorId": "con_none"}})
    assert errors == {"config.params.toolConnectorId": "there is no connector con_none"}


def test_a_connector_that_executes_calls_is_no_target(client: Client) -> None:
    definition_id = create(client, {}, {"prompt": "Hi"}).json()["id"]
    shop = connector(client).json()["id"]
    [message] = start(client, definition_id, models=[f"connector/{shop}"]).values()
    assert "answers no messages" in message


def test_a_run_has_the_connector_that_executes_its_calls(client: Client) -> None:
    definition_id = create(client, {}, {"prompt": "Hi"}).json()["id"]
    params = {"toolConnectorId": connector(client).json()["id"]}
    body = {"definitionId": definition_id, "models": ["sim/steady"], "config": {"params": params}}
    assert client.post("/v1/runs", body).json()["run"]["config"]["params"].items() >= params.items()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"headers": {"Webhook-Secret": "plain"}}, "headers.Webhook-Secret"),
        ({"config": {"timeoutSeconds": 61.0}}, "config.timeoutSeconds"),
        ({"config": {"path": "call"}}, "config.path"),
    ],
)
def test_an_invalid_connector_of_tools_is_refused(client: Client, changes: dict[str, Any], field: str) -> None:
    assert connector(client, **changes).json()["errors"][0]["field"] == field
