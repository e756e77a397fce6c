"""Several runs in the queues of one provider: priorities, fairness, pausing, dead letters."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel.client import Client
from tests import queues
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until
from tests.stacks import ModelServer

MODEL = "custom/bench"
UNUSED_PROVIDER = "mistral"
"""A provider that no other test uses: its event source is disabled, so that its messages stay in the queue."""


@pytest.fixture
def slow(models: ModelServer) -> ModelServer:
    """A model server that completes 250 probes per second."""
    models.configure(latencySeconds=0.2)
    return models


@pytest.fixture(scope="module")
def warm_workers(api: Client, model_server: ModelServer) -> None:
    """Start two workers for each of two priorities: a cold start takes seconds, on a busy machine ten."""
    api.update_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": 50})
    model_server.configure(latencySeconds=1)
    definition_id = create_definition(api, 200)
    run_ids = [start_run(api, definition_id, MODEL, priority=priority) for priority in ("NORMAL", "HIGH")]
    for run_id in run_ids:
        wait_for_end(api, run_id)


@pytest.fixture
def runs(api: Client, warm_workers: None) -> Iterator[Callable[..., str]]:
    """Starts runs with a number of probes; cancels unfinished ones at the end."""
    started: list[str] = []

    def start(probes: int, **options: Any) -> str:
        definition_id = create_definition(api, min(probes, 1_000))
        started.append(start_run(api, definition_id, MODEL, repeats=max(1, probes // 1_000), **options))
        return started[-1]

    yield start
    for run_id in started:
        if api.get_run(run_id)["status"] in ("PENDING", "RUNNING"):
            api.cancel_run(run_id)
    wait_until(lambda: queue_status(api)["workers"] == 0, 90)


def queue_status(api: Client, provider: str = "custom") -> Json:
    return next(api.list_queues(provider=provider))


def share_done(api: Client, run_id: str) -> float:
    progress = api.get_run(run_id)["progress"]
    return float(progress["completed"] / progress["total"])


def test_a_high_priority_run_overtakes_others(api: Client, slow: ModelServer, runs: Callable[..., str]) -> None:
    first = runs(4_000)
    wait_until(lambda: share_done(api, first) > 0.05)
    urgent = runs(500, priority="HIGH")
    assert wait_for_end(api, urgent)["progress"]["completed"] == 500
    assert share_done(api, first) < 0.6


def test_a_low_priority_run_yields_to_others(api: Client, slow: ModelServer, runs: Callable[..., str]) -> None:
    low = runs(4_000, priority="LOW")
    wait_until(lambda: share_done(api, low) > 0.05)
    normal = runs(500)
    assert wait_for_end(api, normal)["progress"]["completed"] == 500
    assert share_done(api, low) < 0.6


def test_a_small_run_does_not_wait_for_a_large_run_of_equal_priority(
    api: Client, slow: ModelServer, runs: Callable[..., str]
) -> None:
    large = runs(8_000)
    wait_until(lambda: share_done(api, large) > 0.05)
    small = runs(50)
    assert wait_for_end(api, small)["progress"]["completed"] == 50
    assert share_done(api, large) < 0.6


def test_a_paused_provider_gets_no_calls_until_it_is_resumed(
    api: Client, slow: ModelServer, runs: Callable[..., str]
) -> None:
    run_id = runs(1_000)
    wait_until(lambda: slow.counts()["requests"] > 100)
    (queue,) = api.pause_queues("custom")
    acknowledged_at = datetime.now(UTC).timestamp()
    assert queue["paused"]
    counts = wait_until(lambda: counts_when_idle(slow))
    assert counts["lastRequestAt"] < acknowledged_at + 5
    assert share_done(api, run_id) == counts["requests"] / 1_000 < 1
    api.resume_queues("custom")
    assert wait_for_end(api, run_id, 90)["progress"] == {"total": 1_000, "completed": 1_000, "failed": 0}
    assert set(slow.counts()["prompts"].values()) == {1}


def counts_when_idle(models: ModelServer) -> Json | None:
    counts = models.counts()
    idle_seconds = datetime.now(UTC).timestamp() - counts["lastRequestAt"]
    return counts if not counts["inFlight"] and idle_seconds > 5 else None


def test_a_pause_affects_one_provider(api: Client, models: ModelServer) -> None:
    api.pause_queues("custom")
    try:
        run_id = start_run(api, create_definition(api, 10), "sim/steady")
        assert wait_for_end(api, run_id)["status"] == "COMPLETED"
    finally:
        api.resume_queues("custom")


def test_a_dead_letter_is_recorded_and_listed(api: Client, aws: Callable[[str], Any], models: ModelServer) -> None:
    sqs = aws("sqs")
    api.update_provider(UNUSED_PROVIDER, {"baseUrl": f"{models.url}/v1", "apiKey": "dummy"})
    with queues.source_disabled(aws("lambda"), f"probe_{UNUSED_PROVIDER}"):
        run_id = start_run(api, create_definition(api, 3), f"{UNUSED_PROVIDER}/bench")
        assert queue_status(api, UNUSED_PROVIDER)["pending"] == 3
        wait_until(lambda: queues.peek(sqs, f"probe_{UNUSED_PROVIDER}"))
        move_to_dead_letters(sqs, f"probe_{UNUSED_PROVIDER}")
        aws("lambda").invoke(FunctionName="cupel-sweep", Payload=b"{}")
    assert wait_for_end(api, run_id)["progress"] == {"total": 3, "completed": 0, "failed": 3}
    status = queue_status(api, UNUSED_PROVIDER)
    assert (status["pending"], status["deadLetters"]) == (0, 1)
    (dead_letter,) = api.list_dead_letters(provider=UNUSED_PROVIDER)
    assert (dead_letter["runId"], dead_letter["indexes"]) == (run_id, [0, 1, 2])
    redriven = api.redrive_dead_letters(message_ids=[dead_letter["messageId"]])
    assert redriven == {"sent": 0, "dropped": 1, "runsToRetry": [run_id], "unknownMessageIds": []}
    assert queue_status(api, UNUSED_PROVIDER)["deadLetters"] == 0


def move_to_dead_letters(sqs: Any, queue: str) -> None:
    """Move the message of a queue to its dead letters, as after five receives."""
    (message,) = queues.peek(sqs, queue)
    sqs.send_message(QueueUrl=queues.queue_url(sqs, f"{queue}-dlq"), MessageBody=message["Body"])
    sqs.delete_message(QueueUrl=queues.queue_url(sqs, queue), ReceiptHandle=message["ReceiptHandle"])
