"""Runs with an operation profile, from the start over HTTP to their transcripts."""

from typing import Any

import pytest
import yaml

from cupel_core.base.messages import RunRef
from cupel_core.store import executions, runs
from tests.conftest import ROOT
from tests.profiles import AFTER, Json, operation, profile
from tests.started_runs import dispatch_and_probe
from tests.unit.api.client import Client

SCENARIO = {"name": "one", "prompt": "Tell me more. " * 40, "followUps": ["And then?"]}


@pytest.fixture(autouse=True)
def _not_finishing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)


@pytest.fixture
def definition_id(client: Client) -> str:
    body = {"name": "d", "content": {"system": "Be brief."}, "scenarios": [SCENARIO]}
    return str(client.post("/v1/definitions", body).json()["id"])


def created(client: Client, document: Json) -> str:
    answer = client.post("/v1/profiles", document)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


def start(client: Client, definition_id: str, profile_id: str, **config: Any) -> Any:
    body = {"definitionId": definition_id, "models": ["sim/steady"], "config": {"profileId": profile_id, **config}}
    return client.post("/v1/runs", body)


def probed(client: Client, definition_id: str, profile_id: str, **config: Any) -> Json:
    """The run, once its only probe has an outcome."""
    run: Json = start(client, definition_id, profile_id, **config).json()["run"]
    dispatch_and_probe(runs.get(RunRef("acme", run["id"])))
    return run


def transcript_of(client: Client, run: Json) -> Json:
    [transcript] = client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"]
    found: Json = transcript
    return found


def sample(name: str) -> Json:
    document: Json = yaml.safe_load((ROOT / f"samples/profiles/{name}.yaml").read_text())
    return document


