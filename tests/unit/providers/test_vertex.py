"""Vertex AI: Gemini and Claude, with each kind of key."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from multidict import CIMultiDict

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Usage
from cupel_core.providers import access_tokens, http, vertex
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError, error_from_response
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireRequest

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PROJECT = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1"
TALK = ModelRequest(
    (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, "Hello")), ModelParameters(temperature=0.5)
)
GEMINI = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP", "avgLogprobs": -0.1}
    ],
    "usageMetadata": {
        "promptTokenCount": 4,
        "candidatesTokenCount": 1,
        "totalTokenCount": 5,
        "trafficType": "ON_DEMAND",
    },
    "modelVersion": "gemini-2.5-flash",
    "createTime": "2026-11-22T12:00:00Z",
    "responseId": "r1",
}
CLAUDE = {
    "id": "msg_vrtx_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"type": "text", "text": "Hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 4, "output_tokens": 1},
}
PRIVATE = rsa.generate_private_key(65537, 2048)


@pytest.fixture(autouse=True)
def _no_tokens() -> Iterator[None]:
    access_tokens.google_tokens.clear()
    yield
    access_tokens.google_tokens.clear()


def account(key: str | None = "AIza-key", base_url: str = PROJECT) -> Account:
    return Account("vertex", base_url, key)


def service_account(**more: Any) -> str:
    pem = PRIVATE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    key = {"type": "service_account", "client_email": "cupel@p.iam.gserviceaccount.com", "private_key": pem}
    return orjson.dumps({**key, "private_key_id": "k1", "token_uri": "https://attacker.test/token", **more}).decode()


@dataclass
class Google:
    """Answers requests for tokens, and others with a model's reply."""

    reply: object = field(default_factory=lambda: GEMINI)
    token_status: int = 200
    token_body: object = field(default_factory=lambda: {"access_token": "ya29.t", "expires_in": 3599})
    requests: list[WireRequest] = field(default_factory=list)

    async def __call__(self, request: WireRequest) -> HttpResponse:
        self.requests.append(request)
        if request.url == access_tokens.TOKEN_URL:
            return HttpResponse(self.token_status, CIMultiDict(), orjson.dumps(self.token_body))
        return HttpResponse(200, CIMultiDict(), orjson.dumps(self.reply))

    @property
    def token_requests(self) -> list[WireRequest]:
        return [request for request in self.requests if request.url == access_tokens.TOKEN_URL]


async def exchange(google: Google, key: str, now: datetime = NOW) -> Any:
    return await http.exchange(vertex, account(key), "gemini-2.5-flash", TALK, 5, now, google)


def test_gemini_is_asked_as_google_is() -> None:
    sent = vertex.request_for(account(), "gemini-2.5-flash", TALK)
    assert sent.url == f"{PROJECT}/publishers/google/models/gemini-2.5-flash:generateContent"
    assert sent.headers == {"x-goog-api-key": "AIza-key"}
    assert sent.body["contents"] == [{"role": "user", "parts": [{"text": "Hello"}]}]
    assert sent.body["generationConfig"] == {"temperature": 0.5}


def test_claude_is_asked_as_anthropic_is_with_the_model_in_the_address() -> None:
    sent = vertex.request_for(account(), "claude-sonnet-4-5@20250929", TALK)
    assert sent.url == f"{PROJECT}/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"
    assert sent.body == {
        "anthropic_version": "vertex-2023-10-16",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "Hello"}],
        "system": "Be brief.",
        "temperature": 0.5,
    }


def test_without_a_project_express_mode_is_used() -> None:
    sent = vertex.request_for(account(base_url="https://aiplatform.googleapis.com/v1"), "gemini-2.5-flash", TALK)
    assert sent.url.startswith("https://aiplatform.googleapis.com/v1/publishers/google/models/")


def test_an_access_token_is_sent_as_one() -> None:
    headers = vertex.request_for(account("ya29.token"), "claude-haiku-4-5", TALK).headers
    assert headers == {"authorization": "Bearer ya29.token"}


def test_replies_of_both() -> None:
    gemini, claude = vertex.parse(GEMINI), vertex.parse(CLAUDE)
    assert (gemini.text, gemini.usage, gemini.model_version) == ("Hi", Usage(4, 1), "gemini-2.5-flash")
    assert (claude.text, claude.usage, claude.model_version) == ("Hi", Usage(4, 1), "claude-sonnet-4-5-20250929")


async def test_a_service_accounts_key_is_exchanged_for_a_token_that_all_calls_share() -> None:
    google = Google()
    for _ in range(2):
        assert (await exchange(google, service_account())).text == "Hi"
    (token_request,) = google.token_requests
    assert token_request.is_form
    public = PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    assertion = str(token_request.body["assertion"])
    options: Any = {"verify_exp": False, "verify_iat": False}
    claim = jwt.decode(assertion, public, algorithms=["RS256"], audience=access_tokens.TOKEN_URL, options=options)
    assert (claim["iss"], claim["exp"] - claim["iat"]) == ("cupel@p.iam.gserviceaccount.com", 3600)
    assert jwt.get_unverified_header(assertion)["kid"] == "k1"
    assert google.requests[-1].headers == {"authorization": "Bearer ya29.t"}


async def test_a_token_is_replaced_before_it_expires() -> None:
    google = Google()
    for minutes in (0, 54, 56):
        await exchange(google, service_account(), NOW + timedelta(minutes=minutes))
    assert len(google.token_requests) == 2


async def test_accounts_have_tokens_of_their_own() -> None:
    google = Google()
    await exchange(google, service_account())
    await exchange(google, service_account(private_key_id="k2"))
    assert len(google.token_requests) == 2


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, ProbeErrorCode.AUTH),
        (503, {"error": "unavailable"}, ProbeErrorCode.PROVIDER_ERROR),
        (200, {"id_token": "x"}, ProbeErrorCode.PROVIDER_ERROR),
    ],
)
async def test_a_token_that_is_not_granted(status: int, body: object, code: ProbeErrorCode) -> None:
    google = Google(token_status=status, token_body=body)
    with pytest.raises(ProviderError) as caught:
        await exchange(google, service_account())
    assert caught.value.code is code
    assert len(google.requests) == 1


@pytest.mark.parametrize("key", ["{", '{"client_email": "a"}', service_account(private_key="no key")])
async def test_a_broken_key_is_named_but_not_shown(key: str) -> None:
    with pytest.raises(ProviderError, match="not the JSON of a service account's key") as caught:
        await exchange(Google(), key)
    assert caught.value.code is ProbeErrorCode.AUTH


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            429,
            [{"error": {"code": 429, "message": "Resource exhausted.", "status": "RESOURCE_EXHAUSTED"}}],
            ProbeErrorCode.RATE_LIMITED,
        ),
        (
            403,
            {"error": {"code": 403, "message": "Permission denied", "status": "PERMISSION_DENIED"}},
            ProbeErrorCode.AUTH,
        ),
        (
            404,
            {"error": {"code": 404, "message": "Publisher Model `x` was not found", "status": "NOT_FOUND"}},
            ProbeErrorCode.INVALID_REQUEST,
        ),
        (
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: too large"}},
            ProbeErrorCode.INVALID_REQUEST,
        ),
    ],
)
def test_errors(status: int, body: object, code: ProbeErrorCode) -> None:
    assert error_from_response(status, CIMultiDict(), orjson.dumps(body), NOW).code is code
