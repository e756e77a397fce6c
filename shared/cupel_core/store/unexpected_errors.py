from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError, RetryableError
from cupel_core.store.clients import is_transient

UNEXPECTED_ERRORS = "UnexpectedErrors"

logger = Logger()


def from_unexpected(error: Exception) -> AppError:
    """Return an error that does not reveal the cause. The log has all of it."""
    if is_transient(error):
        logger.warning("request failed", exc_info=error)
        return RetryableError("an AWS service is busy or unavailable; repeat the request")
    logger.exception("unexpected error", exc_info=error)
    _count_unexpected()
    return AppError("unexpected error")


def _count_unexpected() -> None:
    """Publish a metric. Lambda counts no error for a successful invocation, and GraphQL and MCP answer with 200."""
    from aws_lambda_powertools.metrics import MetricUnit, single_metric  # It is needed rarely.

    with single_metric(name=UNEXPECTED_ERRORS, unit=MetricUnit.Count, value=1):
        pass  # A log line is written at the end; its dimension is the service, which is the stack's name.
