"""One boto3 client per service and process: creating one takes 60 ms."""

from functools import cache
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError
from pynamodb.exceptions import PynamoDBException

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

AWS_ERRORS = (BotoCoreError, ClientError, PynamoDBException)
"""What a call raises if the service refused it, could not be reached, or its response was lost."""

_THROTTLING_CODES = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


def is_transient(error: BaseException | None) -> bool:
    """Whether the same call may succeed later: the service was busy, failed internally, or could not be reached."""
    match error:
        case PynamoDBException():
            return is_transient(error.cause)
        case ClientError():
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return status >= 500 or error.response.get("Error", {}).get("Code") in _THROTTLING_CODES
    return isinstance(error, HTTPClientError | BotoConnectionError)


# Threads share a client and must not wait for a connection of its pool.
_CONFIG = Config(max_pool_connections=32, retries={"mode": "standard", "max_attempts": 5}, tcp_keepalive=True)


@cache
def dynamodb() -> "DynamoDBClient":
    return boto3.client("dynamodb", config=_CONFIG)


@cache
def s3() -> "S3Client":
    return boto3.client("s3", config=_CONFIG)


@cache
def sqs() -> "SQSClient":
    return boto3.client("sqs", config=_CONFIG)


@cache
def stepfunctions() -> "SFNClient":
    return boto3.client("stepfunctions", config=_CONFIG)


@cache
def secretsmanager() -> "SecretsManagerClient":
    return boto3.client("secretsmanager", config=_CONFIG)


@cache
def scheduler() -> "EventBridgeSchedulerClient":
    return boto3.client("scheduler", config=_CONFIG)
