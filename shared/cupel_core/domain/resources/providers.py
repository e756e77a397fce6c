from collections.abc import Mapping
from typing import TypedDict

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Usage


@dataclass(frozen=True)
class ModelPrice:
    """States prices in US dollars per million tokens, where the price list has none or a wrong one."""

    model: str | None
    """The provider's own name; None for all models without a price of their own."""
    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None = None
    """Applies to input tokens from the provider's prompt cache; None if they cost as much as others."""
    usd_per_call: float = 0.0
    """Added to the price of the tokens, or is the price of an agent's call that reports none."""

    def cost_usd(self, usage: Usage) -> float:
        cached = usage.cached_input_tokens if self.cached_input_usd_per_million is not None else 0
        per_million = (
            (usage.input_tokens - cached) * self.input_usd_per_million
            + cached * (self.cached_input_usd_per_million or 0.0)
            + usage.output_tokens * self.output_usd_per_million
        )
        return per_million / 1_000_000 + self.usd_per_call

    @property
    def usd_without_usage(self) -> float | None:
        """Return the price of a call whose tokens nobody reports; None if tokens have a price."""
        return None if self.input_usd_per_million or self.output_usd_per_million else self.usd_per_call


type Prices = Mapping[str, tuple[ModelPrice, ...]]


class ProviderChanges(TypedDict, total=False):
    """In an update, None restores the default and deletes the key."""

    base_url: str | None
    api_key: str | None
    enabled: bool | None
    max_parallel_requests: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    prices: tuple[ModelPrice, ...] | None


@dataclass(frozen=True)
class ProviderView:
    """Describes a provider as configured in a workspace. It shows whether there is a key, but not the key."""

    name: str
    title: str
    base_url: str
    enabled: bool
    usable: bool
    """The provider is enabled and has the address and the key it needs."""
    needs_key: bool
    has_key: bool
    max_parallel_requests: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    prices: tuple[ModelPrice, ...]
    revision: int


@dataclass(frozen=True)
class ModelView:
    """Describes a model in the price list; other models are accepted too. Prices are per million tokens; None is
    unknown."""

    id: str
    name: str
    provider: ProviderView
    input_usd_per_million: float | None
    output_usd_per_million: float | None
    context_length: int | None = None
    max_output_tokens: int | None = None
    input_modalities: tuple[str, ...] | None = None
    supported_parameters: tuple[str, ...] | None = None

    @property
    def simulated(self) -> bool:
        return self.provider.name == "sim"
