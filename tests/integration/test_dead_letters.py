"""Messages that cannot be worked on: they end as dead letters, and the sweeper speaks for their probes.

A message is received five times, 2, 4, 8, 16 and 32 seconds apart, before its queue gives it up; all wait together.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from cupel.client import Client
from tests import queues
from tests.eval_api import Json, define, finished, start, until

POISON = "this is no slice"
AWAY = "deepseek"
"""A provider that no other test uses: its queue is held, so that a run can be spoiled before it is worked on."""
QUEUE = f"probe-{AWAY}"
RECEIVED_SECONDS = 90


class Given(NamedTuple):
    """Runs of which probes are among the dead letters."""

    lost: str
    """Its snapshot is gone."""
    mixed: str
    """A message names probes of two providers at once; the simulated half was worked on before."""


@pytest.fixture(scope="module")
def given(api: Client, aws: Callable[[str], Any]) -> Given:
    sqs = aws("sqs")
    api.configure_provider(AWAY, {"baseUrl": "http://127.0.0.1:9", "apiKey": "dummy"})
    with queues.held(aws("lambda"), QUEUE):
        given = Given(start_without_snapshot(api, aws), start_with_mixed_slice(api, sqs))
        sqs.send_message(QueueUrl=queues.url_of(sqs, QUEUE), MessageBody=POISON)
    until(lambda: len(letters(sqs)) == 3, RECEIVED_SECONDS, every=1)
    return given


@pytest.fixture(scope="module")
def swept(aws: Callable[[str], Any], given: Given) -> Json:
    answer = aws("lambda").invoke(FunctionName="cupel-sweep", Payload=b"{}")
    told: Json = json.loads(answer["Payload"].read())
    return told


def test_a_message_that_cannot_be_read_is_counted(swept: Json) -> None:
    assert swept["unreadable"] == 1


@pytest.mark.usefixtures("swept")
def test_dead_letters_stay_where_a_person_sees_them(aws: Callable[[str], Any], given: Given) -> None:
    bodies = letters(aws("sqs"))
    assert len(bodies) == 3
    assert POISON in bodies
    assert {json.loads(body)["runId"] for body in bodies if body != POISON} == {given.lost, given.mixed}


@pytest.mark.usefixtures("swept")
def test_a_run_whose_every_probe_is_dead_fails_and_says_why(api: Client, given: Given) -> None:
    run = finished(api, given.lost)
    assert (run["status"], run["progress"]) == ("FAILED", {"total": 3, "completed": 0, "failed": 3})
    assert "dead_letter" in run["failure"]["why"]


@pytest.mark.usefixtures("swept")
def test_a_dead_probe_tells_its_cause(api: Client, given: Given) -> None:
    finished(api, given.lost)
    errors = [each["error"] for each in api.probes(given.lost, status="ERROR")]
    assert [error["code"] for error in errors] == ["dead_letter"] * 3
    assert all("there is no object" in error["message"] for error in errors)


@pytest.mark.usefixtures("swept")
def test_dead_probes_do_not_block_the_run_of_others(api: Client, given: Given) -> None:
    run = finished(api, given.mixed)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 6, "completed": 3, "failed": 3})


@pytest.mark.usefixtures("swept")
def test_only_the_probes_that_were_missing_are_errored(api: Client, given: Given) -> None:
    finished(api, given.mixed)
    errors = list(api.probes(given.mixed, status="ERROR"))
    assert {each["modelId"] for each in errors} == {f"{AWAY}/any"}
    assert all("must be probes of one provider" in each["error"]["message"] for each in errors)


def start_without_snapshot(api: Client, aws: Callable[[str], Any]) -> str:
    run_id = start(api, define(api, 3), f"{AWAY}/any")
    stack = aws("cloudformation").describe_stacks(StackName="cupel")["Stacks"][0]
    bucket = next(each["OutputValue"] for each in stack["Outputs"] if each["OutputKey"] == "BucketName")
    for each in aws("s3").list_objects_v2(Bucket=bucket, Prefix=f"runs/default/{run_id}/")["Contents"]:
        aws("s3").delete_object(Bucket=bucket, Key=each["Key"])
    return run_id


def start_with_mixed_slice(api: Client, sqs: Any) -> str:
    """Waits until the good half is done, takes the other half's messages, and sends one that nobody can work on."""
    run_id = start(api, define(api, 3), "sim/steady", f"{AWAY}/any")
    until(lambda: api.run(run_id)["progress"]["completed"] == 3)
    taken = until(lambda: take(sqs, run_id)) or {}
    sqs.send_message(QueueUrl=queues.url_of(sqs, QUEUE), MessageBody=json.dumps(taken | {"indexes": list(range(6))}))
    return run_id


def take(sqs: Any, run_id: str) -> Json | None:
    """A message of the run, taken from the queue; those of others come back."""
    for message in queues.peek(sqs, QUEUE):
        body: Json = json.loads(message["Body"])
        if body["runId"] == run_id:
            sqs.delete_message(QueueUrl=queues.url_of(sqs, QUEUE), ReceiptHandle=message["ReceiptHandle"])
            return body
    return None


def letters(sqs: Any) -> set[str]:
    return {message["Body"] for message in queues.peek(sqs, f"{QUEUE}-dlq")}
