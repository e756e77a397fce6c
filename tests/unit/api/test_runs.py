"""Runs over HTTP: starting and refusing them, reading them, and isolation of workspaces."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.runs import record_outcomes
from cupel_core.store import clients, runs, snapshots
from cupel_core.store.settings import Settings, settings
from tests.added_scenarios import add_scenarios
from tests.recorded_outcomes import store_outcomes
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def definition_id(client: Client) -> str:
    assert client.token
    made = catalog.create("acme", Labels(name="dilemma"), {"system": "Be brief."}, NOW)
    cases = [Scenario("", f"case {n}", (Message(MessageRole.USER, f"Rate {n}"),)) for n in range(4)]
    add_scenarios("acme", made.head.id, cases)
    return made.head.id


def start(client: Client, definition_id: str, **changes: Any) -> Answer:
    key = changes.pop("key", None)
    headers = {"Idempotency-Key": key} if key is not None else {}
    body = {"definitionId": definition_id, "models": ["sim/steady", "sim/bold"], **changes}
    return client.post("/v1/runs", {name: value for name, value in body.items() if value is not None}, headers=headers)


@pytest.fixture
def run_id(client: Client, definition_id: str) -> str:
    answer = start(client, definition_id, config={"temperature": 0.5})
    assert answer.status == 201, answer.text
    identity: str = answer.json()["run"]["id"]
    return identity


def finish_two(run_id: str) -> RunRef:
    """Probe 0 completed and is summarized, probe 1 errored."""
    ref = RunRef("acme", run_id)
    said = (Message(MessageRole.USER, "Rate 0"), Message(MessageRole.ASSISTANT, "Rating: 4"))
    summary, scoring = Summary("4", "Four, it says.", NOW), Scoring(True, 1.0, "as hoped")
    dialogue = ConversationState(said, 1, Usage(3, 2), 40, 0.25, "v1")
    transcript = Transcript(0, "scn_0", "sim/steady", NOW, dialogue, summary=summary, scoring=scoring)
    error = ProbeError(1, "scn_1", "sim/steady", ProbeErrorCode.TIMEOUT, "no answer", 3, NOW)
    run = runs.get(ref)
    store_outcomes(run, 1, [transcript, error])
    return ref


def test_a_run_is_started_and_returned(client: Client, definition_id: str) -> None:
    answer = start(client, definition_id, samplePercentage=50, sampleSeed=7, repeats=3, config={"maxTurns": 2})
    assert answer.status == 201
    told = answer.json()
    assert told["jobCount"] == 12
    assert told["run"]["status"] == "PENDING"
    assert told["run"]["progress"] == {"total": 12, "completed": 0, "failed": 0}
    config = told["run"]["config"]
    assert (config["samplePercentage"], config["sampleSeed"], config["repeats"]) == (50, 7, 3)
    assert (config["temperature"], config["maxTurns"]) == (None, 2)


def test_an_evaluator_url_is_kept_as_sent(client: Client, definition_id: str) -> None:
    url = "https://evaluator.example.com/score/?code=abc/"
    answer = start(client, definition_id, config={"evaluatorUrl": url})
    assert (answer.status, answer.json()["run"]["config"]["evaluatorUrl"]) == (201, url)


def test_a_start_orders_the_dispatch(client: Client, definition_id: str, cloud: Settings) -> None:
    run_id = start(client, definition_id).json()["run"]["id"]
    message = clients.sqs().receive_message(QueueUrl=cloud.dispatch_queue_url)["Messages"][0]
    assert json.loads(message["Body"]) == {
        "workspace": "acme",
        "runId": run_id,
        "fencingToken": 1,
        "attemptsWithoutRoom": 0,
    }


def test_a_run_is_read_with_its_definition_snapshot(client: Client, run_id: str) -> None:
    told = client.get(f"/v1/runs/{run_id}").json()
    assert told["config"]["definitionSnapshot"]["system"] == "Be brief."
    assert told["config"]["models"] == ["sim/steady", "sim/bold"]
    assert (told["priority"], told["config"]["temperature"]) == ("NORMAL", 0.5)
    assert told["createdAt"].endswith("Z")


def test_a_run_in_progress_and_a_list_of_runs_have_the_spend_so_far(client: Client, run_id: str) -> None:
    dialogue = ConversationState((Message(MessageRole.ASSISTANT, "Rating: 4"),), 1, Usage(3, 2), 40, 0.25, "v1")
    answered = Transcript(0, "scn_0", "sim/steady", NOW, dialogue)
    paid = Spending(judge=Spend(1, Usage(9, 9), 0.5))
    error = ProbeError(1, "scn_1", "sim/steady", ProbeErrorCode.TIMEOUT, "no answer", 3, NOW, spending=paid)
    record_outcomes.record(runs.get(RunRef("acme", run_id)), 1, [answered, error])
    by_model = [
        {"model": model, "targetId": model, "promptId": None, "costUsd": usd, "pricedUsd": usd}
        for model, usd in (("sim/steady", 0.75), ("sim/bold", 0.0))
    ]
    expected = {"costUsd": 0.75, "pricedUsd": 0.75, "lostUsd": 0.0, "models": by_model, "budget": None}
    expected |= {
        "estimatedUsd": {"low": 0, "expected": 0, "high": 0},
        "asOf": client.get(f"/v1/runs/{run_id}").json()["updatedAt"],
    }
    assert client.get(f"/v1/runs/{run_id}").json()["spend"] == expected
    assert client.get("/v1/runs").json()["items"][0]["spend"] == expected
    assert client.get(f"/v1/runs/{run_id}/progress").json()["spend"] == expected


def test_a_run_says_what_it_was_expected_to_cost(client: Client, definition_id: str) -> None:
    prices = [{"model": "steady", "inputUsdPerMillion": 10, "outputUsdPerMillion": 100}]
    client.put("/v1/providers/sim", {"prices": prices})
    started = start(client, definition_id, maxBudgetUsd=5).json()
    estimated = started["estimate"]["usd"]
    assert estimated["high"] > estimated["expected"] > 0
    run_id = started["run"]["id"]
    client.put("/v1/providers/sim", {"prices": [{**prices[0], "outputUsdPerMillion": 500}]})
    spend = client.get(f"/v1/runs/{run_id}").json()["spend"]
    assert (spend["estimatedUsd"], spend["asOf"]) == (estimated, None)
    assert client.get(f"/v1/runs/{run_id}/budget").json()["estimatedUsd"] == estimated


def test_a_run_whose_price_is_unknown_has_no_expected_cost(client: Client, definition_id: str) -> None:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:9/v1"})
    run_id = start(client, definition_id, models=["sim/steady", "custom/unheard-of"]).json()["run"]["id"]
    assert client.get(f"/v1/runs/{run_id}").json()["spend"]["estimatedUsd"] is None


def test_results_are_readable_without_the_snapshot(client: Client, run_id: str, cloud: Settings) -> None:
    finish_two(run_id)
    snapshots.get.cache_clear()
    clients.s3().delete_object(Bucket=cloud.bucket_name, Key=runs.get(RunRef("acme", run_id)).snapshot_key)
    assert client.get(f"/v1/runs/{run_id}").json()["config"]["definitionSnapshot"] is None
    assert client.get(f"/v1/transcripts/{run_id}-0").json()["decisionCode"] == "4"
    assert client.get(f"/v1/runs/{run_id}/probes", query={"status": "ERROR"}).json()["items"][0]["scenarioId"] == ""


def test_a_missing_decision_is_reported(client: Client, run_id: str) -> None:
    said = (Message(MessageRole.USER, "Rate 0"), Message(MessageRole.ASSISTANT, "Hm."))
    undecided = Summary("other", "", NOW, error="no valid verdict")
    dialogue = ConversationState(said, 1, Usage(3, 2), 40, None, "v1")
    transcript = Transcript(0, "scn_0", "sim/steady", NOW, dialogue, summary=undecided)
    store_outcomes(runs.get(RunRef("acme", run_id)), 1, [transcript])
    told = client.get(f"/v1/transcripts/{run_id}-0").json()
    assert (told["decisionCode"], told["summaryError"]) == ("other", "no valid verdict")


def test_a_viewer_may_read_a_run(client: Client, run_id: str, viewer: str) -> None:
    assert client.get(f"/v1/runs/{run_id}", token=viewer).status == 200


def test_the_same_key_and_body_start_one_run(client: Client, definition_id: str) -> None:
    first, second = (start(client, definition_id, key="a,b=1") for _ in range(2))
    assert (first.status, second.status) == (201, 201)
    assert first.json() == second.json()
    assert len(client.get("/v1/runs").json()["items"]) == 1


def test_the_same_key_with_another_body_is_refused(client: Client, definition_id: str) -> None:
    start(client, definition_id, key="once")
    answer = start(client, definition_id, key="once", repeats=2)
    assert (answer.status, answer.fields()) == (422, ["Idempotency-Key"])


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 256, "a\tb"])
def test_a_bad_idempotency_key_is_named(client: Client, definition_id: str, key: str) -> None:
    answer = start(client, definition_id, key=key)
    assert (answer.status, answer.fields()) == (422, ["Idempotency-Key"])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"definitionId": 7}, "definitionId"),
        ({"definitionId": None}, "definitionId"),
        ({"models": []}, "models"),
        ({"models": "sim/steady"}, "models"),
        ({"models": ["sim/steady", 7]}, "models.1"),
        ({"models": ["sim/steady", "sim/bold", "sim/steady"]}, "models.2"),
        ({"models": ["sim/steady", "acme/large"]}, "models.1"),
        ({"models": ["steady"]}, "models.0"),
        ({"models": ["openai/gpt-5-mini"]}, "models.0"),
        ({"samplePercentage": 0}, "samplePercentage"),
        ({"samplePercentage": 101}, "samplePercentage"),
        ({"samplePercentage": 50.5}, "samplePercentage"),
        ({"samplePercentage": "50"}, "samplePercentage"),
        ({"samplePercentage": True}, "samplePercentage"),
        ({"sampleSeed": -1}, "sampleSeed"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 1_001}, "repeats"),
        ({"priority": "URGENT"}, "priority"),
        ({"config": {"temperature": 2.1}}, "config.temperature"),
        ({"config": {"temperature": "hot"}}, "config.temperature"),
        ({"config": {"maxTurns": 0}}, "config.maxTurns"),
        ({"config": {"evaluatorUrl": "ftp://a.example"}}, "config.evaluatorUrl"),
        ({"config": {"evaluatorUrl": "https://user:password@a.example"}}, "config.evaluatorUrl"),
        ({"config": {"colour": "blue"}}, "config.colour"),
        ({"config": []}, "config"),
        ({"colour": "blue"}, "colour"),
        ({"sample_percentage": 50}, "sample_percentage"),
    ],
)
def test_a_wrong_field_of_a_start_is_named(
    client: Client, definition_id: str, changes: dict[str, Any], field: str
) -> None:
    answer = start(client, definition_id, **changes)
    assert (answer.status, answer.fields()) == (422, [field])
    assert client.get("/v1/runs").json()["items"] == []


def test_a_start_without_targets_names_both_fields(client: Client, definition_id: str) -> None:
    answer = start(client, definition_id, models=None)
    assert (answer.status, answer.fields()) == (422, ["models", "targets"])
    assert "exactly one of models and targets must be given" in answer.text


def test_a_run_of_a_definition_without_scenarios_is_refused(client: Client) -> None:
    empty = catalog.create("acme", Labels(name="empty"), {"system": "Be brief."}, NOW)
    answer = start(client, empty.head.id)
    assert (answer.status, answer.fields()) == (422, ["definitionId"])


def test_an_unknown_definition_is_refused_like_any_reference_in_a_body(client: Client) -> None:
    refused = start(client, "def_unknown")
    assert (refused.status, refused.fields()) == (422, ["definitionId"])


def test_a_definition_of_another_workspace_is_not_found(client: Client, definition_id: str, stranger: str) -> None:
    body = {"definitionId": definition_id, "models": ["sim/steady"]}
    assert client.post("/v1/runs", body, token=stranger).status == 422


@pytest.mark.parametrize("path", ["", "/probes", "/transcripts", "/events"])
def test_a_run_of_another_workspace_is_not_found(client: Client, run_id: str, stranger: str, path: str) -> None:
    assert client.get(f"/v1/runs/{run_id}{path}").status == 200
    assert client.get(f"/v1/runs/{run_id}{path}", token=stranger).status == 404
    assert client.get(f"/v1/runs/run_unknown{path}").status == 404


def test_a_run_of_another_workspace_is_neither_listed_nor_deleted(client: Client, run_id: str, stranger: str) -> None:
    assert client.get("/v1/runs", token=stranger).json()["items"] == []
    assert client.delete(f"/v1/runs/{run_id}", token=stranger).status == 404
    assert client.get(f"/v1/runs/{run_id}").status == 200


@pytest.mark.parametrize("run_id", ["%23", "a#b", "..", "ü", "x" * 300, "run_1#nodes#0"])
def test_an_id_that_is_none_is_not_found(client: Client, run_id: str) -> None:
    assert client.get(f"/v1/runs/{run_id}").status == 404


def test_a_deleted_run_is_gone(client: Client, run_id: str) -> None:
    assert client.delete(f"/v1/runs/{run_id}").status == 204
    assert client.get(f"/v1/runs/{run_id}").status == 404
    assert client.get("/v1/runs").json()["items"] == []


def test_runs_are_listed_newest_first_in_pages(client: Client, definition_id: str) -> None:
    made = [start(client, definition_id).json()["run"]["id"] for _ in range(3)]
    first = client.get("/v1/runs", query={"limit": 2}).json()
    second = client.get("/v1/runs", query={"limit": 2, "cursor": first["nextCursor"]}).json()
    assert [run["id"] for run in first["items"] + second["items"]] == made[::-1]
    assert first["items"][0]["config"]["definitionSnapshot"] is None


def test_runs_are_found_by_definition_experiment_and_status(client: Client, definition_id: str) -> None:
    experiment = client.post("/v1/experiments", {"name": "Politeness", "hypothesis": "h"}).json()["id"]
    made = start(client, definition_id, experimentId=experiment).json()["run"]["id"]
    start(client, definition_id)
    found = {"definitionId": definition_id, "experimentId": experiment, "status": "PENDING"}
    assert [run["id"] for run in client.get("/v1/runs", query=found).json()["items"]] == [made]
    assert client.get("/v1/runs", query={"status": "FAILED"}).json()["items"] == []
    assert client.get("/v1/runs", query={"status": "DONE"}).fields() == ["status"]


@pytest.mark.parametrize("path", ["runs", "runs/{}/probes", "runs/{}/transcripts"])
@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 501}, {"limit": "abc"}, {"cursor": "nonsense"}])
def test_a_bad_page_is_named(client: Client, run_id: str, path: str, query: dict[str, Any]) -> None:
    answer = client.get(f"/v1/{path.format(run_id)}", query=query)
    assert (answer.status, answer.fields()) == (422, list(query))


def test_probes_have_their_errors(client: Client, run_id: str) -> None:
    finish_two(run_id)
    items = client.get(f"/v1/runs/{run_id}/probes", query={"status": "ERROR"}).json()["items"]
    assert [(item["index"], item["modelId"], item["repeat"]) for item in items] == [(1, "sim/steady", 0)]
    assert (items[0]["error"]["code"], items[0]["error"]["attempts"]) == ("timeout", 3)
    assert client.get(f"/v1/runs/{run_id}").json()["progress"] == {"total": 8, "completed": 1, "failed": 1}


def test_probes_are_filtered_by_model(client: Client, run_id: str) -> None:
    items = client.get(f"/v1/runs/{run_id}/probes", query={"model": "sim/bold"}).json()["items"]
    assert [item["index"] for item in items] == [4, 5, 6, 7]


def test_a_transcript_is_the_same_in_a_list_and_by_itself(client: Client, run_id: str) -> None:
    finish_two(run_id)
    listed = client.get(f"/v1/runs/{run_id}/transcripts").json()["items"]
    told = client.get(f"/v1/transcripts/{listed[0]['id']}").json()
    assert [item["probeIndex"] for item in listed] == [0]
    answer = told["content"]["messages"][1]
    assert (answer["role"], answer["content"], answer["reply"]["usage"]) == ("assistant", "Rating: 4", told["usage"])
    assert (told["decisionCode"], told["decisionText"], told["tokenCount"]) == ("4", "Four, it says.", 5)
    assert told["result"] == {"success": True, "score": 1.0, "reason": "as hoped"}
    cached = {"cachedInputTokens": 0, "cacheWriteTokens": 0}
    assert told["usage"] == {"inputTokens": 3, "outputTokens": 2, **cached, "unreportedCalls": 0}
    assert (told["costUsd"], told["durationMs"], told["runId"]) == (0.25, 40, run_id)


def test_transcripts_are_found_by_model_and_scenario(client: Client, run_id: str) -> None:
    finish_two(run_id)
    path = f"/v1/runs/{run_id}/transcripts"
    assert client.get(path, query={"model": "sim/bold"}).json()["items"] == []
    assert len(client.get(path, query={"model": "sim/steady"}).json()["items"]) == 1
    assert client.get(path, query={"scenarioId": "scn_unknown"}).json()["items"] == []


def test_a_transcript_of_another_workspace_is_not_found(client: Client, run_id: str, stranger: str) -> None:
    finish_two(run_id)
    identity = client.get(f"/v1/runs/{run_id}/transcripts").json()["items"][0]["id"]
    assert client.get(f"/v1/transcripts/{identity}", token=stranger).status == 404
    assert client.get("/v1/transcripts/unknown").status == 404


def test_events_after_a_seq_are_listed(client: Client, run_id: str) -> None:
    runs.transition(RunRef("acme", run_id), Action.START, NOW)
    path = f"/v1/runs/{run_id}/events"
    items = client.get(path).json()["items"]
    assert [(item["seq"], item["type"], item["runId"]) for item in items] == [
        (1, "run.created", run_id),
        (2, "run.started", run_id),
    ]
    assert [item["seq"] for item in client.get(path, query={"after": 1}).json()["items"]] == [2]


def test_a_stream_ends_with_progress_that_has_no_id(client: Client, run_id: str) -> None:
    finish_two(run_id)
    answer = client.get(f"/v1/runs/{run_id}/events", headers=STREAM)
    assert answer.headers["Content-Type"] == "text/event-stream"
    retry, created, progress, end = answer.text.split("\n\n")
    assert (retry, end) == ("retry: 2000", "")
    assert created.splitlines()[:2] == ["id: 1", "event: run.created"]
    kind, data = progress.splitlines()
    assert kind == "event: run.progress"
    assert json.loads(data.removeprefix("data: "))["data"] == {"total": 8, "completed": 1, "failed": 1}


def test_the_last_event_id_takes_precedence_over_after(client: Client, run_id: str) -> None:
    headers = {**STREAM, "Last-Event-ID": "1"}
    answer = client.get(f"/v1/runs/{run_id}/events", headers=headers, query={"after": 0})
    assert "id:" not in answer.text
    assert "event: run.progress" in answer.text


def test_a_stream_ends_when_the_run_is_terminal_and_every_event_was_read(client: Client, run_id: str) -> None:
    runs.transition(RunRef("acme", run_id), Action.CANCEL, NOW)
    path = f"/v1/runs/{run_id}/events"
    rest = client.get(path, headers={**STREAM, "Last-Event-ID": "1"})
    assert "event: run.cancelled" in rest.text
    assert "run.progress" not in rest.text
    assert client.get(path, headers={**STREAM, "Last-Event-ID": "2"}).status == 204


@pytest.mark.parametrize("value", ["-1", "abc", "1" * 30])
def test_an_invalid_event_position_is_named(client: Client, run_id: str, value: str) -> None:
    path = f"/v1/runs/{run_id}/events"
    assert client.get(path, query={"after": value}).fields() == ["after"]
    assert client.get(path, headers={"Last-Event-ID": value}).fields() == ["Last-Event-ID"]


def test_words_of_answers_are_counted_and_stay_when_the_content_is_deleted(client: Client, run_id: str) -> None:
    finish_two(run_id)
    path = f"/v1/runs/{run_id}/transcripts"
    assert [item["wordCount"] for item in client.get(path).json()["items"]] == [2]
    client.delete(f"/v1/probes/{run_id}-0/content")
    (transcript,) = client.get(path).json()["items"]
    assert (transcript["content"], transcript["wordCount"]) == (None, 2)


@pytest.mark.parametrize("name", ["definitionId", "experimentId", "scheduleId", "evalId"])
def test_a_filter_by_something_unknown_is_refused(client: Client, name: str) -> None:
    answer = client.get("/v1/runs", query={name: "nope"})
    assert (answer.status, answer.fields()) == (422, [name])


def test_a_definition_without_runs_has_an_empty_list(client: Client, definition_id: str) -> None:
    for _ in range(2):
        assert client.get("/v1/runs", query={"definitionId": definition_id}).json()["items"] == []
        client.delete(f"/v1/definitions/{definition_id}")


def test_a_provider_without_queues_cannot_be_evaluated(
    client: Client, definition_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDERS", "openai,anthropic")
    settings.cache_clear()
    answer = start(client, definition_id)
    assert (answer.status, answer.fields()) == (422, ["models.0", "models.1"])
    assert "parameter Providers" in answer.text


@pytest.mark.parametrize("field", ["judgeModel", "personaModel"])
def test_an_unknown_simulated_judge_refuses_the_start(client: Client, definition_id: str, field: str) -> None:
    """Every probe would be an error."""
    answer = start(client, definition_id, config={field: "sim/stedy"})
    assert (answer.status, answer.fields()) == (422, [f"config.{field}"])
    assert "did you mean sim/steady?" in answer.text
    assert client.get("/v1/runs").json()["items"] == []
