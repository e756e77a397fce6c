"""Bedrock over botocore's stubber, which checks what is sent against the service's own model."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import (
    BotoCoreError,
    ConnectionClosedError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.stub import Stubber

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.providers import bedrock
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError

NOW = datetime(2026, 1, 15, tzinfo=UTC)
ACCOUNT = Account("bedrock", "", uses_role=True)
TALK = ModelRequest(
    (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, "Hello")), ModelParameters(temperature=0.0)
)
ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
    "metrics": {"latencyMs": 300},
}


@pytest.fixture
def stub() -> Iterator[Stubber]:
    with Stubber(boto3.client("bedrock-runtime", region_name="us-east-1")) as stubber:
        yield stubber


async def ask(stub: Stubber) -> Reply:
    return await bedrock.complete(ACCOUNT, "amazon.nova-lite-v1:0", TALK, 5, NOW, lambda *_: stub.client)


async def failure(client: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await bedrock.complete(ACCOUNT, "m", TALK, 5, NOW, lambda *_: client)
    return caught.value


async def test_converse_answers(stub: Stubber) -> None:
    stub.add_response("converse", ANSWER, bedrock.converse_arguments("amazon.nova-lite-v1:0", TALK))
    assert await ask(stub) == Reply("Hi", None, Usage(7, 3), "end_turn")


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("ThrottlingException", 429, ProbeErrorCode.RATE_LIMITED),
        ("ServiceQuotaExceededException", 400, ProbeErrorCode.RATE_LIMITED),
        ("ModelTimeoutException", 408, ProbeErrorCode.TIMEOUT),
        ("ModelNotReadyException", 429, ProbeErrorCode.PROVIDER_ERROR),
        ("ModelErrorException", 424, ProbeErrorCode.PROVIDER_ERROR),
        ("InternalServerException", 500, ProbeErrorCode.PROVIDER_ERROR),
        ("ServiceUnavailableException", 503, ProbeErrorCode.PROVIDER_ERROR),
        ("AccessDeniedException", 403, ProbeErrorCode.AUTH),
        ("ExpiredTokenException", 400, ProbeErrorCode.AUTH),
        ("ValidationException", 400, ProbeErrorCode.INVALID_REQUEST),
        ("ResourceNotFoundException", 404, ProbeErrorCode.INVALID_REQUEST),
    ],
)
async def test_the_code_of_an_error_response(stub: Stubber, name: str, status: int, code: ProbeErrorCode) -> None:
    stub.add_client_error("converse", name, "no", status, response_meta={"HTTPHeaders": {"retry-after": "9"}})
    error = await failure(stub.client)
    assert error.code is code
    assert error.retry_after_seconds == 9
    assert error.message == f"HTTP {status} {name}: no"


class Body(io.BytesIO):
    """A raw response body as botocore reads it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


class FailingClient:
    def __init__(self, error: BotoCoreError) -> None:
        self._error = error

    def converse(self, **_: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ReadTimeoutError(endpoint_url="https://bedrock"), ProbeErrorCode.TIMEOUT),
        (EndpointConnectionError(endpoint_url="https://bedrock"), ProbeErrorCode.NETWORK),
        (ConnectionClosedError(endpoint_url="https://bedrock"), ProbeErrorCode.NETWORK),
        (NoCredentialsError(), ProbeErrorCode.AUTH),
        (ParamValidationError(report="blank text"), ProbeErrorCode.INVALID_REQUEST),
    ],
)
async def test_the_code_of_a_call_without_response(error: BotoCoreError, code: ProbeErrorCode) -> None:
    assert (await failure(FailingClient(error))).code is code


async def test_a_response_without_output_is_the_providers_error() -> None:
    class Empty:
        def converse(self, **_: object) -> dict[str, object]:
            return {}

    assert (await failure(Empty())).code is ProbeErrorCode.PROVIDER_ERROR


async def test_an_accounts_own_key_is_sent_as_a_bearer_token() -> None:
    account = Account("bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com", "bk-1")
    sent: list[AWSPreparedRequest] = []

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        sent.append(request)
        return AWSResponse(request.url, 200, {"content-type": "application/json"}, Body(json.dumps(ANSWER).encode()))

    bedrock.client_for(account, 5).meta.events.register_first("before-send.bedrock-runtime", answer)
    assert (await bedrock.complete(account, "m", TALK, 5, NOW)).text == "Hi"
    assert sent[0].url == "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse"
    assert sent[0].headers["Authorization"] == b"Bearer bk-1"


def test_a_configured_endpoint_is_never_asked_in_place_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
        monkeypatch.setenv(name, "http://127.0.0.1:4566")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    for account in (ACCOUNT, Account("bedrock", "", "bk-emulated")):
        endpoint = bedrock.client_for(account, 7).meta.endpoint_url
        assert endpoint == "https://bedrock-runtime.eu-west-1.amazonaws.com"


def test_without_a_key_and_a_role_nothing_is_called() -> None:
    with pytest.raises(ProviderError, match="has no API key") as refused:
        bedrock.client_for(Account("bedrock", ""), 5)
    assert refused.value.code is ProbeErrorCode.AUTH


def test_clients_are_cached_by_account() -> None:
    assert bedrock.client_for(ACCOUNT, 5) is bedrock.client_for(ACCOUNT, 5)
    assert bedrock.client_for(ACCOUNT, 5) is not bedrock.client_for(Account("bedrock", "", "bk-2"), 5)
