"""ETag and If-Match: a change based on an outdated state is refused."""

from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import PreconditionFailed
from cupel_core.base.preconditions import Precondition
from cupel_core.definitions import catalog
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.store import definitions
from tests.profiles import operation
from tests.unit.api.client import Client

CHANGES: dict[str, dict[str, Any]] = {
    "definition": {"name": "two"},
    "scenario": {"prompt": "two"},
    "persona": {"name": "two"},
    "connector": {"name": "two"},
    "eval": {"name": "two"},
    "schedule": {"enabled": False},
    "profile": {"operations": []},
}


@pytest.fixture(params=CHANGES)
def resource(client: Client, request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The path of something that can be edited, and a change of it."""
    definition = client.post("/v1/definitions", {"name": "one", "content": {"system": "Be brief."}}).headers["Location"]
    (scenario,) = client.post(f"{definition}/scenarios", {"items": [{"prompt": "one"}]}).json()["ids"]
    run = {"definitionId": definition.rpartition("/")[2], "models": ["sim/steady"]}
    agent = {"type": "openai", "baseUrl": "https://a.example.com", "config": {"model": "m"}}
    created = {
        "persona": ("/v1/personas", {"name": "one", "description": "d"}),
        "connector": (
            "/v1/connectors",
            {"name": "one", **agent},
        ),
        "eval": ("/v1/evals", {"name": "one", "scenarioIds": [scenario], "model": "sim/steady"}),
        "profile": ("/v1/profiles", {"name": "one", "operations": [operation()]}),
        "schedule": ("/v1/schedules", {"name": "one", "expression": "rate(6 hours)", "run": run}),
    }
    paths = {"definition": definition, "scenario": f"{definition}/scenarios/{scenario}"}
    kind: str = request.param
    if kind in created:
        answer = client.post(*created[kind])
        assert answer.status == 201, answer.text
        return answer.headers["Location"], CHANGES[kind]
    return paths[kind], CHANGES[kind]


def test_a_change_with_the_current_tag_is_accepted_and_answers_the_next(
    client: Client, resource: tuple[str, dict[str, Any]]
) -> None:
    path, change = resource
    tag = client.get(path).headers["ETag"]
    changed = client.patch(path, change, headers={"If-Match": f'"other", {tag}'})
    assert (changed.status, changed.headers["ETag"] != tag) == (200, True)
    assert client.get(path).headers["ETag"] == changed.headers["ETag"]


def test_a_change_with_an_outdated_tag_is_refused_with_the_current_one(
    client: Client, resource: tuple[str, dict[str, Any]]
) -> None:
    path, change = resource
    outdated = client.get(path).headers["ETag"]
    current = client.patch(path, change).headers["ETag"]
    before = client.get(path).json()
    for tag in (outdated, "zzz", f"W/{current}"):
        for method in ("PATCH", "DELETE"):
            refused = client.request(method, path, json=change, headers={"If-Match": tag})
            assert (refused.status, refused.headers["ETag"]) == (412, current)
            assert (refused.json()["title"], refused.json()["etag"]) == ("Precondition failed", current)
    assert client.get(path).json() == before
    assert client.delete(path, headers={"If-Match": current}).status == 204


def test_a_tag_for_changes_is_none_of_the_whole_response(client: Client, resource: tuple[str, dict[str, Any]]) -> None:
    """Figures beside what can be changed, such as a run's progress, may differ although the tag is the same."""
    path, _ = resource
    tag = client.get(path).headers["ETag"]
    assert client.get(path, headers={"If-None-Match": tag}).status == 200


def test_any_tag_matches_what_exists(client: Client, resource: tuple[str, dict[str, Any]]) -> None:
    path, change = resource
    assert client.patch(path, change, headers={"If-Match": "*"}).status == 200
    assert client.delete(path, headers={"If-Match": "*"}).status == 204
    assert client.delete(path, headers={"If-Match": "*"}).status in (204, 404)


def test_a_change_between_the_check_and_the_write_is_noticed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = client.post("/v1/definitions", {"name": "one", "content": {"system": "s"}}).headers["Location"]
    definition_id, tag = path.rpartition("/")[2], client.get(path).headers["ETag"]
    read = definitions.get

    def read_then_other_editor(workspace: str, name: str) -> Any:
        head = read(workspace, name)
        monkeypatch.setattr(definitions, "get", read)
        client.patch(path, {"name": "theirs"})
        return head

    monkeypatch.setattr(definitions, "get", read_then_other_editor)
    with pytest.raises(PreconditionFailed):
        catalog.update("acme", definition_id, Labels("mine"), None, utc_now(), Precondition.parse(tag))
    assert client.get(path).json()["name"] == "theirs"
