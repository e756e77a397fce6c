"""Personas, connectors, evals and evaluation settings over the API."""

from collections.abc import Iterator
from typing import Any

import pytest

from cupel_core.base import event_loop
from cupel_core.providers import safe_http
from cupel_core.store import clients
from tests.unit.api.client import Client
from tests.unit.conflicting_transactions import conflicting_transactions

SECRET = "Bearer s3cret"
HEADERS = {"Authorization": SECRET, "X-Tenant": "acme corp"}
PERSONA = {"name": "Ada", "description": "An engineer", "systemPrompt": "You are curt."}
BOUND_PERSONA = {**PERSONA, "connectorUrls": ["https://agent.test"]}
CONNECTOR = {"name": "agent", "type": "langgraph", "baseUrl": "https://agent.test/"}
EVALUATOR = {"url": "https://evaluator.test/score", "headers": HEADERS}


@pytest.fixture(autouse=True)
def hung_up() -> Iterator[None]:
    yield
    event_loop.run(safe_http.close())


@pytest.fixture
def scenario_ids(client: Client) -> list[str]:
    made = client.post("/v1/definitions", {"name": "facts", "content": {"system": "Be brief."}}).json()
    items = [{"prompt": str(number)} for number in range(3)]
    return list(client.post(f"/v1/definitions/{made['id']}/scenarios", {"items": items}).json()["ids"])


def made(client: Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, body)
    assert answer.status == 201, answer.text
    return dict(answer.json())


@pytest.mark.parametrize(("path", "body"), [("/v1/personas", BOUND_PERSONA), ("/v1/connectors", CONNECTOR)])
def test_header_values_are_never_answered(client: Client, path: str, body: dict[str, Any]) -> None:
    created = client.post(path, {**body, "headers": HEADERS})
    at = f"{path}/{created.json()['id']}"
    answers = [created, client.get(path), client.get(at), client.patch(at, {"name": "other"})]
    assert [answer.status for answer in answers] == [201, 200, 200, 200]
    assert not [answer for answer in answers if "s3cret" in answer.text]
    assert client.get(at).json()["headerNames"] == ["Authorization", "X-Tenant"]


def test_a_persona_is_answered_as_it_was_made(client: Client) -> None:
    persona = made(client, "/v1/personas", PERSONA)
    assert persona["id"].startswith("per_")
    assert {name: persona[name] for name in PERSONA} == PERSONA
    assert persona["headerNames"] == []


def test_a_connector_is_answered_as_it_was_made(client: Client) -> None:
    connector = made(client, "/v1/connectors", {**CONNECTOR, "config": {"assistantId": "support"}})
    assert connector["id"].startswith("con_")
    assert (connector["baseUrl"], connector["config"]) == ("https://agent.test", {"assistantId": "support"})


def test_an_eval_is_answered_as_it_was_made(client: Client, scenario_ids: list[str]) -> None:
    body = {"name": "smoke", "model": "sim/steady", "scenarioIds": scenario_ids, "judgeModel": "sim/contrarian"}
    evaluated = made(client, "/v1/evals", body)
    assert evaluated["id"].startswith("evl_")
    assert {name: evaluated[name] for name in body} == body
    assert client.get(f"/v1/evals/{evaluated['id']}").json() == evaluated


@pytest.mark.parametrize("path", ["/v1/personas", "/v1/connectors", "/v1/evals"])
def test_a_name_is_given_once(client: Client, scenario_ids: list[str], path: str) -> None:
    body = {
        "/v1/personas": PERSONA,
        "/v1/connectors": CONNECTOR,
        "/v1/evals": {"name": "smoke", "model": "sim/steady", "scenarioIds": scenario_ids},
    }[path]
    made(client, path, body)
    again = client.post(path, {**body, "name": str(body["name"]).upper()})
    assert (again.status, again.fields()) == (409, ["name"])


def test_a_change_that_conflicts_with_other_writes_may_be_repeated(client: Client) -> None:
    path = f"/v1/personas/{made(client, '/v1/personas', PERSONA)['id']}"
    with conflicting_transactions():
        refused = client.patch(path, PERSONA)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert client.patch(path, PERSONA).status == 200


