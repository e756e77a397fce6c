"""What an HTTP wire format is: a request out of a conversation, a reply out of a body. The call is made elsewhere."""

import re
from dataclasses import dataclass, field
from typing import Protocol

import orjson
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError


@dataclass(frozen=True)
class WireRequest:
    """A POST with a JSON body. The headers hold the key, so they are never shown."""

    url: str
    body: dict[str, object]
    headers: dict[str, str] = field(default_factory=dict, repr=False)


class CamelModel(BaseModel):
    """A part of a reply whose fields the provider writes in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)


class HttpWire(Protocol):
    """A module of this package. `parse` raises `ProviderError` or pydantic's `ValidationError`."""

    def request_for(self, account: Account, model_name: str, conversation: Conversation) -> WireRequest: ...

    def parse(self, body: object) -> Reply: ...


def key_of(account: Account) -> str:
    """The key as a header can hold it; empty when the account has none."""
    key = (account.api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(ErrorCode.AUTH, "the API key holds characters that no header can carry")
    return key


def endpoint(account: Account, path: str) -> str:
    return f"{account.base_url.rstrip('/')}/{path}"


def filtered(why: str) -> ProviderError:
    """The API, not the model, withheld the answer."""
    return ProviderError(ErrorCode.CONTENT_FILTERED, f"the provider filtered the content: {why}")


def given(**options: object) -> dict[str, object]:
    """Those options that are set; what is not asked for is left to the provider's default."""
    return {name: value for name, value in options.items() if value is not None}


def schema_instruction(schema: dict[str, object]) -> str:
    """For models that cannot be held to a schema by the API."""
    shown = orjson.dumps(schema).decode()
    return f"Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n{shown}"


_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.S)


def without_fence(text: str) -> str:
    """The JSON inside a Markdown code fence, which models that were only told to answer in JSON like to add."""
    match = _FENCED.fullmatch(text)
    return match[1] if match else text
