"""The interface of an HTTP wire format: it builds a request and parses a response body. The call is made elsewhere."""

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple, Protocol, Self

import orjson

from cupel_core.base.deferred import dataclass
from cupel_core.base.deferred_models import DeferredModel
from cupel_core.domain.conversations.model_request import ExhaustedAllowance, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.parts import FilePart
from cupel_core.domain.files.formats import FileFormat
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError


@dataclass(frozen=True)
class WireRequest:
    """A POST with a body of JSON or of a form. The headers contain the API key, so they are left out of `repr`."""

    url: str
    body: dict[str, object]
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    is_form: bool = False


class WireModel(DeferredModel):
    """Part of a provider's message. Its validator is made with the first that arrives."""


class HttpWireFormat(Protocol):
    """Modules of this package implement it. `parse` raises `ProviderError`."""

    def request_for(self, account: Account, model_name: str, request: ModelRequest) -> WireRequest: ...

    def parse(self, body: object) -> Reply: ...


type Vector = tuple[float, ...]


class Embeddings(NamedTuple):
    """One vector per text, in the order of the texts."""

    vectors: tuple[Vector, ...]
    usage: Usage | None = None
    """None if it was not reported."""
    exhausted_allowance: ExhaustedAllowance | None = None
    """Every answer to a call has this attribute. Responses with embeddings do not report it."""

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Combine the results of several calls. The usage is unknown if that of any call is."""
        vectors: list[Vector] = []
        usage: Usage | None = Usage()
        for part in parts:
            vectors += part.vectors
            usage = None if usage is None or part.usage is None else usage + part.usage
        return cls(tuple(vectors), usage)


def api_key_of(account: Account) -> str:
    """Return the stripped API key, or an empty text. Raise `ProviderError` if it cannot be sent in a header."""
    key = (account.api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(ProbeErrorCode.AUTH, "the API key contains characters that are not allowed in a header")
    return key


def endpoint_url(account: Account, path: str) -> str:
    """Return the address of an operation. A query of the base URL, such as a gateway's API version, is preserved."""
    base, mark, query = account.base_url.partition("?")
    return f"{base.rstrip('/')}/{path}{mark}{query}"


def bearer_header(account: Account) -> dict[str, str]:
    key = api_key_of(account)
    return {"authorization": f"Bearer {key}"} if key else {}


class AttachedFile:
    def __init__(self, request: ModelRequest, part: FilePart) -> None:
        """Read the part. Raise ProviderError if the request lacks the content, or the format is unknown."""
        content = request.files.get(part.file_id or "")
        if content is None or part.info is None:
            raise ProviderError(ProbeErrorCode.FILE_NOT_FOUND, f"the content of {part.note} is missing", final=True)
        self.content, self.format, self._part = content, part.info.format, part

    @property
    def base64(self) -> str:
        return b64encode(self.content).decode()

    @property
    def data_url(self) -> str:
        return f"data:{self.format.media_type};base64,{self.base64}"

    @property
    def name(self) -> str:
        """Return the name, which some providers require."""
        return self._part.name or f"{self._part.type}.{self.format}"

    @property
    def is_pdf(self) -> bool:
        return self.format is FileFormat.PDF


def content_filtered_error(reason: str, usage: Usage | None = None, cost_usd: float | None = None) -> ProviderError:
    """Return the error for an answer withheld by the API, not refused by the model. Providers bill the generated
    part."""
    message = f"the provider filtered the content: {reason}"
    return ProviderError(ProbeErrorCode.CONTENT_FILTERED, message, usage=usage, cost_usd=cost_usd)


def without_none(**options: object) -> dict[str, object]:
    """Return the options that are not None. For the others the provider's defaults apply."""
    return {name: value for name, value in options.items() if value is not None}


def json_instruction(schema: dict[str, object] | None) -> str:
    """Return the instruction for models whose API cannot enforce a schema, or JSON at all."""
    if schema is None:
        return "Answer with one JSON object and nothing else."
    schema_json = orjson.dumps(schema).decode()
    return f"Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n{schema_json}"


_CONSTRAINTS = frozenset(
    {"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
)
"""Strict enforcement refuses these keywords in one dialect or another: OpenAI's, Azure's and Anthropic's differ."""
_MAPS_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties"})


def enforced_schema(request: ModelRequest) -> dict[str, object] | None:
    """Return the schema for strict enforcement. A judge's has no constraints of values, because its reply is checked
    against them anyway. A target's is its author's."""
    schema = request.json_schema
    if schema is None or not request.is_graders:
        return schema
    return {name: _unconstrained(value, name) for name, value in schema.items() if name not in _CONSTRAINTS}


def _unconstrained(value: object, name: str = "") -> object:
    if isinstance(value, list):
        return [_unconstrained(each) for each in value]
    if not isinstance(value, dict) or name in ("const", "default", "examples"):
        return value
    if name in _MAPS_OF_SCHEMAS:
        return {each: _unconstrained(schema) for each, schema in value.items()}
    return {each: _unconstrained(inner, each) for each, inner in value.items() if each not in _CONSTRAINTS}


def is_closed_schema(schema: object) -> bool:
    """Return whether every object in a schema is closed and requires all its properties, as strict enforcement
    demands."""
    if isinstance(schema, list):
        return all(map(is_closed_schema, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if isinstance(properties, dict):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    return all(map(is_closed_schema, schema.values()))


def strip_code_fence(text: str) -> str:
    """Return the JSON inside a Markdown code fence, which models often add when only the prompt asks for JSON."""
    opening, _, rest = text.strip().partition("\n")
    content, line_break, closing = rest.rpartition("\n")
    is_fenced = opening.rstrip() in ("```", "```json") and bool(line_break) and closing.strip() == "```"
    return content.strip("\n") if is_fenced else text
