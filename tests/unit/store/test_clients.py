"""Which errors of AWS calls are worth repeating, and how few clients there are."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError
from pynamodb.exceptions import PutError, TransactWriteError

from cupel_core.store import clients, table
from cupel_core.store.clients import is_transient
from cupel_core.store.run_items import RunItem
from cupel_core.store.tokens import SecretItem, TokenItem


def client_error(code: str, status: int = 400) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutItem")  # type: ignore[typeddict-item]


def cancelled(*codes: str) -> TransactWriteError:
    response: Any = {
        "Error": {"Code": "TransactionCanceledException"},
        "CancellationReasons": [{"Code": code} for code in codes],
    }
    return TransactWriteError("cancelled", cause=ClientError(response, "TransactWriteItems"))


@pytest.mark.parametrize(
    "error",
    [
        client_error("ThrottlingException"),
        cancelled("None", "TransactionConflict"),
        cancelled("ThrottlingError"),
        client_error("InternalServerError", 500),
        PutError(cause=client_error("ProvisionedThroughputExceededException")),
        EndpointConnectionError(endpoint_url="https://dynamodb"),
        ReadTimeoutError(endpoint_url="https://dynamodb"),
    ],
)
def test_busy_failing_and_unreachable_services_are_transient(error: Exception) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        client_error("AccessDeniedException"),
        PutError(cause=client_error("ConditionalCheckFailedException")),
        cancelled("ConditionalCheckFailed", "TransactionConflict"),
        cancelled("ItemCollectionSizeLimitExceeded"),
        NoCredentialsError(),
        ValueError(),
        None,
    ],
)
def test_other_errors_are_not_transient(error: Exception | None) -> None:
    assert not is_transient(error)


@pytest.mark.usefixtures("cloud")
def test_all_models_share_one_client_of_the_session() -> None:
    shared = table.connection()
    assert {model._get_connection().connection.client for model in (RunItem, SecretItem, TokenItem)} == {shared.client}
    assert shared.session is clients.session()


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("client", [clients.sqs, lambda: table.connection().client], ids=["own", "of the models"])
def test_requests_name_cupel_as_their_sender(client: Callable[[], Any]) -> None:
    sent: list[Any] = []

    def note(request: Any, **_: Any) -> None:
        sent.append(request.headers["User-Agent"])

    events = client().meta.events
    events.register_first("before-send", note)
    client().list_queues() if client is clients.sqs else client().list_tables()
    events.unregister("before-send", note)
    assert [agent.split()[0] for agent in sent] == [b"cupel"]
