"""Transcripts, probes and scores name what they are about: scenario, persona, repeat, variables and metadata."""

from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Usage
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import blobs, clients, runs, scenarios, snapshots
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW
from tests.unit.api.client import Client

SCENARIO = {
    "name": "Boiling point",
    "prompt": "At how many °C does water boil?",
    "dimensions": {"stakes": 2},
    "metadata": {"vars": {"unit": "°C"}, "source": "facts"},
}
CASE = {
    "scenarioName": "Boiling point",
    "personaName": "Ada",
    "variables": {"unit": "°C"},
    "dimensions": {"stakes": 2.0},
    "metadata": {"source": "facts"},
}


@pytest.fixture
def run(client: Client) -> dict[str, Any]:
    """Of one scenario with one persona, twice; the first repeat completed, the second errored."""
    persona = client.post("/v1/personas", {"name": "Ada"}).json()["id"]
    content = {"system": "Be brief.", "dimensions": [{"name": "stakes", "levels": [{"score": 2, "label": "low"}]}]}
    path = client.post("/v1/definitions", {"name": "facts", "content": content}).headers["Location"]
    added = client.post(f"{path}/scenarios", {"items": [SCENARIO | {"personaIds": [persona]}]})
    assert added.status == 201, added.text
    body = {"definitionId": path.rpartition("/")[2], "models": ["sim/steady"], "repeats": 2}
    started: dict[str, Any] = client.post("/v1/runs", body).json()["run"]
    _record_outcomes(RunRef("acme", started["id"]), added.json()["ids"][0], persona)
    return started


def _record_outcomes(ref: RunRef, scenario: str, persona: str) -> None:
    stored = runs.get(ref)
    answer = ConversationState((Message(MessageRole.ASSISTANT, "100"),), 1, Usage(3, 2), 40, 0.25, "v1")
    passed = Scoring(True, 1.0, "right")
    transcript = Transcript(0, scenario, "sim/steady", NOW, answer, persona_id=persona, scoring=passed)
    error = ProbeError(1, scenario, "sim/steady", ProbeErrorCode.TIMEOUT, "no", 3, NOW, persona_id=persona)
    store_outcomes(stored, 1, [transcript, error])


def case_of(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in CASE}


def test_a_transcript_names_its_case_and_repeat(client: Client, run: dict[str, Any]) -> None:
    (listed,) = client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"]
    assert (case_of(listed), listed["repeat"]) == (CASE, 0)
    assert case_of(client.get(f"/v1/transcripts/{listed['id']}").json()) == CASE


def test_an_errored_probe_names_its_case_and_repeat(client: Client, run: dict[str, Any]) -> None:
    (errored,) = client.get(f"/v1/runs/{run['id']}/probes", query={"status": "ERROR"}).json()["items"]
    assert (case_of(errored), errored["repeat"]) == (CASE, 1)
    assert [case_of(probe) for probe in client.get("/v1/probes").json()["items"]] == [CASE, CASE]


def test_scores_of_scenarios_name_them(client: Client, run: dict[str, Any]) -> None:
    (scores,) = client.get(f"/v1/runs/{run['id']}/scores/scenarios").json()["items"]
    assert scores["scenarioName"] == "Boiling point"


def test_names_are_those_of_the_start_of_the_run(client: Client, run: dict[str, Any]) -> None:
    (transcript,) = client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"]
    path = f"/v1/definitions/{run['definitionId']}/scenarios/{transcript['scenarioId']}"
    assert client.patch(path, {"name": "Melting point"}).status == 200
    client.patch(f"/v1/personas/{transcript['personaId']}", {"name": "Bob"})
    assert case_of(client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"][0]) == CASE


def test_ids_of_a_transcript_stay_when_the_snapshot_is_gone(
    client: Client, run: dict[str, Any], cloud: Settings
) -> None:
    (before,) = client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"]
    snapshots.get.cache_clear()
    clients.s3().delete_object(Bucket=cloud.bucket_name, Key=runs.get(RunRef("acme", run["id"])).snapshot_key)
    (after,) = client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"]
    assert (after["scenarioName"], after["variables"]) == (None, {})
    assert (after["scenarioId"], after["personaId"]) == (before["scenarioId"], before["personaId"])


def test_a_page_of_transcripts_reads_a_page_of_scenarios_once(
    client: Client, run: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios.read_page.cache_clear()
    read: list[str] = []
    original = blobs.get_text
    monkeypatch.setattr(blobs, "get_text", lambda key: read.append(key) or original(key))
    client.get(f"/v1/runs/{run['id']}/transcripts")
    client.get(f"/v1/runs/{run['id']}/transcripts")
    assert sum(key.startswith("scenarios/") for key in read) == 1
