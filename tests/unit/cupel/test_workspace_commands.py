"""`cupel workspaces`, against the API function on moto."""

import json

import pytest

from cupel.client import Client
from cupel_core.domain.access import AccessRole
from cupel_core.settings import Settings
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.api_function import command_of
from tests.unit.cupel.fake_api import Cupel


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
