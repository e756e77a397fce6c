"""Runs the probes of a provider's queue: conversations, transcripts and progress."""

import time
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base import event_loop
from cupel_core.runs.probing.worker import Worker
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import Lane, settings
from probe.metrics import publish

logger = Logger()
metrics = Metrics()


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    provider, priority = Lane.from_arn(event["Records"][0]["eventSourceARN"])
    ends_at = time.time() + context.get_remaining_time_in_millis() / 1_000
    worker = Worker(provider, ends_at, priority=priority, memory_mb=int(context.memory_limit_in_mb))
    failed = event_loop.run(worker.run([_delivery(record) for record in event["Records"]]))
    publish(metrics, provider, worker.totals)
    logger.info(
        "probed", provider=provider, priority=priority, probes=worker.totals.probes, failed_messages=len(failed)
    )
    own_messages = {record["messageId"] for record in event["Records"]}
    return {
        "batchItemFailures": [{"itemIdentifier": delivery.id} for delivery in failed if delivery.id in own_messages]
    }


def _delivery(record: dict[str, Any]) -> Delivery:
    return Delivery(
        queue_url=settings().queue_url(record["eventSourceARN"]),
        id=record["messageId"],
        receipt=record["receiptHandle"],
        body=record["body"],
        receive_count=int(record["attributes"]["ApproximateReceiveCount"]),
    )
