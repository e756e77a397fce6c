"""Messages that cannot be processed become dead letters, and the sweeper records errors for their probes.

A message is received five times, after 2, 4, 8, 16 and 32 seconds, before it becomes a dead letter; all tests share the
wait.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from cupel.client import Client
from tests import queues
from tests.eval_api import Json, create_definition, start_run, wait_for_end, wait_until

MALFORMED_BODY = "not a slice"
UNUSED_PROVIDER = "deepseek"
"""A provider that no other test uses: its event source is disabled while a run is damaged."""
QUEUE = f"probe_{UNUSED_PROVIDER}"
MAX_REDELIVERY_SECONDS = 600
"""Of a wait of at least 62 seconds, on a machine that may be busy with something else."""
SECONDS_BETWEEN_SWEEPS = 2


class DamagedRuns(NamedTuple):
    """Ids of runs with probes among the dead letters."""

    lost: str
    """Its snapshot is deleted."""
    mixed: str
    """One message has probes of two providers; the simulated half was completed before."""


@pytest.fixture(scope="module")
def damaged_runs(api: Client, aws: Callable[[str], Any]) -> DamagedRuns:
    sqs = aws("sqs")
    api.update_provider(UNUSED_PROVIDER, {"baseUrl": "http://127.0.0.1:9", "apiKey": "dummy"})
    with queues.source_disabled(aws("lambda"), QUEUE):
        damaged_runs = DamagedRuns(start_without_snapshot(api, aws), start_with_mixed_slice(api, sqs))
        sqs.send_message(QueueUrl=queues.queue_url(sqs, QUEUE), MessageBody=MALFORMED_BODY)
    return damaged_runs


@pytest.fixture(scope="module")
def swept(api: Client, aws: Callable[[str], Any], damaged_runs: DamagedRuns) -> Json:
    """The counts of the sweep that saw the malformed message, once the two other messages are stored.

    The stack's schedule sweeps every minute as well, and may store a message before the next one is dead.
    """

    def sweep() -> Json | None:
        answer = aws("lambda").invoke(FunctionName="cupel-sweep", Payload=b"{}")
        counts: Json = json.loads(answer["Payload"].read())
        return counts if counts["unreadable"] and runs_with_dead_letters(api) == set(damaged_runs) else None

    return wait_until(sweep, MAX_REDELIVERY_SECONDS, every=SECONDS_BETWEEN_SWEEPS) or {}


def test_an_unreadable_message_is_counted(swept: Json) -> None:
    assert swept["unreadable"] == 1


@pytest.mark.usefixtures("swept")
def test_only_unreadable_dead_letters_stay_in_their_queue(aws: Callable[[str], Any]) -> None:
    bodies = wait_until(lambda: dead_letter_bodies(aws("sqs")))  # A scheduled sweep may hold the message for a moment.
    assert bodies == {MALFORMED_BODY}


@pytest.mark.usefixtures("swept")
def test_a_run_fails_if_all_its_probes_are_dead_letters(api: Client, damaged_runs: DamagedRuns) -> None:
    run = wait_for_end(api, damaged_runs.lost)
    assert (run["status"], run["progress"]) == ("FAILED", {"total": 3, "completed": 0, "failed": 3})
    assert "dead_letter" in run["failure"]["why"]


@pytest.mark.usefixtures("swept")
def test_the_error_of_a_dead_letter_has_its_cause(api: Client, damaged_runs: DamagedRuns) -> None:
    wait_for_end(api, damaged_runs.lost)
    errors = [each["error"] for each in api.list_run_probes(damaged_runs.lost, status="ERROR")]
    assert [error["code"] for error in errors] == ["dead_letter"] * 3
    assert all("there is no object" in error["message"] for error in errors)


@pytest.mark.usefixtures("swept")
def test_dead_letters_do_not_block_other_probes_of_the_run(api: Client, damaged_runs: DamagedRuns) -> None:
    run = wait_for_end(api, damaged_runs.mixed)
    assert (run["status"], run["progress"]) == ("COMPLETED", {"total": 6, "completed": 3, "failed": 3})


@pytest.mark.usefixtures("swept")
def test_only_missing_probes_get_an_error(api: Client, damaged_runs: DamagedRuns) -> None:
    wait_for_end(api, damaged_runs.mixed)
    errors = list(api.list_run_probes(damaged_runs.mixed, status="ERROR"))
    assert {each["modelId"] for each in errors} == {f"{UNUSED_PROVIDER}/any"}
    assert all("must be probes of one provider" in each["error"]["message"] for each in errors)


def start_without_snapshot(api: Client, aws: Callable[[str], Any]) -> str:
    run_id = start_run(api, create_definition(api, 3), f"{UNUSED_PROVIDER}/any")
    stack = aws("cloudformation").describe_stacks(StackName="cupel")["Stacks"][0]
    bucket = next(each["OutputValue"] for each in stack["Outputs"] if each["OutputKey"] == "BucketName")
    for each in aws("s3").list_objects_v2(Bucket=bucket, Prefix=f"runs/default/{run_id}/")["Contents"]:
        aws("s3").delete_object(Bucket=bucket, Key=each["Key"])
    return run_id


def start_with_mixed_slice(api: Client, sqs: Any) -> str:
    """Wait for the simulated half, take the other half's message, and send one that cannot be processed."""
    run_id = start_run(api, create_definition(api, 3), "sim/steady", f"{UNUSED_PROVIDER}/any")
    wait_until(lambda: api.get_run(run_id)["progress"]["completed"] == 3)
    body = wait_until(lambda: take_message(sqs, run_id)) or {}
    sqs.send_message(QueueUrl=queues.queue_url(sqs, QUEUE), MessageBody=json.dumps(body | {"indexes": list(range(6))}))
    return run_id


def runs_with_dead_letters(api: Client) -> set[str]:
    """Ids of the runs with stored dead letters."""
    return {letter["runId"] for letter in api.list_dead_letters(provider=UNUSED_PROVIDER)}


def take_message(sqs: Any, run_id: str) -> Json | None:
    """Take a message of the run from the queue; other messages remain."""
    for message in queues.peek(sqs, QUEUE):
        body: Json = json.loads(message["Body"])
        if body["runId"] == run_id:
            sqs.delete_message(QueueUrl=queues.queue_url(sqs, QUEUE), ReceiptHandle=message["ReceiptHandle"])
            return body
    return None


def dead_letter_bodies(sqs: Any) -> set[str]:
    return {message["Body"] for message in queues.peek(sqs, f"{QUEUE}-dlq")}
