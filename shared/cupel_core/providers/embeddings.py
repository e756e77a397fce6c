"""Text embeddings from the providers that offer them, with one attempt per call, like `completion.complete`."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.providers import model_name_of, provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.completion import sanitized
from cupel_core.providers.errors import ProviderError, reply_error
from cupel_core.providers.reply_content import read_json
from cupel_core.providers.wire_format import Embeddings, Vector

if TYPE_CHECKING:
    from cupel_core.providers.access_tokens import SendRequest

SIMULATED_DIMENSIONS = 512


type EmbedAttempt = Callable[[Account, str, tuple[str, ...], float], Awaitable[Embeddings]]


async def embed(
    account: Account,
    model: str,
    texts: tuple[str, ...],
    timeout_seconds: float,
    send: "SendRequest | None" = None,
) -> Embeddings:
    """Embed the texts in one attempt. Raise `ProviderError`, also when it takes longer than `timeout_seconds`."""
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
    from cupel_core.providers.embedding_formats import ONE_TEXT_PER_CALL, WIRE_FORMATS, embed_with_titan

    if wire_format == "bedrock":
        return await embed_with_titan(account, name, texts, timeout_seconds, utc_now())
    if wire_format not in WIRE_FORMATS:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"{provider_of(model).title} has no embedding models")
    from cupel_core.providers import http

    request_for, parse = WIRE_FORMATS[wire_format]
    account = await http.with_access_token(account, utc_now(), send)

    async def embed_together(part: tuple[str, ...]) -> Embeddings:
        response = await http.post(account, request_for(account, name, part), timeout_seconds, utc_now(), send)
        body = read_json(response.content, response.headers, response.status)
        if error := reply_error(body):
            raise error
        return parse(body)

    if wire_format not in ONE_TEXT_PER_CALL:
        return await embed_together(texts)
    return Embeddings.joined(await asyncio.gather(*(embed_together((text,)) for text in texts)))


def simulated_embedding(text: str) -> Vector:
    """Return hashed word counts: texts with the same words have similar vectors, whatever the texts mean."""
    counts = [0.0] * SIMULATED_DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256(word.encode()).digest()
        counts[int.from_bytes(digest[:4]) % SIMULATED_DIMENSIONS] += 1.0
    return tuple(counts)
