"""Text embeddings from the providers that offer them: one attempt per call, like `completion.complete`."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import orjson
from pydantic import BaseModel, ValidationError

from cupel_core.clock import utc_now
from cupel_core.domain.turns.model_request import ExhaustedAllowance, ProbeErrorCode, Usage
from cupel_core.providers import bedrock, model_name_of, openai, provider_of, vertex
from cupel_core.providers.account import Account
from cupel_core.providers.completion import sanitized
from cupel_core.providers.errors import ProviderError, malformed_reply_error
from cupel_core.providers.reply_limits import TokenCount
from cupel_core.providers.wire_format import CamelModel, WireRequest, api_key_of, endpoint_url

if TYPE_CHECKING:
    from cupel_core.providers.http import SendRequest

type Vector = tuple[float, ...]

SIMULATED_DIMENSIONS = 512
_TITAN = "amazon.titan-embed-"


class Embeddings(NamedTuple):
    """One vector per text, in the order of the texts."""

    vectors: tuple[Vector, ...]
    usage: Usage = Usage()
    exhausted_allowance: ExhaustedAllowance | None = None
    """Not read from responses."""


type EmbedAttempt = Callable[[Account, str, tuple[str, ...], float], Awaitable[Embeddings]]


async def embed(
    account: Account,
    model: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    send: "SendRequest | None" = None,
) -> Embeddings:
    """Embed the texts in one attempt. Raises `ProviderError`, also when it takes longer than `timeout_seconds`."""
    try:
        async with asyncio.timeout(timeout_seconds):
            embeddings = await _call_provider(account, model, texts, timeout_seconds, send)
    except TimeoutError as error:
        raise ProviderError(ProbeErrorCode.TIMEOUT, f"no response within {timeout_seconds:g} s") from error
    except ProviderError as error:
        raise sanitized(error, account, texts) from error.__cause__
    if len(embeddings.vectors) != len(texts) or len({len(vector) for vector in embeddings.vectors}) > 1:
        raise ProviderError(
            ProbeErrorCode.PROVIDER_ERROR, "the response does not have one vector per text, all of the same length"
        )
    return embeddings


async def _call_provider(
    account: Account,
    model: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    send: "SendRequest | None",
) -> Embeddings:
    wire_format, name = provider_of(model).wire_format, model_name_of(model)
    if wire_format == "sim":
        return Embeddings(tuple(map(simulated_embedding, texts)), Usage(sum(map(len, texts)) // 4))
    if wire_format == "bedrock":
        return await embed_with_titan(account, name, texts, timeout_seconds, utc_now())
    if wire_format not in _WIRE_FORMATS:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"{provider_of(model).title} has no embedding models")
    from cupel_core.providers import http

    request_for, parse = _WIRE_FORMATS[wire_format]
    account = await http.with_access_token(account, utc_now(), send)

    async def embed_together(part: tuple[str, ...]) -> Embeddings:
        response = await http.post(account, request_for(account, name, part), timeout_seconds, utc_now(), send)
        try:
            return parse(orjson.loads(response.content))
        except (orjson.JSONDecodeError, ValidationError) as error:
            raise malformed_reply_error(error) from None

    if wire_format not in _ONE_TEXT_PER_CALL:
        return await embed_together(texts)
    return _joined(await asyncio.gather(*(embed_together((text,)) for text in texts)))


def _joined(parts: Iterable[Embeddings]) -> Embeddings:
    vectors: list[Vector] = []
    usage = Usage()
    for part in parts:
        vectors += part.vectors
        usage += part.usage
    return Embeddings(tuple(vectors), usage)


def openai_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    return openai.operation_request(account, name, "embeddings", {"model": name, "input": list(texts)})


class _OpenAIEmbedding(BaseModel):
    embedding: Vector
    index: int = 0


class _OpenAITokens(BaseModel):
    prompt_tokens: TokenCount = 0


class _OpenAIEmbeddingsResponse(BaseModel):
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


class _GoogleEmbedding(BaseModel):
    values: Vector


class _GoogleEmbeddingsResponse(BaseModel):
    embeddings: list[_GoogleEmbedding]


def parse_google(body: object) -> Embeddings:
    """Google reports no token counts for embeddings."""
    response = _GoogleEmbeddingsResponse.model_validate(body)
    return Embeddings(tuple(item.values for item in response.embeddings))


def vertex_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    return vertex.prediction_request(account, name, {"instances": [{"content": text} for text in texts]})


class _VertexStatistics(BaseModel):
    token_count: TokenCount = 0


class _VertexEmbedding(BaseModel):
    values: Vector
    statistics: _VertexStatistics | None = None


class _VertexPrediction(BaseModel):
    embeddings: _VertexEmbedding


class _VertexEmbeddingsResponse(BaseModel):
    predictions: list[_VertexPrediction]


def parse_vertex(body: object) -> Embeddings:
    found = [prediction.embeddings for prediction in _VertexEmbeddingsResponse.model_validate(body).predictions]
    tokens = sum(each.statistics.token_count for each in found if each.statistics)
    return Embeddings(tuple(each.values for each in found), Usage(tokens))


_ONE_TEXT_PER_CALL = frozenset({"vertex"})
"""Gemini's embedding models on Vertex AI refuse several."""
_WIRE_FORMATS: Mapping[
    str, tuple[Callable[[Account, str, tuple[str, ...]], WireRequest], Callable[[object], Embeddings]]
] = {
    "openai": (openai_request, parse_openai),
    "google": (google_request, parse_google),
    "vertex": (vertex_request, parse_vertex),
}


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


def simulated_embedding(text: str) -> Vector:
    """Hashed word counts: texts with the same words have similar vectors, whatever the texts mean."""
    counts = [0.0] * SIMULATED_DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256(word.encode()).digest()
        counts[int.from_bytes(digest[:4]) % SIMULATED_DIMENSIONS] += 1.0
    return tuple(counts)
