"""Writes the scenarios of generations by a model: one message is one stretch of one generation."""

import asyncio
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from shared.generating import writing
from shared.messages import GenerationOrder

MAX_RECEIVES = 3
"""A message that came more often has ended its invocations without a word."""

logger = Logger()
processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
runner = asyncio.Runner()
"""One loop for all invocations: connections to providers belong to their loop."""


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return process_partial_response(event, _record, processor, context)


def _record(record: SQSRecord, lambda_context: LambdaContext) -> None:
    order = GenerationOrder.model_validate_json(record.body)
    if int(record.attributes.approximate_receive_count) > MAX_RECEIVES:
        step = writing.give_up(order)
    else:
        step = runner.run(writing.proceed(order, lambda: lambda_context.get_remaining_time_in_millis() / 1000))
    logger.info("generation", extra={"step": step, **order.model_dump(by_alias=True)})
