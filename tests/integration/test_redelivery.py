"""A message that comes again after its work was done."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from cupel.client import Client
from tests import queues
from tests.evaluating import Json, define, finished, start, until
from tests.stacks import ModelServer

HELD = "xai"
"""A provider that no other test uses: while nobody works on its queue, a run with it stays open."""


@pytest.fixture
def sqs(aws: Callable[[str], Any]) -> Any:
    return aws("sqs")


def redeliver(sqs: Any, run_id: str, indexes: list[int]) -> None:
    """Sends the slice once more and waits until it was dealt with."""
    piece = {"workspace": "default", "runId": run_id, "epoch": 1, "leaf": 0, "indexes": indexes}
    sqs.send_message(QueueUrl=queues.url_of(sqs, "probe-custom"), MessageBody=json.dumps(piece))
    until(lambda: queues.count(sqs, "probe-custom") == 0)


def outcome_of(api: Client, run_id: str) -> tuple[Json, list[Json], list[Json]]:
    untouched = {"lastAccessedAt": None, "updatedAt": None}
    transcripts = [each | untouched for each in api.transcripts(run_id)]
    return api.run(run_id) | untouched, transcripts, api.events(run_id)


def test_a_finished_slice_of_a_running_run_asks_no_model_again(
    api: Client, aws: Callable[[str], Any], sqs: Any, models: ModelServer
) -> None:
    api.configure_provider(HELD, {"baseUrl": f"{models.url}/v1", "apiKey": "dummy"})
    with queues.held(aws("lambda"), f"probe-{HELD}"):
        run_id = start(api, define(api, 4), "custom/bench", f"{HELD}/bench")
        until(lambda: api.run(run_id)["progress"]["completed"] == 4)
        until(lambda: queues.count(sqs, "probe-custom") == 0)
        before = outcome_of(api, run_id)
        redeliver(sqs, run_id, [0, 1, 2, 3])
        assert (models.counts()["requests"], outcome_of(api, run_id)) == (4, before)
    assert finished(api, run_id)["progress"] == {"total": 8, "completed": 8, "failed": 0}


def test_a_slice_of_a_run_that_has_ended_changes_nothing(api: Client, sqs: Any, models: ModelServer) -> None:
    run_id = start(api, define(api, 4), "custom/bench")
    finished(api, run_id)
    before = outcome_of(api, run_id)
    redeliver(sqs, run_id, [0, 1, 2, 3])
    assert (models.counts()["requests"], outcome_of(api, run_id)) == (4, before)


def test_two_deliveries_of_one_slice_ask_a_model_once(api: Client, sqs: Any, models: ModelServer) -> None:
    models.behave(latencySeconds=1)
    run_id = start(api, define(api, 4), "custom/bench")
    until(lambda: models.counts()["inFlight"])
    redeliver(sqs, run_id, [0, 1, 2, 3])
    assert finished(api, run_id)["progress"]["completed"] == 4
    assert models.counts()["requests"] == 4
