"""Amounts of money as texts."""

import pytest

from cupel_core.domain.budgets.money import amount_text, limit_text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(5, "$5"), (0.5, "$0.5"), (0.000001, "$0.000001"), (1_234.567, "$1,234.567"), (1_000_000, "$1,000,000")],
)
def test_a_limit_is_written_in_full(usd: float, text: str) -> None:
    assert limit_text(usd) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (1_234.5, "$1,234.50"),
        (1, "$1.00"),
        (0.99996, "$1"),
        (0.123456, "$0.1235"),
        (0.04, "$0.04"),
        (0.0000001, "$0.0000001"),
        (0.00000012345, "$0.0000001235"),
        (0, "$0"),
    ],
)
def test_an_amount_has_no_exponent(usd: float, text: str) -> None:
    assert amount_text(usd) == text
