"""Costs of model calls, from the price list packaged with the genai-prices library. Nothing is fetched.

The list has 30,000 lines, so it is imported when a price is first needed.
"""

from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

from cupel_core.domain.conversations import simulation
from cupel_core.domain.conversations.model_request import Reply, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers import model_name_of, provider_of
from cupel_core.providers.account import Account

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, TieredPrices
    from genai_prices.types import Provider as PricedProvider

# Provider ids in the price list. It knows no prices of a workspace's own servers.
_PRICE_LIST_PROVIDERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "bedrock": "aws",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "xai": "x-ai",
    "azure": "azure",
    "cohere": "cohere",
    "fireworks": "fireworks",
    "groq": "groq",
    "openrouter": "openrouter",
    "perplexity": "perplexity",
    "together": "together",
    "vertex": "google",
}
_NAME_PREFIXES = {"fireworks": "accounts/fireworks/models/"}
"""The beginning of the provider's names of models, which the ids of the price list leave out."""


class KnownModel(NamedTuple):
    """A model of the price list. `id` is `provider/name`. Prices are today's, of the lowest tier."""

    id: str
    name: str
    input_usd_per_million: float | None
    output_usd_per_million: float | None
    context_length: int | None = None


def cost_usd(model: str, usage: Usage, account: Account | None = None) -> float | None:
    """Return the cost of one call, or None if the price is unknown. Long prompts may cost more per token. The account's
    own prices take precedence over the price list, and over simulated models being free."""
    if account is not None and (own := account.price_of(model_name_of(model))) is not None:
        return own.cost_usd(usage)
    if provider_of(model).name == "sim":
        return 0.0
    priced_model = _find_price(model)
    if priced_model is None:
        return None
    from genai_prices import Usage as PricedUsage

    cached = {"cache_read_tokens": usage.cached_input_tokens, "cache_write_tokens": usage.cache_write_tokens}
    counts = {name: count for name, count in cached.items() if count}
    priced_usage = PricedUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, **counts)
    priced_provider, info = priced_model
    return float(info.calc_price(priced_usage, priced_provider).total_price)


@cache
def _find_price(model: str) -> "tuple[PricedProvider, ModelInfo] | None":
    from genai_prices.data_snapshot import get_snapshot

    provider_id = _PRICE_LIST_PROVIDERS.get(provider_of(model).name)
    if provider_id is None:
        return None
    try:
        return get_snapshot().find_provider_model(model_name_of(model), None, provider_id, None)
    except LookupError:
        return None


def spend_of(account: Account, model: str, reply: Reply) -> Spend:
    """Return the spend of one answered call. The account's own prices take precedence, then the cost that the provider
    reports, then the price list. Without usage, its cost is unknown. An answer from a cache costs nothing again."""
    own = account.price_of(model_name_of(model))
    price: float | None
    if reply.cost_usd is not None and own is None:
        price = reply.cost_usd
    elif reply.usage is None:
        price = _cost_without_usage(model, own)
    else:
        price = cost_usd(model, reply.usage, account)
    return Spend.of_call(model, reply.counted_usage, price, cached=reply.cached_duration_ms is not None)


def spend_of_embeddings(account: Account, model: str, usage: Usage | None) -> Spend:
    return spend_of(account, model, Reply("", usage=usage))


def _cost_without_usage(model: str, own: ModelPrice | None) -> float | None:
    if own is not None:
        return own.usd_without_usage
    return 0.0 if provider_of(model).name == "sim" else None


def is_unlisted(model: str) -> bool:
    return model.partition("/")[0] in _PRICE_LIST_PROVIDERS and _find_price(model) is None


@cache
def known_models(provider: str) -> tuple[KnownModel, ...]:
    """Return the provider's models with prices for text input and output, without deprecated ones."""
    if provider == "sim":
        return tuple(KnownModel(f"sim/{name}", f"Simulated: {name}", 0.0, 0.0) for name in simulation.MODELS)
    if provider not in _PRICE_LIST_PROVIDERS:
        return ()
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

    priced_provider = find_provider_by_id(get_snapshot().providers, _PRICE_LIST_PROVIDERS[provider])
    # The list groups some models under an id that is not a model name; such an id does not match itself.
    infos = priced_provider.models if priced_provider else []
    named = [(_NAME_PREFIXES.get(provider, "") + info.id, info) for info in infos if not info.deprecated]
    models = [_known_model(f"{provider}/{name}", info) for name, info in named if info.is_match(name)]
    return tuple(model for model in models if model.input_usd_per_million and model.output_usd_per_million)


def _known_model(model: str, info: "ModelInfo") -> KnownModel:
    prices = info.get_prices(datetime.now(UTC))
    return KnownModel(
        model,
        info.name or info.id,
        _per_million(prices.input_mtok),
        _per_million(prices.output_mtok),
        info.context_window,
    )


def _per_million(price: "Decimal | TieredPrices | None") -> float | None:
    """Return the price of the lowest tier, which most calls pay. Some prices rise with the length of the prompt."""
    if price is None:
        return None
    return float(price if isinstance(price, Decimal) else price.base)


def price_list_version() -> str:
    """Return the price list that costs come from. The library's release is the only date it has."""
    return f"genai-prices {version('genai-prices')}"
