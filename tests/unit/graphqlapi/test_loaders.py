"""Objects of one answer are read together: the calls of AWS are counted."""

from collections import Counter
from typing import Any

import pytest
from botocore.client import BaseClient

from cupel_core.analysis.queries import request_analysis
from cupel_core.resources import personas
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import MODELS, case, completed_run

RUNS = 20


@pytest.fixture
def runs(client: GraphqlClient) -> list[str]:
    """Of ten definitions, each analyzed, with two probes."""
    body = {"content": {"template": "Rate it"}, "tags": ["x"]}
    owners = [client.post("/v1/definitions", {**body, "name": f"d{n}"}).json()["id"] for n in range(10)]
    cases = tuple(map(case, range(2)))
    made = [
        AnsweredRun(cases, MODELS[:1], workspace="acme", definition_id=owners[number % 10]).completed().id
        for number in range(RUNS)
    ]
    assert all(request_analysis("acme", each, None, NOW, force=False) for each in made)
    return made


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Requests to DynamoDB by their operation, of all clients; forgotten when the fixture `runs` is done."""
    counted: Counter[str] = Counter()
    send = BaseClient._make_api_call

    def count(self: BaseClient, operation: str, arguments: Any) -> Any:
        if self.meta.service_model.service_name == "dynamodb":
            counted[operation] += 1
        return send(self, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", count)
    return counted


def test_many_runs_are_read_with_their_definitions_transcripts_and_analyses(
    client: GraphqlClient, runs: list[str], calls: Counter[str]
) -> None:
    query = """{ runs(limit: 100) { id tags definition { id name tags }
      analysis { isStale basicStats } transcripts(limit: 2) { id decisionCode content { messages { role } } } } }"""
    calls.clear()
    found = client.data(query)["runs"]
    assert {each["id"] for each in found} == set(runs)
    assert all(each["definition"]["tags"] == ["x"] and each["analysis"]["basicStats"] for each in found)
    assert {len(each["transcripts"]) for each in found} == {2}
    # Runs and their definitions, leaves, outcomes (two pages a run), numbers of corrections; the caller's token.
    assert calls["BatchGetItem"] <= 6
    # An analysis is found by its time: one query each, and that of the list.
    assert calls["Query"] == RUNS + 1
    assert sum(calls.values()) <= RUNS + 14


def test_a_definition_that_many_runs_have_is_read_once(client: GraphqlClient, calls: Counter[str]) -> None:
    owner = client.post("/v1/definitions", {"name": "d", "content": {"template": "Rate it"}}).json()["id"]
    for _ in range(3):
        completed_run(owner)
    calls.clear()
    found = client.data("{ runs { definition { id parent { id } runs(limit: 1) { id } } } }")["runs"]
    assert {each["definition"]["id"] for each in found} == {owner}
    assert calls["BatchGetItem"] <= 2


def test_transcripts_behind_errored_probes_are_found(client: GraphqlClient) -> None:
    run = completed_run()
    query = "query ($id: ID!, $n: Int!) { run(id: $id) { transcripts(limit: $n) { probeIndex } } }"
    found = client.data(query, {"id": run.id, "n": 12})["run"]["transcripts"]
    assert [each["probeIndex"] for each in found] == list(range(11))


def test_several_selections_of_one_run_are_read_together(client: GraphqlClient, calls: Counter[str]) -> None:
    run = completed_run()
    query = """query ($id: ID!) { run(id: $id) {
      steady: transcripts(model: "sim/steady", limit: 3) { modelId }
      bold: transcripts(model: "sim/bold", limit: 3) { modelId }
      all: transcripts(limit: 3) { modelId } } }"""
    calls.clear()
    found = client.data(query, {"id": run.id})["run"]
    assert {each["modelId"] for each in found["bold"]} == {"sim/bold"}
    assert len(found["all"]) == len(found["steady"]) == 3
    assert calls["BatchGetItem"] <= 4


def test_the_persona_and_the_eval_of_many_are_read_once(client: GraphqlClient, calls: Counter[str]) -> None:
    ids = [client.post("/v1/personas", {"name": name}).json()["id"] for name in ("Ada", "Bob")]
    made = [AnsweredRun(workspace="acme", persona=personas.get("acme", each)).completed().id for each in ids * 2]
    query = "{ runs { id transcripts { persona { id } } eval { id } } }"
    calls.clear()
    found = client.data(query)["runs"]
    assert {each["id"] for each in found} == set(made)
    assert {one["persona"]["id"] for each in found for one in each["transcripts"]} == set(ids)
    # Runs, leaves, outcomes; personas; the caller's token.
    assert calls["BatchGetItem"] <= 5


def test_rates_of_many_runs_are_read_once(client: GraphqlClient, runs: list[str], calls: Counter[str]) -> None:
    calls.clear()
    found = client.data("{ runs(limit: 100) { id rates { passed columnCount columns { targetId passRate } } } }")[
        "runs"
    ]
    assert {each["id"] for each in found} == set(runs)
    assert {each["rates"]["columnCount"] for each in found} == {1}
    # Twenty runs have rates and numbers of corrections; the caller's token is read too.
    assert calls["BatchGetItem"] <= 2
