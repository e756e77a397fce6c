"""Writes the scenarios of a generation by a model; each message continues one generation."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base import event_loop, sqs_batch
from cupel_core.base.messages import GenerationRequest
from cupel_core.definitions.generation import writer

MAX_RECEIVES = 3
"""A message that was received more often probably crashes its invocations, so its generation is given up."""

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Write texts for the batch's requests; a malformed or failed one is redelivered."""

    def write(record: SQSRecord) -> None:
        request = GenerationRequest.model_validate_json(record.body)
        if int(record.attributes.approximate_receive_count) > MAX_RECEIVES:
            result = writer.give_up(request)
        else:
            result = event_loop.run(
                writer.write_scenarios(request, lambda: context.get_remaining_time_in_millis() / 1_000)
            )
        logger.info("generation", step=result, generation_id=request.generation_id)

    return sqs_batch.process(event, context, write)
