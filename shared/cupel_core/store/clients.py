"""One client per service and process, all created by one session.

Creating a client takes 60 ms, most of it to read the service's description, which a session does once. The clients are
botocore's, which boto3 would return too: importing boto3 takes a tenth longer.
"""

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError
from botocore.session import Session, get_session
from pynamodb.exceptions import PynamoDBException

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

AWS_ERRORS = (BotoCoreError, ClientError, PynamoDBException)
"""The errors of a call that the service refused, that could not reach it, or whose response was lost."""

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
_CANCELLING_CODES = ("TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")


def is_transient(error: BaseException | None) -> bool:
    """Return whether the same call may succeed later: the service was busy, failed internally, or could not be
    reached."""
    match error:
        case PynamoDBException():
            return is_transient(_response_of(error))
        case ClientError():
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            code = error.response.get("Error", {}).get("Code")
            return status >= 500 or code in _THROTTLING_CODES or _is_cancelled_by_others(error)
    return isinstance(error, HTTPClientError | BotoConnectionError)


def _response_of(error: PynamoDBException) -> Exception | None:
    """Return the original error of the call. PynamoDB raises another from it, without status and reasons."""
    original = error.cause.__cause__ if error.cause else None
    return original if isinstance(original, ClientError) else error.cause


def _is_cancelled_by_others(error: ClientError) -> bool:
    """Return whether a transaction was refused because of concurrent writes of its items and not by a condition."""
    reasons: Any = error.response.get("CancellationReasons", ())
    codes = {reason.get("Code") for reason in reasons}
    return "ConditionalCheckFailed" not in codes and not codes.isdisjoint(_CANCELLING_CODES)


MAX_POOL_CONNECTIONS = 32
"""Threads share a client and must not wait for a connection of its pool."""
_CONFIG = Config(
    max_pool_connections=MAX_POOL_CONNECTIONS, retries={"mode": "standard", "max_attempts": 5}, tcp_keepalive=True
)


CREATION = Lock()
"""The lock for the creation of clients, because a session is not thread-safe."""


@cache
def session() -> Session:
    shared = get_session()
    # Otherwise each request describes this library and its system: a third of the request's CPU.
    shared.set_default_client_config(Config(user_agent="cupel"))
    return shared


def _client(service: str, config: Config = _CONFIG) -> Any:
    with CREATION:
        return session().create_client(service, config=config)


@cache
def dynamodb() -> "DynamoDBClient":
    client: DynamoDBClient = _client("dynamodb")
    return client


@cache
def s3() -> "S3Client":
    client: S3Client = _client("s3")
    return client


@cache
def s3_addresses() -> "S3Client":
    """Return the client for presigned addresses. It addresses the bucket's region, because new buckets redirect
    requests to other hosts and a presigned request then fails. It uses signature version 4, because older versions do
    not sign headers."""
    own = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    client: S3Client = _client("s3", _CONFIG.merge(own))
    return client


@cache
def sqs() -> "SQSClient":
    client: SQSClient = _client("sqs")
    return client


@cache
def stepfunctions() -> "SFNClient":
    client: SFNClient = _client("stepfunctions")
    return client


@cache
def secretsmanager() -> "SecretsManagerClient":
    client: SecretsManagerClient = _client("secretsmanager")
    return client


@cache
def scheduler() -> "EventBridgeSchedulerClient":
    client: EventBridgeSchedulerClient = _client("scheduler")
    return client
