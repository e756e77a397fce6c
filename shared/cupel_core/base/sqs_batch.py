"""Processes SQS batches by record: a failed record is logged with its reason and redelivered, the others are
deleted."""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.base import FailureResponse
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(child=True)


class _Processor(BatchProcessor):
    def failure_handler(self, record: Any, exception: Any) -> FailureResponse:
        logger.error("message failed", exc_info=exception, message_id=record.message_id)
        return super().failure_handler(record, exception)


def process(
    event: dict[str, Any], context: LambdaContext, handle: Callable[[SQSRecord], None]
) -> PartialItemFailureResponse:
    """Call `handle` with each record and return the partial batch response; an exception fails only its record."""
    processor = _Processor(EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(event, handle, processor, context)
