"""A message that is redelivered after its probes were completed."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from cupel.client import Client
from tests import queues
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until
from tests.stacks import ModelServer

UNUSED_PROVIDER = "xai"
"""A provider that no other test uses: its event source may be disabled, and messages may remain in its queue."""


@pytest.fixture
def unused_model(api: Client, models: ModelServer) -> str:
    api.update_provider(UNUSED_PROVIDER, {"baseUrl": f"{models.url}/v1", "apiKey": "dummy"})
    return f"{UNUSED_PROVIDER}/bench"


@pytest.fixture
def sqs(aws: Callable[[str], Any]) -> Any:
    return aws("sqs")


def redeliver(sqs: Any, model: str, run_id: str) -> None:
    """Send the slice of probes 0 to 3 again and wait until a worker has received it."""
    url = queues.queue_url(sqs, f"probe_{model.partition('/')[0]}")
    body = {"workspace": "default", "runId": run_id, "fencingToken": 1, "leaf": 0, "indexes": [0, 1, 2, 3]}
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps(body))
    wait_until(lambda: queues.count_visible(sqs, url) == 0)


def outcome_of(api: Client, run_id: str) -> tuple[Json, list[Json], list[Json]]:
    ignored = {"lastAccessedAt": None, "updatedAt": None}
    transcripts = [each | ignored for each in api.list_transcripts(run_id)]
    return api.get_run(run_id) | ignored, transcripts, api.list_run_events(run_id)


def test_a_completed_slice_of_a_running_run_repeats_no_calls(
    api: Client, aws: Callable[[str], Any], sqs: Any, models: ModelServer, unused_model: str
) -> None:
    with queues.source_disabled(aws("lambda"), f"probe_{UNUSED_PROVIDER}"):
        run_id = start_run(api, create_definition(api, 4), "custom/bench", unused_model)
        wait_until(lambda: api.get_run(run_id)["progress"]["completed"] == 4)
        before = outcome_of(api, run_id)
        redeliver(sqs, "custom/bench", run_id)
        wait_until(lambda: queues.count_messages(sqs, "probe_custom") == 0)
        assert (models.counts()["requests"], outcome_of(api, run_id)) == (4, before)
    assert wait_for_end(api, run_id)["progress"] == {"total": 8, "completed": 8, "failed": 0}


def test_a_slice_of_an_ended_run_changes_nothing(api: Client, sqs: Any, models: ModelServer) -> None:
    run_id = start_run(api, create_definition(api, 4), "custom/bench")
    wait_for_end(api, run_id)
    before = outcome_of(api, run_id)
    redeliver(sqs, "custom/bench", run_id)
    wait_until(lambda: queues.count_messages(sqs, "probe_custom") == 0)
    assert (models.counts()["requests"], outcome_of(api, run_id)) == (4, before)


def test_a_slice_being_processed_repeats_no_calls(
    api: Client, sqs: Any, models: ModelServer, unused_model: str
) -> None:
    models.configure(latencySeconds=1)
    run_id = start_run(api, create_definition(api, 4), unused_model)
    wait_until(lambda: models.counts()["inFlight"])
    redeliver(sqs, unused_model, run_id)
    assert wait_for_end(api, run_id)["progress"]["completed"] == 4
    assert models.counts()["requests"] == 4
