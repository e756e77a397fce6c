"""What a token of another workspace sees of a run: nothing."""

import json
from collections.abc import Iterator

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from cupel.stack.address import Local
from cupel.stack.paths import Place
from cupel.stack.subprocesses import child_environment, run
from tests.eval_api import Json, define, evaluate


@pytest.fixture(scope="module")
def stranger(stack: Local, place: Place) -> Iterator[Client]:
    """An admin, but of another workspace."""
    command = ["cupel", "tokens", "bootstrap", "--stack-name", stack.stack_name, "--workspace", "another", "--json"]
    issued = json.loads(run(command, place, child_environment(place, stack.endpoint_url)))
    with Client(stack.api_url, issued["token"]) as client:
        yield client


@pytest.fixture(scope="module")
def ended(api: Client) -> Json:
    return evaluate(api, define(api, 2), "sim/steady")


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
def test_another_workspace_reads_nothing(stranger: Client, ended: Json, path: str) -> None:
    with pytest.raises(ApiProblem) as refused:
        stranger._get(path.format(**ended))
    assert refused.value.status == 404


def test_another_workspace_deletes_nothing(api: Client, stranger: Client, ended: Json) -> None:
    with pytest.raises(ApiProblem) as refused:
        stranger.delete_run(ended["id"])
    assert (refused.value.status, api.run(ended["id"])["id"]) == (404, ended["id"])


def test_another_workspace_starts_no_run_of_a_definition(stranger: Client, ended: Json) -> None:
    with pytest.raises(ApiProblem) as refused:
        stranger.start_run({"definitionId": ended["definitionId"], "models": ["sim/steady"]})
    assert refused.value.status == 404


@pytest.mark.usefixtures("ended")
def test_the_lists_of_another_workspace_are_empty(stranger: Client) -> None:
    assert (list(stranger.runs()), list(stranger.definitions())) == ([], [])


def test_provider_settings_are_of_one_workspace(api: Client, stranger: Client) -> None:
    api.configure_provider("mistral", {"apiKey": "dummy"})
    assert {each["name"]: each["hasKey"] for each in stranger.providers()}["mistral"] is False


def test_only_own_tokens_are_listed(stranger: Client) -> None:
    assert [each["name"] for each in stranger.tokens()] == ["first admin"]
