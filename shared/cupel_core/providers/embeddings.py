"""Texts as vectors, by the providers that have models for it: one attempt, as `complete` is for a conversation."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import orjson
from pydantic import BaseModel, ValidationError

from cupel_core.clock import utc_now
from cupel_core.domain.turns.model_request import ErrorCode, Usage
from cupel_core.providers import bedrock, name_of, provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.completion import presentable
from cupel_core.providers.errors import ProviderError, not_understood
from cupel_core.providers.wire_format import CamelModel, WireRequest, endpoint, key_of

if TYPE_CHECKING:
    import httpx

type Vector = tuple[float, ...]

SIMULATED_DIMENSIONS = 512
_TITAN = "amazon.titan-embed-"


class Embedded(NamedTuple):
    """A vector per text, in their order."""

    vectors: tuple[Vector, ...]
    usage: Usage = Usage()


async def embed(
    account: Account,
    model: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    connection: "httpx.AsyncClient | None" = None,
) -> Embedded:
    """One attempt. Raises `ProviderError`; a hang ends by the timeout."""
    try:
        async with asyncio.timeout(timeout_seconds):
            found = await _ask(account, model, texts, timeout_seconds, connection)
    except TimeoutError as error:
        raise ProviderError(ErrorCode.TIMEOUT, f"no answer within {timeout_seconds:g} s") from error
    except ProviderError as error:
        raise presentable(error, account) from error.__cause__
    if len(found.vectors) != len(texts) or len({len(vector) for vector in found.vectors}) > 1:
        raise ProviderError(ErrorCode.PROVIDER_ERROR, "the answer has not one vector of the same length for each text")
    return found


async def _ask(
    account: Account, model: str, texts: tuple[str, ...], timeout_seconds: float, connection: "httpx.AsyncClient | None"
) -> Embedded:
    wire, name = provider_of(model).wire, name_of(model)
    if wire == "sim":
        return Embedded(tuple(map(simulated, texts)), Usage(sum(map(len, texts)) // 4))
    if wire == "bedrock":
        return await ask_titan(account, name, texts, timeout_seconds, utc_now())
    if wire not in _WIRES:
        raise ProviderError(ErrorCode.INVALID_REQUEST, f"{provider_of(model).title} has no models that embed")
    from cupel_core.providers import http

    request_for, parse = _WIRES[wire]
    response = await http.post(connection or http.client(), request_for(account, name, texts), utc_now())
    try:
        return parse(orjson.loads(response.content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise not_understood(error) from None


def openai_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    key = key_of(account)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return WireRequest(endpoint(account, "embeddings"), {"model": name, "input": list(texts)}, headers)


class _OpenAIVector(BaseModel):
    embedding: Vector
    index: int = 0


class _OpenAITokens(BaseModel):
    prompt_tokens: int = 0


class _OpenAIAnswer(BaseModel):
    data: list[_OpenAIVector]
    usage: _OpenAITokens | None = None


def parse_openai(body: object) -> Embedded:
    answer = _OpenAIAnswer.model_validate(body)
    ordered = sorted(answer.data, key=lambda each: each.index)
    return Embedded(tuple(each.embedding for each in ordered), Usage((answer.usage or _OpenAITokens()).prompt_tokens))


def google_request(account: Account, name: str, texts: tuple[str, ...]) -> WireRequest:
    asked = [{"model": f"models/{name}", "content": {"parts": [{"text": text}]}} for text in texts]
    path = f"models/{quote(name, safe='')}:batchEmbedContents"
    key = key_of(account)
    return WireRequest(endpoint(account, path), {"requests": asked}, {"x-goog-api-key": key} if key else {})


class _GoogleVector(BaseModel):
    values: Vector


class _GoogleAnswer(BaseModel):
    embeddings: list[_GoogleVector]


def parse_google(body: object) -> Embedded:
    """Google tells no tokens here."""
    return Embedded(tuple(each.values for each in _GoogleAnswer.model_validate(body).embeddings))


_WIRES: Mapping[str, tuple[Callable[[Account, str, tuple[str, ...]], WireRequest], Callable[[object], Embedded]]] = {
    "openai": (openai_request, parse_openai),
    "google": (google_request, parse_google),
}


class _TitanAnswer(CamelModel):
    embedding: Vector
    input_text_token_count: int = 0


async def ask_titan(
    account: Account,
    name: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    now: datetime,
    client_for: bedrock.ClientFor = bedrock.client_for,
) -> Embedded:
    """Titan, which takes one text at a time."""
    if not name.startswith(_TITAN):
        raise ProviderError(ErrorCode.INVALID_REQUEST, f"of Bedrock's models only {_TITAN}… embed here, not {name}")

    async def one(text: str) -> _TitanAnswer:
        body = orjson.dumps({"inputText": text})
        content = await bedrock.call(
            lambda client: client.invoke_model(modelId=name, body=body)["body"].read(),
            account,
            timeout_seconds,
            now,
            client_for,
        )
        try:
            return _TitanAnswer.model_validate_json(content)
        except ValidationError as error:
            raise not_understood(error) from None

    answers = await asyncio.gather(*map(one, texts))
    return Embedded(tuple(a.embedding for a in answers), Usage(sum(a.input_text_token_count for a in answers)))


def simulated(text: str) -> Vector:
    """The words of a text, counted under their hashes: texts with the same words are alike, whatever they mean."""
    counts = [0.0] * SIMULATED_DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256(word.encode()).digest()
        counts[int.from_bytes(digest[:4]) % SIMULATED_DIMENSIONS] += 1.0
    return tuple(counts)
