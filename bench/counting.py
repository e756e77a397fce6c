"""One run of single-turn probes in this process, counted call by call.

The capabilities of a run are carried out on moto, in the order and at the times the functions would: start, dispatch,
two workers at a time, finish. Answers spread around their mean, so that a commit gathers what a real provider's spread
lets it gather. Whoever uses this has no AWS credentials left in its environment: it is for a process of its own.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import mean
from typing import Any

import boto3
from moto import mock_aws

from bench.metering import Meter, aws_clients
from bench.model_server import Behaviour, ModelServer, serving
from bench.sizes import item_bytes
from cupel_core import accounts
from cupel_core.clock import utc_now
from cupel_core.definitions import catalog
from cupel_core.domain.definitions.generations import Mode
from cupel_core.domain.runs.run import Run
from cupel_core.finishing import phases
from cupel_core.generation import generations
from cupel_core.messages import DispatchOrder, RunRef
from cupel_core.probing.worker import Worker
from cupel_core.providers import http
from cupel_core.runs import dispatch, start
from cupel_core.runs.spec import RunSpec
from cupel_core.settings import settings
from cupel_core.store import clients, keys, runs, scenarios, snapshots
from cupel_core.store.queues import Delivery

PARALLEL, WORKERS = 50, 2
SPREAD = 1 / 3
_WORKSPACE = "bench"
_REGION = "us-east-1"
_INVOCATION_SECONDS = 300.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Counted:
    """What one run has taken. `handed_over` are the messages that the event source mappings' pollers received."""

    probes: int
    counts: dict[str, float]
    calls: dict[str, int]
    handed_over: int
    item_bytes: float

    def each(self, *names: str) -> float:
        """Of these together, per probe."""
        return sum(self.counts.get(name, 0.0) for name in names) / self.probes


async def count(probes: int, seconds: float, content: dict[str, Any], answer: str | None) -> Counted:
    """Carries out one run against the model server; without an answer it gives its own, short ones."""
    behaviour = Behaviour(latency_seconds=seconds, latency_spread=SPREAD, answer=answer)
    with _cloud():
        plain: dict[str, Any] = {"dynamodb": boto3.client("dynamodb"), "sqs": boto3.client("sqs")}
        async with serving(ModelServer(behaviour)) as url:
            accounts.configure(_WORKSPACE, "custom", {"base_url": f"{url}/v1", "max_parallel_requests": PARALLEL})
            spec = _spec(probes, content)
            meter = Meter(plain["dynamodb"].get_item)
            with meter.before(*aws_clients()):
                run, handed_over = await _carry_out(spec, meter, plain["sqs"])
            await http.close()
        sizes = [item_bytes(item) for item in _outcomes(plain["dynamodb"], run)]
    return Counted(run.plan.total, dict(meter.counts), dict(meter.calls), handed_over, mean(sizes))


def _spec(probes: int, content: dict[str, Any]) -> RunSpec:
    """As many repeats of all the definition's scenarios as make about so many probes."""
    definition = catalog.create(_WORKSPACE, catalog.Labels(name="units"), content, utc_now())
    total = generations.begin(_WORKSPACE, definition.head.id, generations.GenerationSpec(Mode.MATRIX), utc_now()).total
    return RunSpec(definition.head.id, ("custom/bench",), repeats=max(1, round(probes / total)))


async def _carry_out(spec: RunSpec, meter: Meter, sqs: Any) -> tuple[Run, int]:
    """The run at its end, and how many messages the event source mappings have handed over."""
    run = start.start(_WORKSPACE, spec, None, utc_now()).run
    _forget()
    over = asyncio.Event()
    handed_over = sum(await asyncio.gather(_dispatch(sqs, over), _probe(meter, sqs, over)))
    _forget()
    phases.settle(RunRef(run.workspace, run.id), run.epoch, utc_now())
    phases.complete(RunRef(run.workspace, run.id), run.epoch, utc_now())
    return runs.get(RunRef(run.workspace, run.id)), handed_over


