"""One boto3 client per service and process: creating one takes 60 ms."""

from functools import cache
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
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
