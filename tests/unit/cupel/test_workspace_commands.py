"""`cupel workspaces`, against the API function on moto."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from cupel.client import Client
from cupel_core.domain.access import AccessRole
from cupel_core.store.settings import Settings
from tests.quoted_runs import MARKER, quoted_run
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.api_function import command_of
from tests.unit.cupel.fake_api import Cupel

KINDS = {
    "audit",
    "connectors",
    "definitions",
    "errors",
    "evals",
    "events",
    "personas",
    "providers",
    "rescore-results",
    "rescores",
    "runs",
    "scenarios",
    "schedules",
    "settings",
    "tokens",
    "transcripts",
    "webhook",
}


def client_of(workspace: str, role: AccessRole) -> Client:
    api = ApiClient(None)
    return Client("http://api.test", api.issue(workspace, role), transport=api_transport(api))


@pytest.fixture
def operator(cloud: Settings) -> Cupel:
    assert cloud.table_name
    return command_of(client_of("operators", AccessRole.OPERATOR))


def test_a_workspace_is_created_and_listed(operator: Cupel) -> None:
    assert operator("workspaces", "create", "team-a").stdout.startswith("cupel_")
    assert operator("workspaces").stdout.splitlines()[1].startswith("team-a")
    listed = json.loads(operator("workspaces", "list", "--json").stdout)
    assert [each["name"] for each in listed] == ["team-a"]


def test_a_workspace_is_erased_once_its_name_is_repeated(operator: Cupel) -> None:
    operator("workspaces", "create", "team-a")
    assert operator("workspaces", "erase", "team-a", stdin="team-b\n").exit_code == 2
    erased = operator("workspaces", "erase", "team-a", stdin="team-a\n")
    assert erased.stdout.endswith("erasing team-a; nobody can read it any more\n")
    assert json.loads(operator("workspaces", "show", "team-a", "--json").stdout)["erasedAt"]


def test_a_script_repeats_the_name_as_an_option(operator: Cupel) -> None:
    operator("workspaces", "create", "team-a")
    refused = operator("workspaces", "erase", "team-a", "--confirm", "team-b")
    assert (refused.exit_code, "team-b is not the workspace to erase, team-a" in refused.stderr) == (2, True)
    erased = operator("workspaces", "erase", "team-a", "--confirm", "team-a", "--json")
    assert json.loads(erased.stdout) == {"name": "team-a", "erased": True}


@pytest.fixture
def client(cloud: Settings) -> Client:
    assert cloud.table_name
    return client_of("ws_a", AccessRole.ADMIN)


@pytest.fixture
def definition_id(client: Client) -> str:
    scenario = {"messages": [{"role": "user", "content": "Is it?"}]}
    definition = {"name": "facts", "content": {"system": "Be brief."}, "scenarios": [scenario]}
    return str(client.create_definition(definition)["id"])


def export(client: Client, tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """The lines of the archive by kind."""
    assert command_of(client)("workspaces", "export", str(tmp_path / "ws_a.zip")).exit_code == 0
    with ZipFile(tmp_path / "ws_a.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".jsonl")]
        return {name[:-6]: [json.loads(line) for line in archive.read(name).splitlines()] for name in names}


def test_all_versions_of_definitions_are_exported_with_the_scenarios_that_were_run(
    client: Client, definition_id: str, tmp_path: Path
) -> None:
    run_id = client.create_run({"definitionId": definition_id, "models": ["sim/steady"]})["run"]["id"]
    for text in ("Be long.", "Be kind."):
        client.update_definition(definition_id, {"content": {"system": text}})
    lines = export(client, tmp_path)
    assert [(line["id"], line["version"]) for line in lines["definitions"]] == [
        (definition_id, number) for number in (3, 2, 1)
    ]
    assert [line["definitionVersion"] for line in lines["scenarios"]] == [3, 1]
    assert [line["runId"] for line in lines["events"]] == [run_id]


async def test_what_was_said_in_runs_is_exported(client: Client, tmp_path: Path) -> None:
    run = await quoted_run()
    lines = export(client, tmp_path)
    kinds = ("transcripts", "errors", "rescore-results")
    assert all(line["runId"] == run.id for kind in kinds for line in lines[kind])
    assert MARKER in json.dumps(lines["transcripts"])
    assert [len(lines[kind]) > 0 for kind in kinds] == [True] * 3


@pytest.mark.usefixtures("definition_id")
def test_every_kind_is_exported_and_counted(client: Client, tmp_path: Path) -> None:
    lines = export(client, tmp_path)
    assert lines.keys() == KINDS
    with ZipFile(tmp_path / "ws_a.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["format"], manifest["formatVersion"]) == ("cupel-workspace", 1)
    assert manifest["counts"] == {kind: len(each) for kind, each in lines.items()}


def test_an_export_that_fails_leaves_no_file(cloud: Settings, tmp_path: Path) -> None:
    assert cloud.table_name
    viewer = command_of(client_of("ws_a", AccessRole.VIEWER))
    refused = viewer("workspaces", "export", str(tmp_path / "ws_a.zip"))
    assert (refused.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "requires the role admin" in refused.stderr
