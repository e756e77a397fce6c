"""Amounts of money as texts."""

import pytest

from cupel_core.domain.budgets.money import limit_text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(5, "$5"), (0.5, "$0.5"), (0.000001, "$0.000001"), (1_234.567, "$1,234.567"), (1_000_000, "$1,000,000")],
)
def test_a_limit_is_written_in_full(usd: float, text: str) -> None:
    assert limit_text(usd) == text
