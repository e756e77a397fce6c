"""`cupel personas`, `connectors` and `evals`, against the real API function."""

import json
from pathlib import Path

import pytest

from cupel.client import Client
from cupel_core.base import event_loop
from cupel_core.providers import safe_http
from cupel_core.store.settings import Settings
from tests.eval_api import create_definition
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

CONNECTOR = "name: Agent\ntype: langgraph\nbaseUrl: http://127.0.0.1:9\n"


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


def written(folder: Path, text: str) -> str:
    path = folder / "body.yaml"
    path.write_text(text)
    return str(path)


def test_a_persona_is_created_from_a_file(client: Client, cupel: Cupel, tmp_path: Path) -> None:
    result = cupel("personas", "create", written(tmp_path, "name: Ada\nsystemPrompt: You are curt.\n"))
    assert result.exit_code == 0, result.output
    (persona,) = client.list_personas()
    assert (persona["name"], persona["systemPrompt"]) == ("Ada", "You are curt.")
    assert persona["id"] in result.stdout


def test_evals_and_chats_are_listed_with_the_names_of_their_agents(client: Client, cupel: Cupel) -> None:
    agent = client.create_connector({"name": "Desk", "type": "langgraph", "baseUrl": "http://127.0.0.1:9"})
    body = {"name": "x", "content": {"system": "s"}, "scenarios": [{"prompt": "Hi"}]}
    definition = client.create_definition(body)
    scenarios = [each["id"] for each in client.list_scenarios(definition["id"])]
    targets = [{"connectorId": agent["id"]}, {"model": "sim/steady", "label": "cold"}]
    client.create_eval({"name": "both", "scenarioIds": scenarios, "targets": targets})
    client.create_chat({"target": {"connectorId": agent["id"]}, "title": "Refunds"})
    listed = cupel("evals").stdout + cupel("chats", "list").stdout
    assert ("connector/Desk, cold" in listed, listed.count("Desk"), agent["id"] in listed) == (True, 2, False)


def test_a_header_comes_from_a_variable(
    client: Client, cupel: Cupel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "s3cret")
    result = cupel("connectors", "create", written(tmp_path, CONNECTOR), "--header-env", "X-Key=AGENT_KEY")
    assert "s3cret" not in result.output
    (connector,) = client.list_connectors()
    assert connector["headerNames"] == ["X-Key"]


@pytest.mark.parametrize("option", ["X-Key", "X-Key=NOT_SET_ANYWHERE"])
def test_a_header_needs_a_variable_that_is_set(cupel: Cupel, tmp_path: Path, option: str) -> None:
    result = cupel("connectors", "create", written(tmp_path, CONNECTOR), "--header-env", option)
    assert result.exit_code == 2
    assert "--header-env" in result.stderr


def test_a_file_without_a_mapping_is_refused(cupel: Cupel, tmp_path: Path) -> None:
    result = cupel("personas", "create", written(tmp_path, "- Ada\n"))
    assert result.exit_code == 2
    assert "must be a mapping" in result.stderr


def test_a_refused_field_is_named(cupel: Cupel, tmp_path: Path) -> None:
    result = cupel("evals", "create", written(tmp_path, "name: x\nmodel: nobody/x\nscenarioIds: [scn_x]\n"))
    assert result.exit_code == 2
    assert "model: unknown provider" in result.stderr


def test_an_eval_is_shown_and_listed(client: Client, cupel: Cupel, tmp_path: Path) -> None:
    scenario_ids = [scenario["id"] for scenario in client.list_scenarios(create_definition(client, 3))]
    body = json.dumps({"name": "smoke", "model": "sim/steady", "scenarioIds": scenario_ids})
    result = json.loads(cupel("evals", "create", written(tmp_path, body), "--json").stdout)
    assert json.loads(cupel("evals", "show", result["id"]).stdout)["scenarioIds"] == scenario_ids
    assert "sim/steady" in cupel("evals").stdout
    assert [each["id"] for each in json.loads(cupel("evals", "--json").stdout)] == [result["id"]]


def test_a_persona_is_updated_and_deleted(client: Client, cupel: Cupel, tmp_path: Path) -> None:
    persona = client.create_persona({"name": "Ada"})
    assert "Grace" in cupel("personas", "update", persona["id"], written(tmp_path, "name: Grace\n")).stdout
    assert cupel("personas", "delete", persona["id"]).exit_code == 0
    assert list(client.list_personas()) == []


def test_an_agent_without_a_reply_fails_the_command(client: Client, cupel: Cupel) -> None:
    connector = client.create_connector({"name": "a", "type": "langgraph", "baseUrl": "http://127.0.0.1:9"})
    result = cupel("connectors", "test", connector["id"])
    event_loop.run(safe_http.close())
    assert result.exit_code == 1
    assert "private" in result.stdout


def test_the_settings_of_a_workspace_are_read_and_set(client: Client) -> None:
    client.update_settings({"judgeModel": "sim/contrarian"})
    assert client.get_settings()["judgeModel"] == "sim/contrarian"
