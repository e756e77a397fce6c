import subprocess
import sys

import pytest

from cupel_core.domain.conversations.model_request import Reply, Usage
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers import PROVIDERS, prices, provider_of
from cupel_core.providers.account import Account

SOME = Usage(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("openai/gpt-4o-mini", 0.75),
        ("openai/gpt-4o-mini-2024-07-18", 0.75),
        ("bedrock/amazon.nova-lite-v1:0", 0.30),
        ("sim/steady", 0.0),
    ],
)
def test_the_cost_of_a_million_tokens_each_way(model: str, cost: float) -> None:
    assert prices.cost_usd(model, SOME) == pytest.approx(cost)


@pytest.mark.parametrize("provider", ["anthropic", "google", "mistral", "deepseek", "xai"])
def test_every_hosted_provider_has_models_with_prices(provider: str) -> None:
    known = prices.known_models(provider)
    assert known
    assert all(provider_of(model.id).name == provider for model in known)
    assert all((prices.cost_usd(model.id, SOME) or 0) > 0 for model in known)


@pytest.mark.parametrize("model", ["openai/gpt-99-unheard-of", "custom/gpt-4o-mini"])
def test_the_cost_of_a_model_without_price_is_unknown(model: str) -> None:
    assert prices.cost_usd(model, SOME) is None


def test_the_cost_that_a_reply_reports_is_used_instead_of_the_list() -> None:
    account, reply = Account("openrouter", ""), Reply("Hi", usage=SOME, cost_usd=0.25)
    assert prices.spend_of(account, "openrouter/openai/gpt-5", reply).cost_usd == 0.25


@pytest.mark.parametrize(("model", "cost"), [("custom-box/llama", 3.0), ("custom-box/org/qwen", 30.0)])
def test_the_accounts_own_prices_come_first(model: str, cost: float) -> None:
    own = (ModelPrice(None, 10.0, 20.0), ModelPrice("llama", 1.0, 2.0))
    account = Account("custom-box", "http://box.test/v1", prices=own)
    assert prices.cost_usd(model, SOME, account) == pytest.approx(cost)
    assert prices.spend_of(account, model, Reply("Hi", usage=SOME, cost_usd=0.25)).cost_usd == pytest.approx(cost)


def test_no_tokens_cost_nothing() -> None:
    assert prices.cost_usd("openai/gpt-4o-mini", Usage()) == 0


def test_the_simulated_models_are_listed_as_simulated() -> None:
    known = prices.known_models("sim")
    assert [model.id for model in known] == [
        "sim/steady",
        "sim/bold",
        "sim/contrarian",
        "sim/flaky",
        "sim/echo",
        "sim/lenient",
    ]
    assert all("Simulated" in model.name for model in known)


def test_every_provider_with_known_models_lists_them() -> None:
    assert {name for name in PROVIDERS if prices.known_models(name)} == set(PROVIDERS) - {"custom", "connector"}


def test_the_price_list_has_a_version() -> None:
    assert prices.price_list_version().startswith("genai-prices 0.")


def test_the_price_list_is_not_imported_with_the_module() -> None:
    program = "import sys, cupel_core.providers.prices; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_cached_input_costs_what_the_list_says() -> None:
    assert prices.cost_usd("openai/gpt-4o-mini", Usage(1_000_000, 0, 1_000_000)) == pytest.approx(0.075)
    assert prices.cost_usd("openai/gpt-4o-mini", Usage(1_000_000, 0, 500_000)) == pytest.approx(0.1125)


def test_input_written_to_a_cache_may_cost_more() -> None:
    plain = prices.cost_usd("anthropic/claude-sonnet-4-5", Usage(1_000, 0)) or 0.0
    assert prices.cost_usd("anthropic/claude-sonnet-4-5", Usage(1_000, 0, 0, 1_000)) == pytest.approx(1.25 * plain)


@pytest.mark.parametrize(("cached", "cost"), [(None, 10.0), (1.0, 5.5)])
def test_own_prices_may_have_one_of_cached_input(cached: float | None, cost: float) -> None:
    account = Account("custom", "", prices=(ModelPrice(None, 10.0, 20.0, cached),))
    assert prices.cost_usd("custom/m", Usage(1_000_000, 0, 500_000), account) == pytest.approx(cost)


def test_own_prices_may_have_one_of_a_call() -> None:
    account = Account("connector", "", prices=(ModelPrice(None, 0.0, 0.0, None, 0.02),))
    assert prices.cost_usd("connector/con_1", Usage(), account) == 0.02
