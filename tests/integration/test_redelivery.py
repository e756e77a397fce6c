"""A message that comes again after its work was done."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from cupel.client import Client
from tests import queues
from tests.eval_api import Json, define, finished, start, until
from tests.stacks import ModelServer

ALONE = "xai"
"""A provider that no other test uses: its queue may be held, and what is left in it disturbs nobody."""


@pytest.fixture
def alone(api: Client, models: ModelServer) -> str:
    api.configure_provider(ALONE, {"baseUrl": f"{models.url}/v1", "apiKey": "dummy"})
    return f"{ALONE}/bench"


@pytest.fixture
def sqs(aws: Callable[[str], Any]) -> Any:
    return aws("sqs")


def redeliver(sqs: Any, model: str, run_id: str) -> None:
    """Sends the slice of probes 0 to 3 once more and waits until a worker has it."""
    url = queues.url_of(sqs, f"probe-{model.partition('/')[0]}")
    piece = {"workspace": "default", "runId": run_id, "epoch": 1, "leaf": 0, "indexes": [0, 1, 2, 3]}
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps(piece))
    until(lambda: queues.visible(sqs, url) == 0)


def outcome_of(api: Client, run_id: str) -> tuple[Json, list[Json], list[Json]]:
    untouched = {"lastAccessedAt": None, "updatedAt": None}
    transcripts = [each | untouched for each in api.transcripts(run_id)]
    return api.run(run_id) | untouched, transcripts, api.events(run_id)


def test_a_finished_slice_of_a_running_run_asks_no_model_again(
    api: Client, aws: Callable[[str], Any], sqs: Any, models: ModelServer, alone: str
) -> None:
    with queues.held(aws("lambda"), f"probe-{ALONE}"):
        run_id = start(api, define(api, 4), "custom/bench", alone)
        until(lambda: api.run(run_id)["progress"]["completed"] == 4)
        before = outcome_of(api, run_id)
        redeliver(sqs, "custom/bench", run_id)
        until(lambda: queues.count(sqs, "probe-custom") == 0)
        assert (models.counts()["requests"], outcome_of(api, run_id)) == (4, before)
    assert finished(api, run_id)["progress"] == {"total": 8, "completed": 8, "failed": 0}


def test_a_slice_of_a_run_that_has_ended_changes_nothing(api: Client, sqs: Any, models: ModelServer) -> None:
    run_id = start(api, define(api, 4), "custom/bench")
    finished(api, run_id)
    before = outcome_of(api, run_id)
    redeliver(sqs, "custom/bench", run_id)
    until(lambda: queues.count(sqs, "probe-custom") == 0)
    assert (models.counts()["requests"], outcome_of(api, run_id)) == (4, before)


def test_a_slice_that_is_in_work_asks_no_model_twice(api: Client, sqs: Any, models: ModelServer, alone: str) -> None:
    models.behave(latencySeconds=1)
    run_id = start(api, define(api, 4), alone)
    until(lambda: models.counts()["inFlight"])
    redeliver(sqs, alone, run_id)
    assert finished(api, run_id)["progress"]["completed"] == 4
    assert models.counts()["requests"] == 4
