import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from math import isfinite
from urllib.parse import quote

import orjson

from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.providers import bedrock, openai, vertex
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError, malformed_reply
from cupel_core.providers.reply_content import read_json
from cupel_core.providers.reply_fields import mapping, mappings, number
from cupel_core.providers.reply_limits import token_count
from cupel_core.providers.token_usage import openai_usage
from cupel_core.providers.wire_format import Embeddings, Vector, WireRequest, api_key_of, endpoint_url

_TITAN = "amazon.titan-embed-"


def openai_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    return openai.operation_request(account, name, "embeddings", {"model": name, "input": list(texts)})


def parse_openai(body: object) -> Embeddings:
    """Return the vectors in the order of their indexes, if they have any."""
    response = mapping(body)
    items = mappings(response.get("data"))
    indexed = [(number(item.get("index")), position, item) for position, item in enumerate(items)]
    indexed.sort(key=lambda each: (each[1] if each[0] is None else each[0], each[1]))
    return Embeddings(
        tuple(_vector(item.get("embedding")) for _, _, item in indexed), openai_usage(response.get("usage"))
    )


def google_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    requests = [{"model": f"models/{name}", "content": {"parts": [{"text": text}]}} for text in texts]
    path = f"models/{quote(name, safe='')}:batchEmbedContents"
    key = api_key_of(account)
    return WireRequest(endpoint_url(account, path), {"requests": requests}, {"x-goog-api-key": key} if key else {})


def parse_google(body: object) -> Embeddings:
    return Embeddings(tuple(_vector(item.get("values")) for item in mappings(mapping(body).get("embeddings"))))


def vertex_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    return vertex.prediction_request(account, name, {"instances": [{"content": text} for text in texts]})


def parse_vertex(body: object) -> Embeddings:
    found = [mapping(each.get("embeddings")) for each in mappings(mapping(body).get("predictions"))]
    counts = [number(mapping(each.get("statistics")).get("token_count")) for each in found]
    known = [token_count(count) for count in counts if count is not None]
    usage = Usage(sum(known)) if known and len(known) == len(found) else None
    return Embeddings(tuple(_vector(each.get("values")) for each in found), usage)


def _vector(value: object) -> Vector:
    """Return the numbers, also from text. Raise `ProviderError` for anything else: a vector with a gap is another
    one."""
    numbers = [number(each) for each in value] if isinstance(value, list) else []
    if not numbers or any(each is None or not isfinite(each) for each in numbers):
        raise malformed_reply("it has no vector of numbers for each text")
    return tuple(each for each in numbers if each is not None)


async def embed_with_titan(
    account: Account,
    name: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    now: datetime,
    client_for: bedrock.ClientFor = bedrock.client_for,
) -> Embeddings:
    """Embed with Amazon Titan, which takes one text per call. Raise `ProviderError`."""
    if not name.startswith(_TITAN):
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST,
            f"{name} is not supported for embeddings; on Bedrock only {_TITAN}… models are",
        )

    async def embed_one(text: str) -> Embeddings:
        body = orjson.dumps({"inputText": text})
        content = await bedrock.call(
            lambda client: client.invoke_model(modelId=name, body=body)["body"].read(),
            account,
            timeout_seconds,
            now,
            client_for,
        )
        response = mapping(read_json(content, {}))
        count = number(response.get("inputTextTokenCount"))
        usage = None if count is None else Usage(token_count(count))
        return Embeddings((_vector(response.get("embedding")),), usage)

    return Embeddings.joined(await asyncio.gather(*map(embed_one, texts)))


ONE_TEXT_PER_CALL = frozenset({"vertex"})
"""Gemini's embedding models on Vertex AI refuse several texts."""
WIRE_FORMATS: Mapping[
    str, tuple[Callable[[Account, str, tuple[str, ...]], WireRequest], Callable[[object], Embeddings]]
] = {
    "openai": (openai_request, parse_openai),
    "google": (google_request, parse_google),
    "vertex": (vertex_request, parse_vertex),
}
