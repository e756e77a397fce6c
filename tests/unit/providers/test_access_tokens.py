"""Azure OpenAI with the credentials of a service principal of Microsoft Entra ID."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from multidict import CIMultiDict

from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode
from cupel_core.providers import access_tokens, http, openai
from cupel_core.providers.account import Account
from cupel_core.providers.embeddings import embed
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireRequest

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
RESOURCE = "https://mine.openai.azure.com"
TOKEN = "eyJ0eXAi.eyJhdWQi.c2lnbmF0dXJl"
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-5-mini-2025-08-07",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 4, "completion_tokens": 1, "total_tokens": 5},
}
REFUSED = {
    "error": "invalid_client",
    "error_description": "AADSTS7000215: Invalid client secret provided. Trace ID: 1f Timestamp: 2026-11-23 12:00:00Z",
    "error_codes": [7000215],
    "error_uri": "https://login.microsoftonline.com/error?code=7000215",
}
EMBEDDINGS = {"data": [{"index": 0, "embedding": [0.5, 0.5]}], "usage": {"prompt_tokens": 3, "total_tokens": 3}}
HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))


@pytest.fixture(autouse=True)
def _no_tokens() -> Iterator[None]:
    access_tokens.entra_tokens.clear()
    yield
    access_tokens.entra_tokens.clear()


def principal(**more: str) -> str:
    credentials = {"appId": "11111111-aaaa", "displayName": "cupel", "password": "s~cret", "tenant": "contoso.com"}
    return orjson.dumps({**credentials, **more}).decode()


@dataclass
class Azure:
    """Answers requests for tokens, and others with a model's reply."""

    status: int = 200
    reply: object = field(default_factory=lambda: REPLY)
    token_status: int = 200
    token_body: object = field(
        default_factory=lambda: {
            "token_type": "Bearer",
            "expires_in": 3599,
            "ext_expires_in": 3599,
            "access_token": TOKEN,
        }
    )
    requests: list[WireRequest] = field(default_factory=list)

    async def __call__(self, request: WireRequest) -> HttpResponse:
        self.requests.append(request)
        if request.is_form:
            return HttpResponse(self.token_status, CIMultiDict(), orjson.dumps(self.token_body))
        return HttpResponse(self.status, CIMultiDict(), orjson.dumps(self.reply))

    @property
    def token_requests(self) -> list[WireRequest]:
        return [request for request in self.requests if request.is_form]


async def exchange(azure: Azure, key: str, now: datetime = NOW, base_url: str = RESOURCE) -> Any:
    return await http.exchange(openai, Account("azure", base_url, key), "my-deployment", HELLO, 5, now, azure)


async def test_the_credentials_are_exchanged_for_a_token_that_all_calls_share() -> None:
    azure = Azure()
    for _ in range(2):
        assert (await exchange(azure, principal())).text == "Hi"
    (asked,) = azure.token_requests
    assert asked.url == "https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token"
    assert asked.body == {
        "grant_type": "client_credentials",
        "client_id": "11111111-aaaa",
        "client_secret": "s~cret",
        "scope": "https://cognitiveservices.azure.com/.default",
    }
    assert azure.requests[-1].url == f"{RESOURCE}/openai/v1/chat/completions"
    assert azure.requests[-1].headers == {"authorization": f"Bearer {TOKEN}"}


async def test_a_token_is_replaced_before_it_expires() -> None:
    azure = Azure()
    for minutes in (0, 54, 56):
        await exchange(azure, principal(), NOW + timedelta(minutes=minutes))
    assert len(azure.token_requests) == 2


@pytest.mark.parametrize(
    ("base_url", "authority", "scope"),
    [
        ("https://mine.openai.azure.us", "login.microsoftonline.us", "cognitiveservices.azure.us"),
        ("https://mine.openai.azure.cn/", "login.partner.microsoftonline.cn", "cognitiveservices.azure.cn"),
        ("https://gateway.test/azure.us", "login.microsoftonline.com", "cognitiveservices.azure.com"),
    ],
)
async def test_national_clouds_grant_tokens_of_their_own(base_url: str, authority: str, scope: str) -> None:
    azure = Azure()
    await exchange(azure, principal(), base_url=base_url)
    (asked,) = azure.token_requests
    assert asked.url == f"https://{authority}/contoso.com/oauth2/v2.0/token"
    assert asked.body["scope"] == f"https://{scope}/.default"


async def test_embeddings_are_requested_with_the_token_too() -> None:
    azure = Azure(reply=EMBEDDINGS)
    found = await embed(Account("azure", RESOURCE, principal()), "azure/my-embeddings", ("Hello",), 5, azure)
    assert (found.vectors, found.usage.input_tokens) == (((0.5, 0.5),), 3)
    assert azure.requests[-1].headers == {"authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, REFUSED, ProbeErrorCode.AUTH),
        (400, {"error": "unauthorized_client", "error_description": "AADSTS700016"}, ProbeErrorCode.AUTH),
        (429, {"error": "temporarily_unavailable"}, ProbeErrorCode.RATE_LIMITED),
        (503, {"error": "temporarily_unavailable"}, ProbeErrorCode.PROVIDER_ERROR),
        (200, {"token_type": "Bearer"}, ProbeErrorCode.PROVIDER_ERROR),
    ],
)
async def test_a_token_that_is_not_granted(status: int, body: object, code: ProbeErrorCode) -> None:
    azure = Azure(token_status=status, token_body=body)
    with pytest.raises(ProviderError) as caught:
        await exchange(azure, principal())
    assert caught.value.code is code
    assert "s~cret" not in caught.value.message
    assert len(azure.requests) == 1


@pytest.mark.parametrize(
    "key", ["{", '{"appId": "a", "password": "b"}', principal(tenant="../other"), principal(tenant="a/b")]
)
async def test_broken_credentials_are_named_but_not_shown(key: str) -> None:
    azure = Azure()
    with pytest.raises(ProviderError, match="not the JSON of a service principal") as caught:
        await exchange(azure, key)
    assert (caught.value.code, azure.requests) == (ProbeErrorCode.AUTH, [])


async def test_an_access_token_is_sent_as_one_and_an_api_key_as_a_key() -> None:
    azure = Azure()
    await exchange(azure, TOKEN)
    await exchange(azure, "0123456789abcdef")
    assert [request.headers for request in azure.requests] == [
        {"authorization": f"Bearer {TOKEN}"},
        {"api-key": "0123456789abcdef"},
    ]


async def test_a_token_that_a_server_repeats_is_not_in_the_error() -> None:
    azure = Azure(status=401, reply={"error": {"code": "401", "message": f"Access denied: Bearer {TOKEN}"}})
    with pytest.raises(ProviderError, match=r"Access denied: Bearer \[key\]") as caught:
        await exchange(azure, principal())
    assert TOKEN not in caught.value.message


async def test_a_token_that_a_server_repeats_is_not_shown() -> None:
    azure = Azure(status=401, reply={"error": {"message": f"Access token {TOKEN} is invalid or expired."}})
    with pytest.raises(ProviderError, match=r"Access token \[key\] is invalid"):
        await exchange(azure, principal())


async def test_the_secret_in_the_credentials_is_not_shown_if_a_server_repeats_it() -> None:
    azure = Azure(token_status=401, token_body={"error": "invalid_client", "error_description": "s~cret is wrong"})
    with pytest.raises(ProviderError, match="is wrong") as caught:
        await embed(Account("azure", RESOURCE, principal()), "azure/small", ("a",), 5, azure)
    assert "s~cret" not in caught.value.message
