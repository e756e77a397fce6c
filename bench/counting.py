"""Executes a run of single-turn probes in this process, and counts every AWS call.

The run is executed on moto, in the order and at the times of the functions: start, dispatch, two concurrent workers,
finish. Latencies vary around their mean, so that commits have as many outcomes as with a real provider. The module
replaces the AWS credentials in the environment, so it needs a separate process.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import boto3
from moto import mock_aws

from bench.metering import RequestMeter, aws_clients
from bench.model_server import Behaviour, ModelServer, serving
from bench.sizes import item_bytes
from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import DispatchRequest, RunRef
from cupel_core.definitions import catalog
from cupel_core.definitions.generation import generations
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.generations import GenerationMode, GenerationSpec
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.providers import safe_http
from cupel_core.runs import dispatch, start
from cupel_core.runs.finishing import phases
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import clients, evaluation_settings, keys, runs, scenarios, snapshots
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import settings

MODELS = ("custom/bench-a", "custom/bench-b")
PARALLEL, WORKERS, MEMORY_MB = 50, 2, 352
SPREAD = 1 / 3
PRICE_PER_MILLION = (1.0, 10.0)
"""The prices in USD of input and output tokens, if a budget limits the run."""
_WORKSPACE = "bench"
_REGION = "us-east-1"
_INVOCATION_SECONDS = 300.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class RunUsage:
    """Holds the AWS usage of one run. `received_count` counts the messages received by event source mappings.

    `worker_seconds` is the total time of the probe function's invocations.
    """

    probes: int
    counts: dict[str, float]
    calls: dict[str, int]
    received_count: int
    worker_seconds: float
    stored_bytes: float

    def per_probe(self, *names: str) -> float:
        return sum(self.counts.get(name, 0.0) for name in names) / self.probes


class _Invocations(NamedTuple):
    received_count: int = 0
    seconds: float = 0.0


class Budgets(NamedTuple):
    """Limits the spending of a run; models have a price if there is a limit."""

    run_usd: float | None = None
    day_usd: float | None = None


async def measure_run(
    probes: int,
    seconds: float,
    content: dict[str, Any],
    *,
    short: bool,
    parallel: int = PARALLEL,
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
) -> RunUsage:
    """Measure one run against the model server, with its realistic or its short answers."""
    behaviour = Behaviour(latency_seconds=seconds, latency_spread=SPREAD, short_answers=short)
    with moto_cloud():
        unmetered: dict[str, Any] = {"dynamodb": boto3.client("dynamodb"), "sqs": boto3.client("sqs")}
        async with serving(ModelServer(behaviour)) as url:
            accounts.update_provider(_WORKSPACE, "custom", {"base_url": f"{url}/v1", "max_parallel_requests": parallel})
            if any(budgets):
                accounts.update_provider(_WORKSPACE, "custom", {"prices": (ModelPrice(None, *PRICE_PER_MILLION),)})
                evaluation_settings.update(_WORKSPACE, {"budget_day_usd": budgets.day_usd})
            spec = replace(_spec(probes, content), max_budget_usd=budgets.run_usd)
            meter = RequestMeter(unmetered["dynamodb"].get_item)
            with meter.attached(*aws_clients()):
                run, received_count, worker_seconds = await _execute(spec, meter, unmetered["sqs"])
            await safe_http.close()
        stored_bytes = sum(map(item_bytes, _pages(unmetered["dynamodb"], run))) / run.plan.total
    return RunUsage(run.plan.total, dict(meter.counts), dict(meter.calls), received_count, worker_seconds, stored_bytes)


def _spec(probes: int, content: dict[str, Any]) -> RunSpec:
    definition = catalog.create(_WORKSPACE, Labels(name="units"), content, utc_now())
    total = generations.start_generation(
        _WORKSPACE, definition.head.id, GenerationSpec(GenerationMode.MATRIX), utc_now()
    ).total
    return RunSpec(definition.head.id, plain_targets(*MODELS), repeats=max(1, round(probes / total / len(MODELS))))


async def _execute(spec: RunSpec, meter: RequestMeter, sqs: Any) -> tuple[Run, int, float]:
    run = start.start(_WORKSPACE, spec, None, utc_now()).run
    _clear_caches()
    is_finished = asyncio.Event()
    dispatched_count, probed = await asyncio.gather(_dispatch(sqs, is_finished), _probe(meter, sqs, is_finished))
    _clear_caches()
    phases.settle(RunRef(run.workspace, run.id), run.fencing_token, utc_now())
    phases.complete(RunRef(run.workspace, run.id), run.fencing_token, utc_now())
    finished = runs.get(RunRef(run.workspace, run.id))
    return finished, dispatched_count + probed.received_count, probed.seconds


async def _dispatch(sqs: Any, is_finished: asyncio.Event) -> int:
    """Execute dispatch requests, including delayed ones, until the run has finished; return their number."""
    received_count, queue_url = 0, settings().dispatch_queue_url
    while not is_finished.is_set():
        if delivery := _receive(sqs, queue_url):
            received_count += 1
            request = DispatchRequest.model_validate_json(delivery.body)
            await asyncio.to_thread(dispatch.execute, request, utc_now(), lambda: _INVOCATION_SECONDS)
            sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=delivery.receipt)
        await asyncio.sleep(_POLL_SECONDS)
    return received_count


async def _probe(meter: RequestMeter, sqs: Any, is_finished: asyncio.Event) -> _Invocations:
    total, queue_url = _Invocations(), settings().probe_queue_url("custom")
    while any(_has_messages(sqs, url) for url in (settings().dispatch_queue_url, queue_url)):
        deliveries = [delivery for _ in range(WORKERS) if (delivery := _receive(sqs, queue_url))]
        before = meter.counts["s3_reads"]
        seconds = await asyncio.gather(*map(_invoke, deliveries))
        total = _Invocations(total.received_count + len(deliveries), total.seconds + sum(seconds))
        # Two workers share the caches of this process; on AWS each reads the bucket separately.
        meter.counts["s3_reads"] += (meter.counts["s3_reads"] - before) * max(0, len(deliveries) - 1)
        await asyncio.sleep(_POLL_SECONDS)
    is_finished.set()
    return total


async def _invoke(delivery: Delivery) -> float:
    started_at = time.monotonic()
    await Worker("custom", time.time() + _INVOCATION_SECONDS).run([delivery])
    return time.monotonic() - started_at


def _has_messages(sqs: Any, queue_url: str) -> bool:
    attributes = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["All"])["Attributes"]
    return any(int(number) for name, number in attributes.items() if name.startswith("ApproximateNumberOfMessages"))


def _receive(sqs: Any, queue_url: str) -> Delivery | None:
    """Receive a message like the poller of an event source mapping, whose requests are not metered."""
    response = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=1)
    for message in response.get("Messages", []):
        return Delivery(queue_url, message["MessageId"], message["ReceiptHandle"], message["Body"], 1)
    return None


def _clear_caches() -> None:
    """Simulate the start of another function's process, which has nothing of the bucket cached."""
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()


def _pages(dynamodb: Any, run: Run) -> Iterator[dict[str, Any]]:
    for first in range(0, run.plan.total, keys.PROBES_PER_BLOCK):
        values = {":pk": {"S": keys.pages(RunRef(run.workspace, run.id), first // FANOUT)}}
        query = {"TableName": settings().table_name, "KeyConditionExpression": "pk = :pk"}
        for page in dynamodb.get_paginator("query").paginate(**query, ExpressionAttributeValues=values):
            yield from page["Items"]


@contextmanager
def moto_cloud(provider: str = "custom") -> Iterator[None]:
    """Create on moto the resources of the stack that a run of the provider's models needs."""
    credentials = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": _REGION}
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        os.environ.pop(name, None)
    os.environ.update(credentials, TABLE_NAME="cupel", BUCKET_NAME="cupel", ALLOW_PRIVATE_ENDPOINTS="true")
    with mock_aws():
        sqs = clients.sqs()
        urls = [sqs.create_queue(QueueName=f"cupel-{name}")["QueueUrl"] for name in ("dispatch", f"probe_{provider}")]
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
