"""Errors that nobody foresaw must not end a worker: replies that it waits for, or has not recorded, are paid for."""

from aws_lambda_powertools import Logger
from pydantic import ValidationError

from cupel_core.errors import AppError
from cupel_core.store.clients import AWS_ERRORS

logger = Logger(child=True)


def log_unforeseen(error: Exception, what: str) -> None:
    """Log an error unless it is one of those that occur in ordinary operation."""
    if not isinstance(error, (TimeoutError, ValidationError, AppError, *AWS_ERRORS)):
        logger.error(what, exc_info=error)
