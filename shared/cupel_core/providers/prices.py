"""What model calls cost, from the genai-prices library as packaged: its maintainers keep the list, nothing is fetched.

The list is imported when a price is first asked for; it is 30,000 lines.
"""

from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

from cupel_core.domain.turns import simulation
from cupel_core.domain.turns.model_request import Usage
from cupel_core.providers import name_of, provider_of

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, TieredPrices
    from genai_prices.types import Provider as PricedProvider

# What the list calls our providers. A custom server's prices are nobody's to know.
_LISTED = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "bedrock": "aws",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "xai": "x-ai",
}


class KnownModel(NamedTuple):
    """A model of the price list; `id` is `provider/name`. Prices are today's, of the lowest tier."""

    id: str
    name: str
    input_usd_per_million: float | None
    output_usd_per_million: float | None


def cost_usd(model: str, usage: Usage) -> float | None:
    """What one call cost (long prompts may cost more a token). None when the list does not know, 0.0 when simulated."""
    if provider_of(model).name == "sim":
        return 0.0
    found = _find(model)
    if found is None:
        return None
    from genai_prices import Usage as PricedUsage

    priced = PricedUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    owner, info = found
    return float(info.calc_price(priced, owner).total_price)


@cache
def _find(model: str) -> "tuple[PricedProvider, ModelInfo] | None":
    from genai_prices.data_snapshot import get_snapshot

    listed = _LISTED.get(provider_of(model).name)
    if listed is None:
        return None
    try:
        return get_snapshot().find_provider_model(name_of(model), None, listed, None)
    except LookupError:
        return None


@cache
def known_models(provider: str) -> tuple[KnownModel, ...]:
    """The provider's models that have prices for text in and out, without those it has deprecated."""
    if provider == "sim":
        return tuple(KnownModel(f"sim/{name}", f"Simulated: {name}", 0.0, 0.0) for name in simulation.MODELS)
    if provider not in _LISTED:
        return ()
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

    owner = find_provider_by_id(get_snapshot().providers, _LISTED[provider])
    # The list groups some models under an id that is no model name; such an id does not match itself.
    named = [info for info in owner.models if info.is_match(info.id) and not info.deprecated] if owner else []
    models = [_known(provider, info) for info in named]
    return tuple(model for model in models if model.input_usd_per_million and model.output_usd_per_million)


def _known(provider: str, info: "ModelInfo") -> KnownModel:
    prices = info.get_prices(datetime.now(UTC))
    return KnownModel(
        f"{provider}/{info.id}", info.name or info.id, _per_million(prices.input_mtok), _per_million(prices.output_mtok)
    )


def _per_million(price: "Decimal | TieredPrices | None") -> float | None:
    """Some prices rise with the length of the prompt; the first tier is what most calls pay."""
    if price is None:
        return None
    return float(price if isinstance(price, Decimal) else price.base)


def price_list() -> str:
    """Which list the costs come from. Its release is its date: the library tells no other."""
    return f"genai-prices {version('genai-prices')}"
