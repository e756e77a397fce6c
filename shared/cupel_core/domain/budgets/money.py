"""Represents money as whole billionths of a USD, because integers add up to the same sum in any order."""

from collections import Counter
from collections.abc import Mapping
from math import ceil, floor, log10

from cupel_core.domain.conversations.roles import ModelRole

NANO_PER_USD = 10**9

type SpentByRole = Mapping[ModelRole, int]
"""Amounts are in billionths of a USD, by role of the called models."""


def nano_usd(usd: float) -> int:
    """Round up, so that what is set aside is never less than what it is for."""
    return ceil(usd * NANO_PER_USD - 1e-6)


def usd(nano: int) -> float:
    return nano / NANO_PER_USD


def limit_text(usd: float) -> str:
    """Return a user-set limit in full, without an exponent: $1,000,000 or $0.000001."""
    return f"${usd:,.6f}".rstrip("0").rstrip(".")


def amount_text(usd: float) -> str:
    """Return a cost to cents, or to four significant digits below a dollar, without an exponent."""
    if usd >= 1:
        return f"${usd:,.2f}"
    if usd <= 0:
        return "$0"
    return f"${usd:.{3 - floor(log10(usd))}f}".rstrip("0").rstrip(".")


def added(first: SpentByRole, second: SpentByRole) -> SpentByRole:
    return {role: first.get(role, 0) + second.get(role, 0) for role in first.keys() | second.keys()}


def subtracted(first: SpentByRole, second: SpentByRole) -> SpentByRole:
    rest = Counter(first)
    rest.subtract(second)
    return {role: amount for role, amount in rest.items() if amount}
