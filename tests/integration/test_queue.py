"""Runs that meet in the queues of one provider: who goes first, who waits, and what was given up."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel.client import Client
from tests import queues
from tests.eval_api import Json, define, finished, start, until
from tests.stacks import ModelServer

MODEL = "custom/bench"
AWAY = "mistral"
"""A provider that no other test uses: its queue is held, so that its messages stay where they are."""


@pytest.fixture
def slow(models: ModelServer) -> ModelServer:
    """250 probes a second."""
    models.behave(latencySeconds=0.2)
    return models


@pytest.fixture(scope="module")
def awake(api: Client, model_server: ModelServer) -> None:
    """Two workers of each of two priorities: the first call of a further one takes seconds, on a busy machine ten."""
    api.configure_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": 50})
    model_server.behave(latencySeconds=1)
    definition_id = define(api, 200)
    begun = [start(api, definition_id, MODEL, priority=priority) for priority in ("NORMAL", "HIGH")]
    for run_id in begun:
        finished(api, run_id)


@pytest.fixture
def runs(api: Client, awake: None) -> Iterator[Callable[..., str]]:
    """Starts runs of so many probes; those that still go on in the end are cancelled."""
    started: list[str] = []

    def begin(probes: int, **more: Any) -> str:
        definition_id = define(api, min(probes, 1_000))
        started.append(start(api, definition_id, MODEL, repeats=max(1, probes // 1_000), **more))
        return started[-1]

    yield begin
    for run_id in started:
        if api.run(run_id)["status"] in ("PENDING", "RUNNING"):
            api.cancel_run(run_id)
    until(lambda: standing(api)["workers"] == 0, 90)


def standing(api: Client, provider: str = "custom") -> Json:
    return next(api.queue(provider=provider))


def share_done(api: Client, run_id: str) -> float:
    progress = api.run(run_id)["progress"]
    return float(progress["completed"] / progress["total"])


def test_a_run_of_high_priority_overtakes(api: Client, slow: ModelServer, runs: Callable[..., str]) -> None:
    first = runs(4_000)
    until(lambda: share_done(api, first) > 0.05)
    urgent = runs(500, priority="HIGH")
    assert finished(api, urgent)["progress"]["completed"] == 500
    assert share_done(api, first) < 0.6


def test_a_run_of_low_priority_gives_way(api: Client, slow: ModelServer, runs: Callable[..., str]) -> None:
    idle = runs(4_000, priority="LOW")
    until(lambda: share_done(api, idle) > 0.05)
    usual = runs(500)
    assert finished(api, usual)["progress"]["completed"] == 500
    assert share_done(api, idle) < 0.6


def test_a_small_run_does_not_wait_for_a_large_one_of_its_priority(
    api: Client, slow: ModelServer, runs: Callable[..., str]
) -> None:
    large = runs(8_000)
    until(lambda: share_done(api, large) > 0.05)
    small = runs(50)
    assert finished(api, small)["progress"]["completed"] == 50
    assert share_done(api, large) < 0.6


def test_a_paused_provider_is_asked_nothing_more_until_it_is_resumed(
    api: Client, slow: ModelServer, runs: Callable[..., str]
) -> None:
    run_id = runs(1_000)
    until(lambda: slow.counts()["requests"] > 100)
    (told,) = api.pause_queue("custom")
    acknowledged = datetime.now(UTC).timestamp()
    assert told["paused"]
    counts = until(lambda: quiet(slow))
    assert counts["lastRequestAt"] < acknowledged + 5
    assert share_done(api, run_id) == counts["requests"] / 1_000 < 1
    api.resume_queue("custom")
    assert finished(api, run_id, 90)["progress"] == {"total": 1_000, "completed": 1_000, "failed": 0}
    assert set(slow.counts()["prompts"].values()) == {1}


def quiet(models: ModelServer) -> Json | None:
    counts = models.counts()
    idle_seconds = datetime.now(UTC).timestamp() - counts["lastRequestAt"]
    return counts if not counts["inFlight"] and idle_seconds > 5 else None


def test_a_pause_is_of_one_provider(api: Client, models: ModelServer) -> None:
    api.pause_queue("custom")
    try:
        run_id = start(api, define(api, 10), "sim/steady")
        assert finished(api, run_id)["status"] == "COMPLETED"
    finally:
        api.resume_queue("custom")


def test_a_dead_letter_is_seen_and_sent_again(api: Client, aws: Callable[[str], Any], models: ModelServer) -> None:
    sqs = aws("sqs")
    api.configure_provider(AWAY, {"baseUrl": f"{models.url}/v1", "apiKey": "dummy"})
    with queues.held(aws("lambda"), f"probe-{AWAY}"):
        run_id = start(api, define(api, 3), f"{AWAY}/bench")
        until(lambda: standing(api, AWAY)["waiting"] == 1)
        give_up(sqs, f"probe-{AWAY}")
        assert (standing(api, AWAY)["waiting"], standing(api, AWAY)["dead"]) == (0, 1)
        (letter,) = api.dead_letters(provider=AWAY)
        assert (letter["provider"], letter["runId"], letter["indexes"]) == (AWAY, run_id, [0, 1, 2])
        assert api.redrive(message_ids=[letter["messageId"]]) == {"sent": 1, "dropped": 0, "toRetry": []}
        assert (standing(api, AWAY)["waiting"], standing(api, AWAY)["dead"]) == (1, 0)
    assert finished(api, run_id)["progress"] == {"total": 3, "completed": 3, "failed": 0}


def give_up(sqs: Any, queue: str) -> None:
    """Moves the message of a queue to its dead letters, as five receives would."""
    (message,) = queues.peek(sqs, queue)
    sqs.send_message(QueueUrl=queues.url_of(sqs, f"{queue}-dlq"), MessageBody=message["Body"])
    sqs.delete_message(QueueUrl=queues.url_of(sqs, queue), ReceiptHandle=message["ReceiptHandle"])
