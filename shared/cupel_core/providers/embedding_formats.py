"""The wire formats of the providers' embedding models."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from urllib.parse import quote

import orjson
from pydantic import ValidationError

from cupel_core.domain.turns.model_request import ProbeErrorCode, Usage
from cupel_core.providers import bedrock, openai, vertex
from cupel_core.providers.account import Account
from cupel_core.providers.embeddings import Embeddings, Vector
from cupel_core.providers.errors import ProviderError, malformed_reply_error
from cupel_core.providers.reply_limits import TokenCount
from cupel_core.providers.wire_format import CamelModel, WireModel, WireRequest, api_key_of, endpoint_url

_TITAN = "amazon.titan-embed-"


def openai_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    return openai.operation_request(account, name, "embeddings", {"model": name, "input": list(texts)})


class _OpenAIEmbedding(WireModel):
    embedding: Vector
    index: int = 0


class _OpenAITokens(WireModel):
    prompt_tokens: TokenCount = 0


class _OpenAIEmbeddingsResponse(WireModel):
    data: list[_OpenAIEmbedding]
    usage: _OpenAITokens | None = None


def parse_openai(body: object) -> Embeddings:
    response = _OpenAIEmbeddingsResponse.model_validate(body)
    ordered = sorted(response.data, key=lambda item: item.index)
    tokens = response.usage or _OpenAITokens()
    return Embeddings(tuple(item.embedding for item in ordered), Usage(tokens.prompt_tokens))


def google_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    requests = [{"model": f"models/{name}", "content": {"parts": [{"text": text}]}} for text in texts]
    path = f"models/{quote(name, safe='')}:batchEmbedContents"
    key = api_key_of(account)
    return WireRequest(endpoint_url(account, path), {"requests": requests}, {"x-goog-api-key": key} if key else {})


class _GoogleEmbedding(WireModel):
    values: Vector


class _GoogleEmbeddingsResponse(WireModel):
    embeddings: list[_GoogleEmbedding]


def parse_google(body: object) -> Embeddings:
    """Google reports no token counts for embeddings."""
    response = _GoogleEmbeddingsResponse.model_validate(body)
    return Embeddings(tuple(item.values for item in response.embeddings))


def vertex_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    return vertex.prediction_request(account, name, {"instances": [{"content": text} for text in texts]})


class _VertexStatistics(WireModel):
    token_count: TokenCount = 0


class _VertexEmbedding(WireModel):
    values: Vector
    statistics: _VertexStatistics | None = None


class _VertexPrediction(WireModel):
    embeddings: _VertexEmbedding


class _VertexEmbeddingsResponse(WireModel):
    predictions: list[_VertexPrediction]


def parse_vertex(body: object) -> Embeddings:
    found = [prediction.embeddings for prediction in _VertexEmbeddingsResponse.model_validate(body).predictions]
    tokens = sum(each.statistics.token_count for each in found if each.statistics)
    return Embeddings(tuple(each.values for each in found), Usage(tokens))


class _TitanResponse(CamelModel):
    embedding: Vector
    input_text_token_count: TokenCount = 0


async def embed_with_titan(
    account: Account,
    name: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    now: datetime,
    client_for: bedrock.ClientFor = bedrock.client_for,
) -> Embeddings:
    """Embed with Amazon Titan, which takes one text per call. Raises `ProviderError`."""
    if not name.startswith(_TITAN):
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST,
            f"{name} is not supported for embeddings; on Bedrock only {_TITAN}… models are",
        )

    async def embed_one(text: str) -> _TitanResponse:
        body = orjson.dumps({"inputText": text})
        content = await bedrock.call(
            lambda client: client.invoke_model(modelId=name, body=body)["body"].read(),
            account,
            timeout_seconds,
            now,
            client_for,
        )
        try:
            return _TitanResponse.model_validate_json(content)
        except ValidationError as error:
            raise malformed_reply_error(error) from None

    responses = await asyncio.gather(*map(embed_one, texts))
    input_tokens = sum(response.input_text_token_count for response in responses)
    return Embeddings(tuple(response.embedding for response in responses), Usage(input_tokens))


ONE_TEXT_PER_CALL = frozenset({"vertex"})
"""Gemini's embedding models on Vertex AI refuse several."""
WIRE_FORMATS: Mapping[
    str, tuple[Callable[[Account, str, tuple[str, ...]], WireRequest], Callable[[object], Embeddings]]
] = {
    "openai": (openai_request, parse_openai),
    "google": (google_request, parse_google),
    "vertex": (vertex_request, parse_vertex),
}
