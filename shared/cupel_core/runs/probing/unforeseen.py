"""Errors that nobody foresaw. They must not end a worker, because its pending and unrecorded replies are paid for."""

from aws_lambda_powertools import Logger
from pydantic import ValidationError

from cupel_core.base.errors import AppError
from cupel_core.store.clients import AWS_ERRORS

logger = Logger(child=True)


def is_unforeseen(error: Exception) -> bool:
    """Return whether the error is not one of those that occur in ordinary operation."""
    return not isinstance(error, (TimeoutError, ValidationError, AppError, *AWS_ERRORS))


def log_unforeseen(error: Exception, what: str) -> None:
    if is_unforeseen(error):
        logger.error(what, exc_info=error)
