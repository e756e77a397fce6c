"""A run in the hands of its owner: pause, resume, cancel, retry, expand, each as its models see it."""

from datetime import UTC, datetime

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import Json, define, evaluate, finished, start, until
from tests.stacks import ModelServer

MODEL = "custom/bench"
STOPPED_WITHIN_SECONDS = 5.0


@pytest.fixture
def busy(api: Client, models: ModelServer) -> str:
    """A run of 1,000 probes that takes six seconds, in its first."""
    models.behave(latencySeconds=0.3)
    run_id = start(api, define(api, 1_000), MODEL)
    until(lambda: models.counts()["requests"] >= 100)
    return run_id


def quiet(models: ModelServer) -> Json | None:
    """What was counted, once no call is in flight and none has begun for longer than a watch of the run lasts."""
    counts = models.counts()
    idle_seconds = datetime.now(UTC).timestamp() - counts["lastRequestAt"]
    return counts if not counts["inFlight"] and idle_seconds > STOPPED_WITHIN_SECONDS else None


def events(api: Client, run_id: str) -> list[str]:
    told = api.events(run_id)
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    return [str(event["type"]) for event in told]


def test_a_paused_run_asks_nothing_more_and_records_what_it_has_asked(
    api: Client, models: ModelServer, busy: str
) -> None:
    paused = api.pause_run(busy)
    acknowledged = datetime.now(UTC).timestamp()
    assert (paused["status"], paused["pauseReason"]) == ("PAUSED", "by a person")
    counts = until(lambda: quiet(models))
    assert counts["lastRequestAt"] < acknowledged + STOPPED_WITHIN_SECONDS
    assert counts["requests"] < 1_000
    assert api.run(busy)["progress"] == {"total": 1_000, "completed": counts["requests"], "failed": 0}


def test_a_resumed_run_asks_exactly_what_is_missing(api: Client, models: ModelServer, busy: str) -> None:
    api.pause_run(busy)
    until(lambda: not models.counts()["inFlight"])
    assert api.resume_run(busy)["status"] == "RUNNING"
    run = finished(api, busy)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 1_000, "completed": 1_000, "failed": 0})
    assert set(models.counts()["prompts"].values()) == {1}
    assert [name for name in events(api, busy) if name in ("run.paused", "run.resumed")] == [
        "run.paused",
        "run.resumed",
    ]


def test_a_cancelled_run_asks_nothing_more_and_keeps_its_transcripts(
    api: Client, models: ModelServer, busy: str
) -> None:
    cancelled = api.cancel_run(busy)
    acknowledged = datetime.now(UTC).timestamp()
    counts = until(lambda: quiet(models))
    assert counts["lastRequestAt"] < acknowledged + STOPPED_WITHIN_SECONDS
    assert (cancelled["status"], cancelled["completedAt"]) == ("CANCELLED", api.run(busy)["completedAt"])
    assert len(list(api.transcripts(busy))) == counts["requests"] < 1_000
    with pytest.raises(ApiProblem, match=r"409 Conflict.*CANCELLED"):
        api.resume_run(busy)


def test_errored_probes_are_retried_once_their_fault_is_healed(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"contains": "Question 1:", "status": 400, "reply": "broken"}])
    run = evaluate(api, define(api, 5), MODEL)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 5, "completed": 4, "failed": 1})
    models.behave(script=[])
    before = models.counts()["requests"]
    assert api.retry_run(run["id"])["status"] == "RUNNING"
    again = finished(api, run["id"])
    assert (again["status"], again["progress"]) == ("COMPLETED", {"total": 5, "completed": 5, "failed": 0})
    assert models.counts()["requests"] == before + 1
    assert events(api, run["id"])[-4:] == ["run.finished", "run.reopened", "run.phase_changed", "run.finished"]


def test_a_failed_run_becomes_a_completed_one_by_a_retry_of_its_model(api: Client, models: ModelServer) -> None:
    models.behave(script=[{"contains": "", "status": 400, "reply": "broken"}])
    run = evaluate(api, define(api, 3), MODEL)
    assert (run["status"], run["failure"]["where"]) == ("FAILED", "probing")
    models.behave(script=[])
    api.retry_run(run["id"], model=MODEL)
    again = finished(api, run["id"])
    assert (again["status"], again["failure"], again["progress"]["completed"]) == ("COMPLETED", None, 3)


def test_an_expanded_run_keeps_its_scenarios_and_asks_only_the_new_ones(api: Client, models: ModelServer) -> None:
    run = evaluate(api, define(api, 20), MODEL, samplePercentage=30, sampleSeed=7)
    kept = {each["scenarioId"]: each["id"] for each in api.transcripts(run["id"])}
    assert api.expand_run(run["id"], 60)["progress"]["total"] == 12
    again = finished(api, run["id"])
    found = {each["scenarioId"]: each["id"] for each in api.transcripts(run["id"])}
    assert (again["status"], again["progress"]) == ("COMPLETED", {"total": 12, "completed": 12, "failed": 0})
    assert (len(kept), len(found)) == (6, 12)
    assert kept.items() <= found.items()
    assert sorted(models.counts()["prompts"].values()) == [1] * 12
    with pytest.raises(ApiProblem, match=r"422 .*samplePercentage"):
        api.expand_run(run["id"], 60)