@pytest.mark.parametrize("path", ["personas", "connectors", "evals"])
def test_what_is_not_there_is_not_found(client: Client, stranger: str, path: str) -> None:
    for method in ("GET", "DELETE"):
        assert client.request(method, f"/v1/{path}/nothing").status == 404
    assert client.patch(f"/v1/{path}/nothing", {"name": "x"}).status == 404
    assert client.get(f"/v1/{path}", token=stranger).json() == {"items": [], "nextCursor": None}


def test_another_workspace_reads_and_changes_nothing(client: Client, stranger: str) -> None:
    at = f"/v1/personas/{made(client, '/v1/personas', PERSONA)['id']}"
    answers = [client.get(at, token=stranger), client.patch(at, {"name": "x"}, token=stranger)]
    assert [answer.status for answer in (*answers, client.delete(at, token=stranger))] == [404, 404, 404]
    assert client.get(at).json()["name"] == "Ada"


def test_what_is_deleted_is_gone_and_its_name_free(client: Client) -> None:
    at = f"/v1/connectors/{made(client, '/v1/connectors', CONNECTOR)['id']}"
    assert client.delete(at).status == 204
    assert client.get(at).status == 404
    made(client, "/v1/connectors", CONNECTOR)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "x"},
        {"content-length": "3"},
        {"Transfer-Encoding": "chunked"},
        {"X Y": "1"},
        {"": "1"},
        {"X-A": "a\r\nX-B: b"},
        {"X-A": ""},
        {"X-A": " a"},
        {"X-A": "ä"},
        {"X-A": "a", "x-a": "b"},
        {"X-A": "a" * 17_000},
    ],
)
def test_headers_that_cannot_be_sent_are_refused(client: Client, headers: dict[str, str]) -> None:
    answer = client.post("/v1/personas", {**PERSONA, "headers": headers})
    assert (answer.status, answer.fields()) == (422, ["headers"])


@pytest.mark.parametrize("url", ["ftp://x", "https://user:secret@x", "x", "https://x/#a", "https://x?key=1", "http://"])
def test_an_address_is_http_without_credentials(client: Client, url: str) -> None:
    answer = client.post("/v1/connectors", {**CONNECTOR, "baseUrl": url})
    assert (answer.status, answer.fields()) == (422, ["baseUrl"])
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("personas", {"name": " "}, "name"),
        ("personas", {"name": "x" * 101}, "name"),
        ("personas", {"name": "\ud800"}, "name"),
        ("personas", {"name": "\U0001d160" * 100}, "name"),
        ("personas", {"name": None}, "name"),
        ("personas", {"nickname": "x"}, "nickname"),
        ("connectors", {"type": "smtp"}, "type"),
        ("connectors", {"baseUrl": None}, "baseUrl"),
        ("connectors", {"config": {"assistant": "x"}}, "config.assistant"),
        ("connectors", {"config": {"assistantId": "x" * 70_000}}, "config"),
    ],
)
def test_a_wrong_change_is_named_and_changes_nothing(
    client: Client, path: str, body: dict[str, Any], field: str
) -> None:
    at = f"/v1/{path}/" + made(client, f"/v1/{path}", {"personas": PERSONA, "connectors": CONNECTOR}[path])["id"]
    before = client.get(at).json()
    answer = client.patch(at, body)
    assert answer.status in (400, 422), answer.text
    assert answer.status == 400 or answer.fields() == [field]
    assert client.get(at).json() == before


def test_what_a_change_leaves_out_stays_and_null_unsets(client: Client) -> None:
    at = f"/v1/personas/{made(client, '/v1/personas', {**BOUND_PERSONA, 'headers': HEADERS})['id']}"
    changed = client.patch(at, {"description": None}).json()
    assert (changed["description"], changed["systemPrompt"], len(changed["headerNames"])) == (None, "You are curt.", 2)
    assert client.patch(at, {"headers": None}).json()["headerNames"] == []
    assert clients.secretsmanager().list_secrets()["SecretList"] == []


