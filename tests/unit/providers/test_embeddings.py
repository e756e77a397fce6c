"""Embeddings: requests, responses and errors of each wire format."""

import json
from io import BytesIO
from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.providers import PROVIDERS, embedding_formats
from cupel_core.providers.access_tokens import SendRequest
from cupel_core.providers.account import Account
from cupel_core.providers.embeddings import embed
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import Embeddings
from tests.unit.providers.answers import answering

TEXTS = ("one", "two")
OPENAI = {
    "object": "list",
    "data": [
        {"object": "embedding", "index": 1, "embedding": [0.0, 1.0]},
        {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]},
    ],
    "model": "text-embedding-3-small",
    "usage": {"prompt_tokens": 2, "total_tokens": 2},
}
GOOGLE = {"embeddings": [{"values": [1.0, 0.0]}, {"values": [0.0, 1.0]}]}


def account(provider: str, key: str | None = "key-0001") -> Account:
    return Account(provider, PROVIDERS[provider].base_url or "http://localhost:11434/v1", key)


async def ask(
    model: str, send: SendRequest, texts: tuple[str, ...] = TEXTS, key: str | None = "key-0001"
) -> Embeddings:
    return await embed(account(model.partition("/")[0], key), model, texts, 5, send)


@pytest.mark.parametrize("provider", ["openai", "mistral", "custom"])
async def test_openai_s_format_sends_all_texts_at_once(provider: str) -> None:
    send = answering(200, OPENAI)
    result = await ask(f"{provider}/embed-1", send)
    assert result == Embeddings(((1.0, 0.0), (0.0, 1.0)), Usage(2))
    assert send.requests[0].url.endswith("/v1/embeddings")
    assert send.requests[0].headers["authorization"] == "Bearer key-0001"
    assert send.requests[0].body == {"model": "embed-1", "input": ["one", "two"]}


async def test_google_s_format_has_a_request_per_text() -> None:
    send = answering(200, GOOGLE)
    assert (await ask("google/gemini-embedding-001", send)).vectors == ((1.0, 0.0), (0.0, 1.0))
    assert send.requests[0].url.endswith("/v1beta/models/gemini-embedding-001:batchEmbedContents")
    assert send.requests[0].headers["x-goog-api-key"] == "key-0001"
    assert json.loads(json.dumps(send.requests[0].body))["requests"][1] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "two"}]},
    }


VERTEX = {"predictions": [{"embeddings": {"values": [1.0, 0.0], "statistics": {"truncated": False, "token_count": 2}}}]}


async def test_vertex_has_a_call_per_text() -> None:
    send = answering(200, VERTEX)
    result = await ask("vertex/gemini-embedding-001", send)
    assert result == Embeddings(((1.0, 0.0), (1.0, 0.0)), Usage(4))
    assert [request.url.rpartition("/")[2] for request in send.requests] == ["gemini-embedding-001:predict"] * 2
    assert [request.body for request in send.requests] == [{"instances": [{"content": text}]} for text in TEXTS]
    assert send.requests[0].headers == {"x-goog-api-key": "key-0001"}


class Titan:
    def __init__(self) -> None:
        self.requests: list[Any] = []

    def invoke_model(self, *, modelId: str, body: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's word
        assert modelId.startswith("amazon.titan-embed")
        self.requests.append(json.loads(body))
        answer = {"embedding": [1.0, 0.5], "inputTextTokenCount": 3, "embeddingsByType": {"float": [1.0, 0.5]}}
        return {"body": BytesIO(json.dumps(answer).encode())}


async def test_titan_embeds_one_text_per_call() -> None:
    titan = Titan()
    result = await embedding_formats.embed_with_titan(
        account("bedrock"), "amazon.titan-embed-text-v2:0", TEXTS, 5, utc_now(), lambda *_: titan
    )
    assert result == Embeddings(((1.0, 0.5), (1.0, 0.5)), Usage(6))
    # They are sent concurrently, in any order.
    assert sorted(requests["inputText"] for requests in titan.requests) == ["one", "two"]


async def test_simulated_embeddings_compare_words() -> None:
    result = await embed(Account("sim", ""), "sim/words", ("Yes, it is.", "it IS yes", "no never"), 5)
    first, same, other = result.vectors
    assert first == same
    assert sum(a * b for a, b in zip(first, other, strict=True)) == 0


@pytest.mark.parametrize("model", ["anthropic/claude", "bedrock/anthropic.claude"])
async def test_a_provider_without_embeddings_says_so(model: str) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(model, answering(200, {}))
    assert caught.value.code is ProbeErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (429, {"error": {"message": "slow down"}}, ProbeErrorCode.RATE_LIMITED),
        (401, {"error": {"message": "bad key"}}, ProbeErrorCode.AUTH),
        (200, {"data": "none"}, ProbeErrorCode.PROVIDER_ERROR),
        (200, {"data": [{"embedding": [1.0], "index": 0}]}, ProbeErrorCode.PROVIDER_ERROR),
        (200, {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]}, ProbeErrorCode.PROVIDER_ERROR),
    ],
)
async def test_errors_have_the_same_codes_as_model_calls(status: int, body: Any, code: ProbeErrorCode) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask("openai/embed-1", answering(status, body))
    assert caught.value.code is code


async def test_an_error_does_not_contain_the_key() -> None:
    with pytest.raises(ProviderError) as caught:
        await ask("openai/embed-1", answering(401, {"error": {"message": "the key key-0001 is wrong"}}))
    assert "key-0001" not in caught.value.message
