"""Every operation on an object of another workspace answers as if there were no such object, whatever is sent."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.operations import OPENAI_OPERATIONS
from tests.unit.api.client import Answer, Client

METHODS = ("get", "post", "put", "patch", "delete")
NAMED_BY_THE_API = ("format", "name", "model", "tag")
"""Path parameters that are no ids: formats, providers, models and tags have names that all workspaces share."""
JUNK: tuple[Any, ...] = ({}, {"unknown": 1}, [], "text")


def operations() -> Iterator[tuple[str, str]]:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text())
    for path, methods in document["paths"].items():
        names = re.findall(r"{(\w+)}", path)
        if names and names[0] not in NAMED_BY_THE_API:
            yield from ((method.upper(), path) for method in METHODS if method in methods)
    yield from (
        (each.method, each.path)
        for each in OPENAI_OPERATIONS.values()
        if "{" in each.path and "{model}" not in each.path
    )


@pytest.fixture
def foreign(client: Client, stranger: str) -> dict[str, str]:
    """Ids of another workspace by path parameter; the others are ids that no workspace has."""

    def made(path: str, body: dict[str, Any]) -> str:
        answer = client.post(path, body, token=stranger)
        assert answer.status == 201, answer.text
        return str(answer.json()["id"])

    scenarios = [{"name": "s", "prompt": "p"}]
    definition = made("/v1/definitions", {"name": "d", "content": {"system": "s"}, "scenarios": scenarios})
    run = client.post("/v1/runs", {"definitionId": definition, "models": ["sim/steady"]}, token=stranger).json()
    listed = client.get(f"/v1/definitions/{definition}/scenarios", token=stranger).json()["items"]
    return {
        "definition_id": definition,
        "scenario_id": str(listed[0]["id"]),
        "run_id": str(run["run"]["id"]),
        "persona_id": made("/v1/personas", {"name": "p", "systemPrompt": "p"}),
        "experiment_id": made("/v1/experiments", {"name": "e", "hypothesis": "h"}),
        "profile_id": made("/v1/profiles", {"name": "p", "operations": []}),
        "chat_id": made("/v1/chats", {"target": {"model": "sim/steady"}}),
        "workspace": "other",
    }


def send(client: Client, method: str, path: str, body: Any) -> Answer:
    return client.request(method, path, json=None if method in ("GET", "DELETE") else body)


@pytest.mark.parametrize("junk", JUNK, ids=str)
def test_invalid_requests_for_objects_of_others_find_nothing(
    client: Client, foreign: dict[str, str], junk: Any
) -> None:
    answers = {
        (method, path): send(client, method, re.sub(r"{(\w+)}", lambda m: foreign.get(m[1], "unknown"), path), junk)
        for method, path in operations()
    }
    assert len(answers) > 120
    told = {key: (answer.status, answer.text[:200]) for key, answer in answers.items() if answer.status != 404}
    assert not told, list(told)


def test_invalid_requests_for_own_objects_say_what_is_wrong(client: Client) -> None:
    made = client.post("/v1/definitions", {"name": "d", "content": {"system": "s"}}).json()
    assert client.request("PATCH", f"/v1/definitions/{made['id']}", json={"unknown": 1}).status == 422
    assert client.get(f"/v1/definitions/{made['id']}/scenarios", query={"limit": "many"}).status == 422


def test_an_invalid_query_for_an_object_of_others_finds_nothing(client: Client, foreign: dict[str, str]) -> None:
    path = f"/v1/runs/{foreign['run_id']}/transcripts"
    assert client.get(path, query={"limit": "many"}).status == 404
    assert client.get(path, query={"unknown": "1"}).status == 404


def test_text_that_is_no_json_for_an_object_of_others_finds_nothing(client: Client, foreign: dict[str, str]) -> None:
    path = f"/v1/runs/{foreign['run_id']}"
    assert client.request("PATCH", path, body="{").status == 404


def test_a_body_that_is_no_object_is_no_internal_error_of_openai_paths(client: Client) -> None:
    answer = client.post("/openai/v1/evals", "text")
    assert (answer.status, answer.json()["error"]["param"]) == (400, "body")
