"""Tails and quantiles against scipy (tests/oracles/distributions.json, recomputed by the script beside it)."""

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis import distributions
from cupel_core.domain.analysis.distributions import beta_tails, gamma_tails, t_quantile, t_two_sided_p, t_upper_tail
from tests.oracles import FROZEN_FOLDER

SCIPY: dict[str, list[list[float]]] = json.loads((FROZEN_FOLDER / "distributions.json").read_text())


def beta_lower(a: float, b: float, x: float) -> float:
    return beta_tails(a, b, x, 1 - x).lower


def gamma_lower(a: float, x: float) -> float:
    return gamma_tails(a, x).lower


def gamma_upper(a: float, x: float) -> float:
    return gamma_tails(a, x).upper


OURS: dict[str, Callable[..., float]] = {
    **{name: getattr(distributions, name, None) for name in SCIPY},
    **{function.__name__: function for function in (beta_lower, gamma_lower, gamma_upper)},
}


@pytest.mark.parametrize("name", SCIPY)
def test_agrees_with_scipy(name: str):
    for *arguments, value in SCIPY[name]:
        whole = [int(argument) if argument == int(argument) else argument for argument in arguments]
        assert OURS[name](*whole) == pytest.approx(value, rel=1e-9, abs=0), arguments


@given(st.floats(0.001, 0.999), st.floats(1, 10_000))
def test_a_quantile_of_t_has_its_probability_below_it(p: float, df: float):
    assert 1 - t_upper_tail(t_quantile(p, df), df) == pytest.approx(p, rel=1e-9)


def test_t_is_symmetric():
    assert t_upper_tail(-1.3, 7) == pytest.approx(1 - t_upper_tail(1.3, 7))
    assert t_quantile(0.01, 7) == pytest.approx(-t_quantile(0.99, 7))
    assert t_quantile(0.5, 7) == 0


def test_nothing_lies_beyond_infinity():
    assert t_two_sided_p(math.inf, 5) == 0
    assert beta_tails(2, 3, 1, 0) == (1, 0)
    assert gamma_tails(2, 0) == (0, 1)


def test_a_value_that_is_not_a_number_ends():
    assert math.isnan(gamma_tails(2.5, math.nan).upper)
