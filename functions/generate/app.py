"""Writes the scenarios of generations by a model: one message is one stretch of one generation."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core import event_loop, sqs_batch
from cupel_core.generation import writer
from cupel_core.messages import GenerationOrder

MAX_RECEIVES = 3
"""A message that came more often has ended its invocations without a word."""

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    def write(record: SQSRecord) -> None:
        order = GenerationOrder.model_validate_json(record.body)
        if int(record.attributes.approximate_receive_count) > MAX_RECEIVES:
            step = writer.give_up(order)
        else:
            step = event_loop.run(writer.proceed(order, lambda: context.get_remaining_time_in_millis() / 1_000))
        logger.info("generation", step=step, generation_id=order.generation_id)

    return sqs_batch.process(event, context, write)