async def _dispatch(sqs: Any, over: asyncio.Event) -> int:
    """Carries out orders as they come, those that are delayed too; how many."""
    handed_over, queue_url = 0, settings().dispatch_queue_url
    while not over.is_set():
        if order := _hand_over(sqs, queue_url):
            handed_over += 1
            told = DispatchOrder.model_validate_json(order.body)
            await asyncio.to_thread(dispatch.carry_out, told, utc_now(), lambda: _INVOCATION_SECONDS)
            sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=order.receipt)
        await asyncio.sleep(_POLL_SECONDS)
    return handed_over


async def _probe(meter: Meter, sqs: Any, over: asyncio.Event) -> int:
    """Invocations, as many at a time as there are workers, until nothing is to be done any more; how many."""
    handed_over, queue_url = 0, settings().probe_queue_url("custom")
    while any(_waits(sqs, url) for url in (settings().dispatch_queue_url, queue_url)):
        handed = [each for _ in range(WORKERS) if (each := _hand_over(sqs, queue_url))]
        handed_over += len(handed)
        before = meter.counts["s3_reads"]
        await asyncio.gather(*(Worker("custom", time.time() + _INVOCATION_SECONDS).run([each]) for each in handed))
        # Two workers share this process and what it remembers of the bucket; on AWS each reads it for itself.
        meter.counts["s3_reads"] += (meter.counts["s3_reads"] - before) * max(0, len(handed) - 1)
        await asyncio.sleep(_POLL_SECONDS)
    over.set()
    return handed_over


def _waits(sqs: Any, queue_url: str) -> bool:
    """Whether the queue has a message, in whatever state."""
    told = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["All"])["Attributes"]
    return any(int(number) for name, number in told.items() if name.startswith("ApproximateNumberOfMessages"))


def _hand_over(sqs: Any, queue_url: str) -> Delivery | None:
    """As the poller of an event source mapping does; its requests are not the meter's."""
    answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=1)
    for message in answer.get("Messages", []):
        return Delivery(queue_url, message["MessageId"], message["ReceiptHandle"], message["Body"], 1)
    return None


def _forget() -> None:
    """Another function's process begins, which remembers nothing of the bucket."""
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()


def _outcomes(dynamodb: Any, run: Run) -> Iterator[dict[str, Any]]:
    for first in range(0, run.plan.total, keys.PROBES_PER_BLOCK):
        values = {":pk": {"S": keys.probes(RunRef(run.workspace, run.id), first)}}
        asked = {"TableName": settings().table_name, "KeyConditionExpression": "pk = :pk"}
        for page in dynamodb.get_paginator("query").paginate(**asked, ExpressionAttributeValues=values):
            yield from page["Items"]


@contextmanager
def _cloud() -> Iterator[None]:
    """What the run needs of the stack, on moto."""
    credentials = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": _REGION}
    os.environ.pop("AWS_ENDPOINT_URL", None)
    os.environ.update(credentials, TABLE_NAME="cupel", BUCKET_NAME="cupel")
    with mock_aws():
        sqs = clients.sqs()
        urls = [sqs.create_queue(QueueName=f"cupel-{name}")["QueueUrl"] for name in ("dispatch", "probe-custom")]
        os.environ.update(DISPATCH_QUEUE_URL=urls[0], GENERATE_QUEUE_URL=urls[0])
        _create_table()
        clients.s3().create_bucket(Bucket="cupel")
        machine = clients.stepfunctions().create_state_machine(
            name="cupel-finish", definition="{}", roleArn="arn:aws:iam::123456789012:role/none"
        )
        os.environ["FINISH_MACHINE_ARN"] = machine["stateMachineArn"]
        settings.cache_clear()
        yield


def _create_table() -> None:
    names = ("pk", "sk", "gsi1pk", "gsi1sk")
    clients.dynamodb().create_table(
        TableName="cupel",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=_schema(*names[:2]),
        GlobalSecondaryIndexes=[
            {"IndexName": "gsi1", "KeySchema": _schema(*names[2:]), "Projection": {"ProjectionType": "ALL"}}
        ],
    )


def _schema(partition: str, sort: str) -> Any:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
