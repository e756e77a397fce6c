"""Model providers, as a workspace has configured them, and their models."""

from typing import Annotated, Self, cast

import orjson
from pydantic import AfterValidator, Field, FiniteFloat, SecretStr, StringConstraints, model_validator

from cupel_core.contract.common import RequestModel, ResponseModel, example, read_from
from cupel_core.contract.fields import SINGLE_LINE, Flag, ProviderUrl, is_visible_ascii
from cupel_core.domain.resources.providers import ModelPrice, ProviderChanges

_MAX_KEY_FILE_LENGTH = 8_192
_KEY_FILES = (("client_email", "private_key"), ("appId", "password", "tenant"))
"""Fields of the keys of service accounts and of the credentials of service principals."""


def _valid_key(secret: SecretStr) -> SecretStr:
    key = secret.get_secret_value()
    if not (is_visible_ascii(key) or _is_key_file(key)):
        raise ValueError(
            "must be 1 to 4096 visible ASCII characters, the JSON of a Google service account's key, or the JSON of a "
            "service principal of Microsoft Entra ID, with appId, password and tenant"
        )
    return secret


def _is_key_file(text: str) -> bool:
    if len(text) > _MAX_KEY_FILE_LENGTH or not text.isascii():
        return False
    try:
        key = orjson.loads(text)
    except ValueError:
        return False
    return isinstance(key, dict) and any(all(isinstance(key.get(name), str) for name in file) for file in _KEY_FILES)


ApiKey = Annotated[SecretStr, AfterValidator(_valid_key), Field(description="Stored as a secret and never returned")]
ParallelRequests = Annotated[int, Field(strict=True, ge=1, le=1_000)]
PerMinute = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)]


UsdPerMillion = Annotated[FiniteFloat, Field(strict=True, ge=0, le=1_000_000)]
UsdPerCall = Annotated[FiniteFloat, Field(strict=True, ge=0, le=10_000)]


class ProviderPriceInput(RequestModel):
    """A price that the workspace pays for a model of the provider."""

    model: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=256), SINGLE_LINE] | None = None
    """The provider's name of the model; null for all models without a price of their own."""
    input_usd_per_million: UsdPerMillion
    output_usd_per_million: UsdPerMillion
    cached_input_usd_per_million: UsdPerMillion | None = None
    """Price of input tokens read from the provider's prompt cache; null for no discount. Example: 0.025"""
    usd_per_call: UsdPerCall = 0.0
    """Price per call besides its tokens, such as one of an agent that reports none. Example: 0.0"""

    @model_validator(mode="after")
    def _is_discounted(self) -> Self:
        cached = self.cached_input_usd_per_million
        if cached is not None and cached > self.input_usd_per_million:
            raise ValueError("must have a cachedInputUsdPerMillion that is at most inputUsdPerMillion")
        return self


class ProviderPriceResponse(ResponseModel):
    """A price that the workspace pays for a model of the provider."""

    model: str | None
    """The provider's name of the model; null for all models without a price of their own."""
    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None
    """Price of input tokens read from the prompt cache; null for no discount. Example: 0.025"""
    usd_per_call: float
    """Price per call besides its tokens. Example: 0.0"""


def _distinct(prices: list[ProviderPriceInput] | None) -> list[ProviderPriceInput] | None:
    models = [price.model for price in prices or ()]
    if len(set(models)) < len(models):
        raise ValueError("must have one price for each model")
    return prices