def test_the_guarded_sample_summarizes_only_long_questions(client: Client, definition_id: str) -> None:
    run = probed(client, definition_id, created(client, sample("guarded")))
    transcript = transcript_of(client, run)
    statuses = [[each["status"] for each in turn["operations"]] for turn in transcript["content"]["turns"]]
    assert statuses == [["done", "done"], ["done", "skipped"]]
    assert transcript["operationSpend"]["calls"] == 1
    assert transcript["totalSpend"]["calls"] == 3
    assert [message["role"] for message in transcript["content"]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def test_the_planned_sample_makes_a_plan_for_every_answer(client: Client, definition_id: str) -> None:
    transcript = transcript_of(client, probed(client, definition_id, created(client, sample("planned"))))
    plans = [turn["operations"][0]["value"]["steps"] for turn in transcript["content"]["turns"]]
    assert len(plans) == 2
    assert all(isinstance(plan, list) and 1 <= len(plan) <= 3 for plan in plans)
    assert len({turn["promptHash"] for turn in transcript["content"]["turns"]}) == 2


def test_the_summarized_sample_keeps_its_summary_and_rewrites_answers(client: Client, definition_id: str) -> None:
    transcript = transcript_of(client, probed(client, definition_id, created(client, sample("summarized"))))
    answers = [each["content"] for each in transcript["content"]["messages"] if each["role"] == "assistant"]
    assert all(answer.startswith("[summary of ") for answer in answers)
    originals = [turn["originalAnswer"] for turn in transcript["content"]["turns"]]
    assert all(answer.endswith(original) for answer, original in zip(answers, originals, strict=True))
    assert "And then?" in transcript["content"]["artifacts"]["summary"]


def test_a_run_says_which_version_it_has_and_keeps_it(client: Client, definition_id: str) -> None:
    profile_id = created(client, profile(operation()))
    client.patch(f"/v1/profiles/{profile_id}", {"operations": [operation("second")]})
    first = probed(client, definition_id, profile_id, profileVersion=1)
    newest = start(client, definition_id, profile_id).json()["run"]
    assert [run["config"]["profileVersion"] for run in (first, newest)] == [1, 2]
    assert client.get(f"/v1/runs/{newest['id']}").json()["config"]["profileId"] == profile_id
    client.delete(f"/v1/profiles/{profile_id}")
    dispatch_and_probe(runs.get(RunRef("acme", newest["id"])))
    for run, name in ((first, "tone"), (newest, "second")):
        turns = transcript_of(client, run)["content"]["turns"]
        assert [turn["operations"][0]["operationId"] for turn in turns] == [name, name]


def test_a_rerun_has_the_profile_of_its_run(client: Client, definition_id: str) -> None:
    profile_id = created(client, profile(operation()))
    run = probed(client, definition_id, profile_id)
    client.delete(f"/v1/profiles/{profile_id}")
    answer = client.post(f"/v1/runs/{run['id']}/rerun", {})
    assert answer.status == 201, answer.text
    again = answer.json()["run"]
    assert again["config"]["profileId"] == profile_id
    dispatch_and_probe(runs.get(RunRef("acme", again["id"])))
    assert transcript_of(client, again)["content"]["turns"]


def test_a_disabled_profile_runs_nothing(client: Client, definition_id: str) -> None:
    run = probed(client, definition_id, created(client, profile(operation(), enabled=False)))
    transcript = transcript_of(client, run)
    assert (transcript["content"]["turns"], transcript["content"]["artifacts"]) == ([], {})
    assert transcript["operationSpend"]["calls"] == 0


def test_without_a_profile_a_transcript_has_no_turns(client: Client, definition_id: str) -> None:
    body = {"definitionId": definition_id, "models": ["sim/steady"]}
    run = client.post("/v1/runs", body).json()["run"]
    assert (run["config"]["profileId"], run["config"]["profileVersion"]) == (None, None)
    dispatch_and_probe(runs.get(RunRef("acme", run["id"])))
    assert transcript_of(client, run)["content"]["turns"] == []


@pytest.mark.parametrize("hook", ["before_main_llm", AFTER])
def test_a_required_operation_that_fails_is_an_error_and_never_a_result(
    client: Client, definition_id: str, hook: str
) -> None:
    failing = operation(required=True, hooks=[hook], effects=[], params={"template": "{{ nothing }}"})
    run = probed(client, definition_id, created(client, profile(failing)))
    [probe] = client.get(f"/v1/runs/{run['id']}/probes").json()["items"]
    assert (probe["status"], probe["error"]["code"]) == ("ERROR", "operation_error")
    assert probe["error"]["message"].startswith("operation tone was skipped: condition_false; ")
    assert client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"] == []


def test_an_unknown_profile_is_refused(client: Client, definition_id: str, stranger: str) -> None:
    profile_id = created(client, profile(operation()))
    for other, field in (("prof_none", "config.profileId"), (profile_id, "config.profileVersion")):
        refused = start(client, definition_id, other, profileVersion=9)
        assert (refused.status, refused.fields()) == (422, [field])
    foreign = client.post("/v1/profiles", profile(operation()), token=stranger).json()["id"]
    refused = start(client, definition_id, foreign)
    assert (refused.status, refused.fields()) == (422, ["config.profileId"])
    assert refused.json()["errors"][0]["message"] == f"there is no profile {foreign}"


def test_a_version_needs_a_profile(client: Client, definition_id: str) -> None:
    body = {"definitionId": definition_id, "models": ["sim/steady"], "config": {"profileVersion": 1}}
    assert client.post("/v1/runs", body).fields() == ["config.profileId"]


def test_a_model_that_cannot_be_called_is_refused_at_the_start(client: Client, definition_id: str) -> None:
    asking = operation(kind="llm", params={"prompt": "p", "target": {"model": "openai/gpt-5-mini"}})
    refused = start(client, definition_id, created(client, profile(asking)))
    assert (refused.status, refused.fields()) == (422, ["config.profileId"])
    assert refused.json()["errors"][0]["message"].startswith("operation tone: ")


def test_prompt_effects_are_refused_for_an_agent_with_a_thread(client: Client, definition_id: str) -> None:
    agent = {"name": "a", "type": "langgraph", "baseUrl": "https://a.example.com", "config": {"assistantId": "x"}}
    connector = client.post("/v1/connectors", agent)
    assert connector.status == 201, connector.text
    profile_id = created(client, profile(operation()))
    body = {"definitionId": definition_id, "models": [f"connector/{connector.json()['id']}"]}
    refused = client.post("/v1/runs", {**body, "config": {"profileId": profile_id}})
    assert (refused.status, refused.fields()) == (422, ["config.profileId"])
    assert "LangGraph" in refused.json()["errors"][0]["message"]


def test_an_estimate_counts_the_calls_of_operations(client: Client, definition_id: str) -> None:
    profile_id = created(client, sample("planned"))
    body = {"definitionId": definition_id, "models": ["sim/steady"], "config": {"profileId": profile_id}}
    estimate = client.post("/v1/runs/estimate", body)
    assert estimate.status == 200, estimate.text
    roles = {each["role"]: each for each in estimate.json()["graders"]}
    assert roles["operation"]["model"] == "sim/steady"


def test_evals_the_playground_and_schedules_take_a_profile(client: Client, definition_id: str) -> None:
    profile_id = created(client, profile(operation()))
    [scenario] = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"]
    saved = {"name": "e", "model": "sim/steady", "scenarioIds": [scenario["id"]]}
    eval_id = client.post("/v1/evals", saved).json()["id"]
    config = {"config": {"profileId": profile_id}}
    started = client.post(f"/v1/evals/{eval_id}/runs", config).json()["run"]
    assert started["config"]["profileId"] == profile_id
    tried = client.post("/v1/playground/runs", {"scenarioId": scenario["id"], "model": "sim/steady", **config})
    assert tried.json()["run"]["config"]["profileId"] == profile_id
    run = {"definitionId": definition_id, "models": ["sim/steady"], **config}
    schedule = client.post("/v1/schedules", {"name": "s", "expression": "rate(6 hours)", "run": run})
    assert schedule.json()["run"]["config"]["profileId"] == profile_id
