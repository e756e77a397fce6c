"""A run's priority selects the queue that its slices are sent to, processed from and handed on in."""

import json
import time
from dataclasses import replace

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Priority, Run
from cupel_core.runs import dispatch
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, clients, queues, runs
from cupel_core.store.settings import Settings
from probe import app as probe
from tests.conftest import ROOT
from tests.lambda_context import Context
from tests.started_runs import NOW, RunSetup, dispatch_request, receive_bodies, ref_of, slice_message


def urgent() -> Run:
    """A run of six probes with high priority."""
    plain = RunSetup().start()
    return runs.create(replace(plain, id=f"{plain.id}-urgent", priority=Priority.HIGH), {})


def test_slices_go_to_the_queue_of_their_runs_priority(cloud: Settings) -> None:
    dispatch.execute(dispatch_request(urgent()), NOW, lambda: 600.0)
    assert (
        receive_bodies(cloud.probe_queue_url("sim")) == receive_bodies(cloud.probe_queue_url("sim", Priority.LOW)) == []
    )
    assert receive_bodies(cloud.probe_queue_url("sim", Priority.HIGH))


def test_the_messages_of_all_runs_of_a_workspace_are_one_group(cloud: Settings) -> None:
    for run in (urgent(), urgent()):
        dispatch.execute(dispatch_request(run), NOW, lambda: 600.0)
    url = cloud.probe_queue_url("sim", Priority.HIGH)
    received = clients.sqs().receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["MessageGroupId"]
    )
    assert {message["Attributes"]["MessageGroupId"] for message in received["Messages"]} == {run.workspace}


async def test_a_worker_hands_on_in_its_own_queue(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run, url = urgent(), cloud.probe_queue_url("sim", Priority.HIGH)
    queues.send(url, [slice_message(run, [0, 1])])
    worker = Worker("sim", time.time() + 5, receive_wait_seconds=0, priority=Priority.HIGH)
    assert await worker.run(queues.receive(url, 1)) == []
    assert receive_bodies(url) == [slice_message(run, [0, 1]).to_body()]


def test_the_function_takes_provider_and_priority_from_its_queue(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = urgent()
    event = json.loads((ROOT / "events" / "probe-slice.json").read_text())
    record = event["Records"][0]
    record["eventSourceARN"] += "-high"
    record["body"] = slice_message(run, [0]).to_body()
    queues.send(cloud.probe_queue_url("sim", Priority.HIGH), [slice_message(run, [1])])
    assert probe.handler(event, Context()) == {"batchItemFailures": []}
    assert barrier.get_leaf(ref_of(run), Node(0, 0)).leaf.completed == {0, 1}