class UpdateProvider(RequestModel):
    """Omitted fields keep their value; null restores the default, and deletes the API key.

    A workspace may have several servers of its own, each a provider named `custom-<name>`: it is added when its
    `baseUrl` is set and removed when it is null.
    """

    model_config = example(
        {
            "apiKey": "sk-example",
            "enabled": True,
            "maxParallelRequests": 20,
            "requestsPerMinute": 500,
            "tokensPerMinute": 200000,
        }
    )

    base_url: ProviderUrl | None = None
    """An http(s) URL; its query may be `api-version=<date>`. If it changes, `apiKey` must be sent again, or null to
    delete it.

    Example: https://api.openai.com/v1
    """
    api_key: ApiKey | None = None
    """API key of the provider; stored as a secret and never returned; null removes it."""
    enabled: Flag | None = None
    max_parallel_requests: ParallelRequests | None = None
    """Requests in flight at most, over all runs of the workspace."""
    requests_per_minute: PerMinute | None = None
    """Requests per minute at most; null for no limit."""
    tokens_per_minute: PerMinute | None = None
    """Tokens per minute at most; null for no limit."""
    prices: Annotated[list[ProviderPriceInput] | None, Field(max_length=100), AfterValidator(_distinct)] = None
    """They take precedence over the price list."""

    def changes(self) -> ProviderChanges:
        changes = cast(ProviderChanges, self.model_dump(exclude_unset=True))
        if self.prices is not None:
            changes["prices"] = tuple(ModelPrice(**price.model_dump()) for price in self.prices)
        if self.api_key is not None:
            changes["api_key"] = self.api_key.get_secret_value()
        return changes


class ProviderResponse(ResponseModel):
    name: str
    """Example: openai"""
    title: str
    """Name for display. Example: OpenAI"""
    base_url: str
    """Example: https://api.openai.com/v1"""
    enabled: bool
    usable: bool
    """Enabled, with the address and the API key it needs. Example: true"""
    needs_key: bool
    """True if the provider requires an API key. Example: true"""
    has_key: bool
    """True if an API key is stored. Example: true"""
    max_parallel_requests: int
    """Requests in flight at most, over all runs of the workspace. Example: 20"""
    requests_per_minute: int | None
    """Requests per minute at most; null for no limit. Example: 500"""
    tokens_per_minute: int | None
    """Tokens per minute at most; null for no limit. Example: 200000"""
    prices: list[ProviderPriceResponse]
    """Prices that the workspace pays; the price list applies to all other models."""


class ProviderPage(ResponseModel):
    items: list[ProviderResponse]
    next_cursor: str | None


class ModelResponse(ResponseModel):
    """A model of the price list. Prices are in US dollars per million tokens; null if unknown."""

    id: str
    """Model id as `provider/name`, as used in runs. Example: openai/gpt-6.1-terra"""
    name: str
    """Example: gpt-6.1-terra"""
    provider: Annotated[str, read_from("provider.name")]
    simulated: bool
    """Simulated by Cupel; calls cost nothing. Example: false"""
    enabled: Annotated[bool, read_from("provider.enabled")]
    has_key: Annotated[bool, read_from("provider.has_key")]
    """True if an API key is stored. Example: true"""
    usable: Annotated[bool, read_from("provider.usable")]
    """True if its provider is usable. Example: true"""
    input_usd_per_million: float | None
    output_usd_per_million: float | None
    context_length: int | None
    """Maximum tokens of a request; null if unknown. Example: 272000"""
    max_output_tokens: int | None
    """Maximum tokens of an answer; null if unknown. Example: 128000"""
    input_modalities: list[str] | None
    """Accepted input: `text`, `image`, `audio`, `video`, `pdf`; null if unknown. Example: ["text", "image", "pdf"]"""
    supported_parameters: list[str] | None
    """Accepted parameters among `tools`, `toolChoice`, `responseFormat` and `reasoningEffort`; null if unknown.

    Example: ["tools", "toolChoice", "responseFormat", "reasoningEffort"]
    """


class ServedModelsResponse(ResponseModel):
    """The models that one server of the workspace's own offers."""

    provider: str
    """Example: custom"""
    models: list[str]
    """Models as `provider/name`, at most 500. Example: ["custom/llama3.2:latest"]"""
    problem: str | None
    """Reason why the server gave no list; null if it did. Example: no connection to llm.example.com"""


class ServedModelList(ResponseModel):
    items: list[ServedModelsResponse]
    """The servers, by name."""


class ModelPage(ResponseModel):
    items: list[ModelResponse]
    next_cursor: str | None
