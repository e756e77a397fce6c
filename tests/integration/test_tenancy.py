"""A token of another workspace has no access to a run."""

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import Json, create_definition, evaluate


@pytest.fixture(scope="module")
def ended_run(api: Client) -> Json:
    return evaluate(api, create_definition(api, 2), "sim/steady")


@pytest.mark.parametrize(
    "path",
    [
        "/runs/{id}",
        "/runs/{id}/probes",
        "/runs/{id}/transcripts",
        "/runs/{id}/events",
        "/transcripts/{id}-0",
        "/definitions/{definitionId}",
        "/definitions/{definitionId}/scenarios",
        "/definitions/{definitionId}/ancestors",
    ],
)
def test_another_workspace_cannot_read(other_workspace: Client, ended_run: Json, path: str) -> None:
    with pytest.raises(ApiProblem) as error:
        other_workspace._get(path.format(**ended_run))
    assert error.value.status == 404


def test_another_workspace_cannot_delete_the_run(api: Client, other_workspace: Client, ended_run: Json) -> None:
    with pytest.raises(ApiProblem) as error:
        other_workspace.delete_run(ended_run["id"])
    assert (error.value.status, api.get_run(ended_run["id"])["id"]) == (404, ended_run["id"])


def test_another_workspace_cannot_use_the_definition(other_workspace: Client, ended_run: Json) -> None:
    with pytest.raises(ApiProblem) as error:
        other_workspace.create_run({"definitionId": ended_run["definitionId"], "models": ["sim/steady"]})
    assert (error.value.status, error.value.errors[0].field) == (422, "definitionId")


@pytest.mark.usefixtures("ended_run")
def test_the_lists_of_another_workspace_are_empty(other_workspace: Client) -> None:
    assert (list(other_workspace.list_runs()), list(other_workspace.list_definitions())) == ([], [])


def test_provider_settings_belong_to_one_workspace(api: Client, other_workspace: Client) -> None:
    api.update_provider("mistral", {"apiKey": "dummy"})
    assert {each["name"]: each["hasKey"] for each in other_workspace.list_providers()}["mistral"] is False


def test_only_tokens_of_the_workspace_are_listed(other_workspace: Client) -> None:
    assert [each["name"] for each in other_workspace.list_tokens()] == ["first admin"]