def test_a_connector_does_not_move_with_secrets_of_another_server(client: Client) -> None:
    at = f"/v1/connectors/{made(client, '/v1/connectors', {**CONNECTOR, 'headers': HEADERS})['id']}"
    answer = client.patch(at, {"baseUrl": "https://elsewhere.test"})
    assert (answer.status, answer.fields()) == (422, ["headers"])
    assert client.patch(at, {"baseUrl": "https://elsewhere.test", "headers": HEADERS}).status == 200


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": None, "connectorId": "con_x"}, "connectorId"),
        ({"scenarioIds": ["scn_nothing"]}, "scenarioIds.0"),
        ({"scenarioIds": []}, "scenarioIds"),
        ({"definitionId": "def_x"}, "definitionId"),
        ({"personaModel": "nobody/x"}, "personaModel"),
        ({"evaluatorUrl": "ftp://x"}, "evaluatorUrl"),
    ],
)
def test_an_unknown_reference_is_named(
    client: Client, scenario_ids: list[str], changes: dict[str, Any], field: str
) -> None:
    body = {"name": "smoke", "model": "sim/steady", "scenarioIds": scenario_ids, **changes}
    answer = client.post("/v1/evals", body)
    assert (answer.status, answer.fields()) == (422, [field])


@pytest.mark.parametrize(
    ("changes", "fields"),
    [({"model": None}, ["targets", "connectorId", "model"]), ({"connectorId": "con_x"}, ["connectorId", "model"])],
)
def test_an_eval_has_one_kind_of_target(
    client: Client, scenario_ids: list[str], changes: dict[str, Any], fields: list[str]
) -> None:
    body = {"name": "smoke", "model": "sim/steady", "scenarioIds": scenario_ids}
    eval_id = made(client, "/v1/evals", body)["id"]
    created = client.post("/v1/evals", {**body, "name": "other", **changes})
    assert (created.status, created.fields()) == (422, fields)
    changed = client.patch(f"/v1/evals/{eval_id}", {"model": "sim/bold", **changes})
    assert (changed.status, changed.fields()) == (422, fields)


def test_an_eval_is_changed(client: Client, scenario_ids: list[str]) -> None:
    body = {"name": "smoke", "model": "sim/steady", "scenarioIds": scenario_ids, "judgeModel": "sim/contrarian"}
    at = f"/v1/evals/{made(client, '/v1/evals', body)['id']}"
    connector_id = made(client, "/v1/connectors", CONNECTOR)["id"]
    changed = client.patch(at, {"connectorId": connector_id, "personaModel": "sim/bold"}).json()
    assert (changed["connectorId"], changed["model"]) == (connector_id, None)
    assert (changed["judgeModel"], changed["personaModel"]) == ("sim/contrarian", "sim/bold")


def test_an_unreachable_agent_is_reported_with_the_reason(client: Client) -> None:
    connector = made(client, "/v1/connectors", {**CONNECTOR, "baseUrl": "http://127.0.0.1:9"})
    tried = client.post(f"/v1/connectors/{connector['id']}/test")
    assert (tried.status, tried.json()["ok"], tried.json()["reply"]) == (200, False, None)
    assert "private" in tried.json()["error"]
    assert client.post("/v1/connectors/con_unknown/test").status == 404


def test_settings_are_read_by_all_and_set_by_admins(client: Client, member: str) -> None:
    body = {"judgeModel": "sim/contrarian", "evaluator": EVALUATOR}
    assert client.put("/v1/settings", body, token=member).status == 403
    set_up = client.put("/v1/settings", body)
    assert set_up.json() == {
        "judgeModel": "sim/contrarian",
        "personaModel": None,
        "embeddingModel": None,
        "analysisModel": None,
        "summarizerModel": None,
        "evaluator": {"url": EVALUATOR["url"], "headerNames": ["Authorization", "X-Tenant"]},
        "openRuns": 200,
        "openRunsPerOwner": 50,
        "maxScaleRunCount": None,
        "maxScaleRunConcurrency": None,
        "budgets": {"dayUsd": None, "monthUsd": None, "timezone": "UTC"},
    }
    assert client.get("/v1/settings", token=member).text == set_up.text
    assert "s3cret" not in set_up.text


