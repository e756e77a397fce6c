"""Prices and costs as people write them.

`llama3.3=0.2,0.6` is a model with $0.2 per million input and $0.6 per output tokens.
"""

from typing import NamedTuple

from cupel.errors import UsageError
from cupel.json_types import Json
from cupel_core.domain.text.figures import format_usd

FIELDS = ("inputUsdPerMillion", "outputUsdPerMillion", "cachedInputUsdPerMillion", "usdPerCall")
"""The fields of a price, in their order in a text."""
ANY_MODEL = "*"
"""Stands for every model without a price of its own."""


class PriceText(NamedTuple):
    model: str
    figures: tuple[float | None, ...]
    """Return at least two prices, in the order of FIELDS; None stands for one that is left out."""


def parse_price(text: str, option: str) -> PriceText:
    """Raise UsageError that names `option` for anything but a model and two to four prices."""
    model, _, amounts = text.rpartition("=")
    try:
        figures = tuple(float(amount) if amount else None for amount in amounts.split(","))
    except ValueError:
        figures = ()
    is_valid = model and 2 <= len(figures) <= len(FIELDS) and None not in figures[:2]
    if not is_valid or not all(figure is None or 0 <= figure < float("inf") for figure in figures):
        raise UsageError(f"{option}: {text} is not a model and two prices, such as llama3.3=0.2,0.6")
    return PriceText(model, figures)


def format_cost_interval(usd: Json) -> str:
    """Return what is expected, and the bounds of its interval in brackets if it has a range."""
    bounds = f" ({format_usd(usd['low'])} to {format_usd(usd['high'])})" if has_range(usd) else ""
    return f"{format_usd(usd['expected'])}{bounds}"


def has_range(usd: Json) -> bool:
    """Return whether the bounds of a cost differ as they are printed."""
    return format_usd(usd["low"]) != format_usd(usd["high"])
