"""The Location of what was created."""

from cupel_core.interfaces.routes import routes_at
from tests.in_one_test import in_one_test
from tests.operations import OPERATIONS
from tests.unit.api.client import Client

CONTENT = {"name": "one", "content": {"template": "Rate it"}}


def test_a_new_definition_has_a_location_that_can_be_read(client: Client) -> None:
    answer = client.post("/v1/definitions", CONTENT)
    assert client.get(answer.headers["Location"]).json()["id"] == answer.json()["id"]


def test_new_scenarios_and_a_run_have_locations(client: Client) -> None:
    definition_id = client.post("/v1/definitions", CONTENT).json()["id"]
    added = client.post(f"/v1/definitions/{definition_id}/scenarios", {"items": [{"prompt": "hello"}]})
    assert added.headers["Location"] == f"/v1/definitions/{definition_id}/scenarios"
    started = client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"]})
    assert started.headers["Location"] == f"/v1/runs/{started.json()['run']['id']}"


def test_an_import_has_the_location_of_its_definition_and_a_dry_run_none(client: Client) -> None:
    body = {"content": "input,ideal\nhello,hi\n", "name": "greetings"}
    assert "Location" not in client.post("/v1/imports/csv", {**body, "dryRun": True}).headers
    imported = client.post("/v1/imports/csv", body)
    assert imported.headers["Location"] == f"/v1/definitions/{imported.json()['definitions'][0]['id']}"


def test_a_refused_request_has_no_location(client: Client) -> None:
    assert "Location" not in client.post("/v1/definitions", {}).headers


@in_one_test("operation", [one for one in OPERATIONS.values() if one.location], ids=lambda one: one.id)
def test_every_location_is_the_path_of_an_operation(operation: object) -> None:
    location = getattr(operation, "location").replace("{", "").replace("}", "")  # noqa: B009
    assert routes_at(location)
