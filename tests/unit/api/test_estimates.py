"""Estimates of runs over HTTP."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.definitions import catalog
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.turns.conversation import Criteria
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.runs import estimates as estimate
from tests.added_scenarios import add_scenarios
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PRICES = [{"model": "m", "inputUsdPerMillion": 1, "outputUsdPerMillion": 10}]


@pytest.fixture
def definition_id(client: Client) -> str:
    definition = catalog.create("acme", Labels(name="dilemma"), {"system": "s" * 368}, NOW)
    messages = (Message(MessageRole.USER, "u" * 368),)
    add_scenarios("acme", definition.head.id, [Scenario("", f"case {n}", messages) for n in range(4)])
    return definition.head.id


@pytest.fixture
def own_model(client: Client) -> str:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1", "prices": PRICES})
    return "custom/m"


def estimated(client: Client, definition_id: str, token: str | None = None, **changes: Any) -> Answer:
    body = {"definitionId": definition_id, "models": ["sim/steady"], **changes}
    return client.post("/v1/runs/estimate", body, **({} if token is None else {"token": token}))


def test_the_estimate_has_the_workspaces_own_prices(client: Client, definition_id: str, own_model: str) -> None:
    answer = estimated(client, definition_id, models=[own_model], repeats=5)
    assert answer.status == 200, answer.text
    figures = answer.json()
    assert figures["jobCount"] == 20
    [target] = figures["targets"]
    assert (target["targetId"], target["probes"], target["basis"]) == (own_model, 20, "default")
    assert target["inputTokens"]["expected"] == 20 * 200
    assert target["usd"]["expected"] == pytest.approx(20 * (200 * 1 + 300 * 10) / 1e6)
    assert figures["usd"] == target["usd"]
    assert figures["usd"]["low"] < figures["usd"]["expected"] < figures["usd"]["high"]


def test_simulated_models_are_free(client: Client, definition_id: str) -> None:
    figures = estimated(client, definition_id).json()
    assert figures["usd"] == {"low": 0, "expected": 0, "high": 0}
    assert figures["unpriced"] == []


def test_unknown_prices_are_named(client: Client, definition_id: str, own_model: str) -> None:
    figures = estimated(client, definition_id, models=[own_model, "sim/steady", "custom/other"]).json()
    assert figures["unpriced"] == ["custom/other"]
    assert figures["targets"][2]["usd"] is None


def test_judges_and_simulated_users_are_estimated(client: Client, definition_id: str, own_model: str) -> None:
    scenario = Scenario("", "booking", (Message(MessageRole.USER, "Book."),), criteria=Criteria(success="Booked."))
    add_scenarios("acme", definition_id, [scenario])
    figures = estimated(client, definition_id, config={"judgeModel": own_model}).json()
    assert [(each["role"], each["model"]) for each in figures["graders"]] == [
        ("judge", own_model),
        ("persona", own_model),
    ]


def test_a_definitions_limit_of_tokens_bounds_the_answers(client: Client, definition_id: str, own_model: str) -> None:
    targets = [{"model": own_model, "params": {"maxOutputTokens": 10}}]
    body = {"definitionId": definition_id, "targets": targets}
    figures = client.post("/v1/runs/estimate", body).json()
    assert figures["targets"][0]["outputTokens"]["high"] == 4 * 10


def test_nothing_is_started(client: Client, definition_id: str) -> None:
    estimated(client, definition_id)
    assert client.get("/v1/runs").json()["items"] == []


def test_what_a_start_refuses_is_refused(client: Client, definition_id: str) -> None:
    answer = estimated(client, definition_id, models=["nobody/x"])
    assert answer.status == 422
    assert answer.json()["errors"][0]["field"] == "models.0"


def test_viewers_may_estimate(client: Client, definition_id: str, viewer: str) -> None:
    assert estimated(client, definition_id, token=viewer).status == 200


def test_another_workspaces_definition_is_not_found(client: Client, definition_id: str, stranger: str) -> None:
    assert estimated(client, definition_id, token=stranger).status == 404


def test_a_large_definition_is_estimated_from_few_pages(
    client: Client, definition_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "MAX_CASES", 2)
    figures = estimated(client, definition_id).json()
    assert figures["targets"][0]["inputTokens"]["expected"] == 4 * 200


def test_a_run_of_an_eval_is_estimated(client: Client, definition_id: str) -> None:
    scenario_id = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"]
    body = {"name": "nightly", "scenarioIds": [scenario_id], "model": "sim/steady"}
    eval_id = client.post("/v1/evals", body).json()["id"]
    answer = client.post(f"/v1/evals/{eval_id}/runs/estimate", {"repeats": 3})
    assert (answer.status, answer.json()["jobCount"]) == (200, 3), answer.text
