"""Pause, resume, cancel, retry and expand a run, with the model calls that result."""

from datetime import UTC, datetime

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import Json, create_definition, evaluate, start_run, wait_for_end, wait_until
from tests.stacks import ModelServer

MODEL = "custom/bench"
MAX_STOP_SECONDS = 5.0


@pytest.fixture
def busy_run(api: Client, models: ModelServer) -> str:
    """A run of 1,000 probes that takes six seconds, in its first second."""
    models.configure(latencySeconds=0.3)
    run_id = start_run(api, create_definition(api, 1_000), MODEL)
    wait_until(lambda: models.counts()["requests"] >= 100)
    return run_id


def counts_when_idle(models: ModelServer) -> Json | None:
    """The counts once no call is in flight and none has started for longer than workers cache the run."""
    counts = models.counts()
    idle_seconds = datetime.now(UTC).timestamp() - counts["lastRequestAt"]
    return counts if not counts["inFlight"] and idle_seconds > MAX_STOP_SECONDS else None


def events(api: Client, run_id: str) -> list[str]:
    run_events = api.list_run_events(run_id)
    assert [event["seq"] for event in run_events] == list(range(1, len(run_events) + 1))
    return [str(event["type"]) for event in run_events]


def test_a_paused_run_starts_no_calls_and_records_those_in_flight(
    api: Client, models: ModelServer, busy_run: str
) -> None:
    paused = api.pause_run(busy_run)
    acknowledged_at = datetime.now(UTC).timestamp()
    assert (paused["status"], paused["pauseReason"]) == ("PAUSED", "user")
    counts = wait_until(lambda: counts_when_idle(models))
    assert counts["lastRequestAt"] < acknowledged_at + MAX_STOP_SECONDS
    assert counts["requests"] < 1_000
    assert api.get_run(busy_run)["progress"] == {"total": 1_000, "completed": counts["requests"], "failed": 0}


def test_a_resumed_run_calls_only_the_missing_probes(api: Client, models: ModelServer, busy_run: str) -> None:
    api.pause_run(busy_run)
    wait_until(lambda: not models.counts()["inFlight"])
    assert api.resume_run(busy_run)["status"] == "RUNNING"
    run = wait_for_end(api, busy_run)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 1_000, "completed": 1_000, "failed": 0})
    assert set(models.counts()["prompts"].values()) == {1}
    assert [name for name in events(api, busy_run) if name in ("run.paused", "run.resumed")] == [
        "run.paused",
        "run.resumed",
    ]


def test_a_cancelled_run_starts_no_calls_and_keeps_its_transcripts(
    api: Client, models: ModelServer, busy_run: str
) -> None:
    cancelled = api.cancel_run(busy_run)
    acknowledged_at = datetime.now(UTC).timestamp()
    counts = wait_until(lambda: counts_when_idle(models))
    assert counts["lastRequestAt"] < acknowledged_at + MAX_STOP_SECONDS
    assert (cancelled["status"], cancelled["completedAt"]) == ("CANCELLED", api.get_run(busy_run)["completedAt"])
    assert len(list(api.list_transcripts(busy_run))) == counts["requests"] < 1_000
    with pytest.raises(ApiProblem, match=r"409 Conflict.*CANCELLED"):
        api.resume_run(busy_run)


def test_retry_completes_errored_probes(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": "Question 1:", "status": 400, "reply": "broken"}])
    run = evaluate(api, create_definition(api, 5), MODEL)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 5, "completed": 4, "failed": 1})
    models.configure(script=[])
    before = models.counts()["requests"]
    assert api.retry_run(run["id"])["status"] == "RUNNING"
    run = wait_for_end(api, run["id"])
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 5, "completed": 5, "failed": 0})
    assert models.counts()["requests"] == before + 1
    assert events(api, run["id"])[-4:] == ["run.finished", "run.reopened", "run.phase_changed", "run.finished"]


def test_retry_of_a_model_completes_a_failed_run(api: Client, models: ModelServer) -> None:
    models.configure(script=[{"contains": "", "status": 400, "reply": "broken"}])
    run = evaluate(api, create_definition(api, 3), MODEL)
    assert (run["status"], run["failure"]["where"]) == ("FAILED", "probing")
    models.configure(script=[])
    api.retry_run(run["id"], model=MODEL)
    run = wait_for_end(api, run["id"])
    assert (run["status"], run["failure"], run["progress"]["completed"]) == ("COMPLETED", None, 3)


def test_an_expanded_run_calls_only_its_new_scenarios(api: Client, models: ModelServer) -> None:
    run = evaluate(api, create_definition(api, 20), MODEL, samplePercentage=30, sampleSeed=7)
    before = {transcript["scenarioId"]: transcript["id"] for transcript in api.list_transcripts(run["id"])}
    assert api.expand_run(run["id"], 60)["progress"]["total"] == 12
    run = wait_for_end(api, run["id"])
    after = {transcript["scenarioId"]: transcript["id"] for transcript in api.list_transcripts(run["id"])}
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 12, "completed": 12, "failed": 0})
    assert (len(before), len(after)) == (6, 12)
    assert before.items() <= after.items()
    assert sorted(models.counts()["prompts"].values()) == [1] * 12
    with pytest.raises(ApiProblem, match=r"422 .*samplePercentage"):
        api.expand_run(run["id"], 60)
