"""A run has the workspace's own prices as they were when it started."""

from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.providers.prices import price_list_version
from cupel_core.runs.estimates import estimate_of
from cupel_core.store import executions, runs, snapshots
from tests.added_scenarios import add_scenarios
from tests.started_runs import NOW, dispatch_and_probe
from tests.unit.api.client import Client

ASSERTION = {"type": "llm-rubric", "value": "is polite", "provider": "sim/bold"}


@pytest.fixture
def definition_id(client: Client, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)
    created = catalog.create("acme", Labels(name="d"), {"system": "s", "assertions": [ASSERTION]}, NOW)
    add_scenarios("acme", created.head.id, [Scenario("", "one", (Message(MessageRole.USER, "u" * 100),))])
    return created.head.id


def set_price(client: Client, usd_per_call: float | None) -> None:
    price = {"model": None, "inputUsdPerMillion": 0, "outputUsdPerMillion": 0, "usdPerCall": usd_per_call}
    client.put("/v1/providers/sim", {"prices": None if usd_per_call is None else [price]})


def start(client: Client, definition_id: str) -> RunRef:
    answer = client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"]})
    assert answer.status == 201, answer.text
    return RunRef("acme", answer.json()["run"]["id"])


def cost(client: Client, run: RunRef) -> dict[str, Any]:
    """Of its target and its judge."""
    dispatch_and_probe(runs.get(run))
    probe = client.get(f"/v1/transcripts/{run.run_id}-0").json()
    return {"target": probe["costUsd"], "judge": probe["judgeSpend"]["costUsd"]}


@pytest.mark.parametrize("later", [5.0, None])
def test_a_price_that_is_changed_during_a_run_applies_to_later_runs(
    client: Client, definition_id: str, later: float | None
) -> None:
    set_price(client, 2.0)
    run = start(client, definition_id)
    set_price(client, later)
    assert cost(client, run) == {"target": 2.0, "judge": 2.0}
    assert cost(client, start(client, definition_id)) == {"target": later or 0.0, "judge": later or 0.0}


def test_a_run_says_which_price_list_it_began_with(client: Client, definition_id: str) -> None:
    run = start(client, definition_id)
    assert client.get(f"/v1/runs/{run.run_id}").json()["config"]["priceList"] == price_list_version()
    assert client.get("/v1/runs").json()["items"][0]["config"]["priceList"] is None


def test_a_run_is_estimated_at_its_own_prices(client: Client, definition_id: str) -> None:
    set_price(client, 2.0)
    run = runs.get(start(client, definition_id))
    set_price(client, 5.0)
    usd = estimate_of(run, snapshots.get(run.snapshot_key)).usd
    assert usd is not None
    assert usd.expected == 4.0  # Of its target and its judge.