def test_the_model_of_analyses_is_set_checked_and_unset(client: Client) -> None:
    assert client.put("/v1/settings", {"analysisModel": "openai/gpt-5-mini"}).json()["analysisModel"] == (
        "openai/gpt-5-mini"
    )
    refused = client.put("/v1/settings", {"analysisModel": "nobody/x", "judgeModel": "nobody/y"})
    assert (refused.status, refused.fields()) == (422, ["judgeModel", "analysisModel"])
    assert client.put("/v1/settings", {"judgeModel": None}).json()["analysisModel"] == "openai/gpt-5-mini"
    assert client.put("/v1/settings", {"analysisModel": None}).json()["analysisModel"] is None


def test_the_model_of_summaries_is_set_checked_and_unset(client: Client) -> None:
    assert client.put("/v1/settings", {"summarizerModel": "sim/bold"}).json()["summarizerModel"] == "sim/bold"
    refused = client.put("/v1/settings", {"summarizerModel": "nobody/x"})
    assert (refused.status, refused.fields()) == (422, ["summarizerModel"])
    assert client.put("/v1/settings", {"judgeModel": "sim/steady"}).json()["summarizerModel"] == "sim/bold"
    assert client.put("/v1/settings", {"summarizerModel": None}).json()["summarizerModel"] is None


def test_settings_that_are_left_out_stay_and_null_unsets(client: Client) -> None:
    client.put("/v1/settings", {"judgeModel": "sim/contrarian", "evaluator": EVALUATOR})
    kept = client.put("/v1/settings", {"evaluator": {"url": f"{EVALUATOR['url']}/"}}).json()
    assert (kept["judgeModel"], len(kept["evaluator"]["headerNames"])) == ("sim/contrarian", 2)
    assert client.put("/v1/settings", {"evaluator": {**EVALUATOR, "headers": None}}).json()["evaluator"] == {
        "url": EVALUATOR["url"],
        "headerNames": [],
    }
    assert client.put("/v1/settings", {"evaluator": None, "judgeModel": None}).json()["evaluator"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"judgeModel": "nobody/x"}, "judgeModel"),
        ({"judgeModel": "connector/con_1"}, "judgeModel"),
        ({"evaluator": {"url": "x"}}, "evaluator.url"),
        ({"evaluator": {"headers": {}}}, "evaluator.url"),
    ],
)
def test_a_wrong_setting_is_named(client: Client, body: dict[str, Any], field: str) -> None:
    answer = client.put("/v1/settings", body)
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_scenario_has_its_criteria_and_assertions(client: Client) -> None:
    persona = made(client, "/v1/personas", PERSONA)
    definition = client.post("/v1/definitions", {"name": "x", "content": {"system": "Be brief."}}).json()
    path = f"/v1/definitions/{definition['id']}/scenarios"
    item = {
        "instructions": "You want your money back.",
        "maxMessages": 8,
        "successCriteria": "the refund is promised",
        "failureCriteria": "the agent gets rude",
        "failureCriteriaMode": "every_turn",
        "assertions": [{"type": "not-contains", "value": "sorry"}],
        "personaIds": [persona["id"]],
    }
    assert client.post(path, {"items": [item]}).status == 201
    (told,) = client.get(path).json()["items"]
    assert {name: told[name] for name in item} == item
    assert told["messages"] == []


def test_a_wrong_assertion_of_a_scenario_is_named(client: Client) -> None:
    definition = client.post("/v1/definitions", {"name": "x", "content": {"system": "Be brief."}}).json()
    item = {"prompt": "x", "assertions": [{"type": "contains", "value": "x", "threshold": "high"}]}
    answer = client.post(f"/v1/definitions/{definition['id']}/scenarios", {"items": [item]})
    assert (answer.status, answer.fields()) == (422, ["items.0.assertions.0.threshold"])


def test_a_definition_has_assertions(client: Client) -> None:
    content = {"system": "x", "assertions": [{"type": "is-json"}, {"type": "contains", "value": "a", "weight": 2}]}
    definition = client.post("/v1/definitions", {"name": "x", "content": content})
    assert definition.status == 201, definition.text
    assert definition.json()["content"]["assertions"] == content["assertions"]
