"""A budget of half of what a run of 1,000 probes costs, with workers killed at a quarter: the provider's own bill."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from cupel.client import Client
from cupel.stack.paths import StackPaths
from tests.eval_api import Json, create_definition, wait_for_end, wait_until
from tests.kills import kill_workers
from tests.stacks import ModelServer

PROBES = 1_000
PARALLEL = 20
LATENCY_SECONDS = 0.2
INPUT_USD, OUTPUT_USD = 1_000.0, 2_000.0
"""Per million tokens: a call costs some cents, so that a lost one would be noticed."""
MAX_OUTPUT_TOKENS = 50
SAMPLE = 20
"""Probes of a first run, which shows what a call costs."""


def bill_usd(model_server: ModelServer) -> float:
    """What the provider would bill for all replies since the last reset, also for those that nobody received."""
    counts = model_server.counts()
    return float(counts["inputTokens"] * INPUT_USD + counts["outputTokens"] * OUTPUT_USD) / 1_000_000


class BudgetedRun(NamedTuple):
    paused: Json
    bill_when_paused: float
    budget_usd: float
    resumed: Json
    bill_at_end: float


@pytest.fixture(scope="module")
def prices(api: Client, model_server: ModelServer) -> Iterator[None]:
    model_server.reset()
    model_server.configure(latencySeconds=LATENCY_SECONDS, shortAnswers=True)
    prices = [{"model": None, "inputUsdPerMillion": INPUT_USD, "outputUsdPerMillion": OUTPUT_USD}]
    settings = {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": PARALLEL, "prices": prices}
    api.update_provider("custom", settings)
    yield
    api.update_provider("custom", {"prices": None})
    model_server.configure(shortAnswers=False)


def start(api: Client, definition_id: str, budget_usd: float, **changes: object) -> str:
    body = {
        "definitionId": definition_id,
        "models": ["custom/bench"],
        "maxBudgetUsd": budget_usd,
        "confirmedUsd": 1_000_000,
        "config": {"params": {"maxOutputTokens": MAX_OUTPUT_TOKENS}},
        **changes,
    }
    return str(api.create_run(body)["run"]["id"])


@pytest.fixture(scope="module")
def budgeted(api: Client, stack_paths: StackPaths, model_server: ModelServer, prices: None) -> BudgetedRun:
    definition_id = create_definition(api, PROBES)
    sample = start(api, definition_id, 1_000.0, samplePercentage=100 * SAMPLE // PROBES)
    wait_for_end(api, sample, seconds=120)
    budget_usd = round(bill_usd(model_server) / SAMPLE * PROBES / 2, 6)
    model_server.reset()
    model_server.configure(latencySeconds=LATENCY_SECONDS, shortAnswers=True)
    run_id = start(api, definition_id, budget_usd)
    wait_until(lambda: api.get_run(run_id)["progress"]["completed"] >= PROBES // 4, seconds=120)
    assert kill_workers(stack_paths) >= 1
    wait_until(lambda: api.get_run(run_id)["status"] == "PAUSED", seconds=400)
    paused, bill_when_paused = api.get_run(run_id), bill_usd(model_server)
    api.update_run_budget(run_id, 4 * budget_usd)
    resumed = wait_for_end(api, run_id, seconds=240)
    return BudgetedRun(paused, bill_when_paused, budget_usd, resumed, bill_usd(model_server))


def test_the_providers_own_bill_stays_within_the_budget(budgeted: BudgetedRun) -> None:
    print(f"billed ${budgeted.bill_when_paused:.4f} of ${budgeted.budget_usd:.4f}")
    assert 0.5 * budgeted.budget_usd < budgeted.bill_when_paused <= budgeted.budget_usd


def test_the_run_is_paused_because_of_its_budget(budgeted: BudgetedRun) -> None:
    assert (budgeted.paused["pauseReason"], budgeted.paused["progress"]["failed"]) == ("budget", 0)
    assert PROBES // 4 <= budgeted.paused["progress"]["completed"] < PROBES


def test_what_the_budget_counts_is_at_least_the_bill(budgeted: BudgetedRun) -> None:
    use = budgeted.paused["spend"]["budget"]
    counted = use["spentUsd"] + use["uncertainUsd"] + use["reservedUsd"]
    assert budgeted.bill_when_paused <= counted + 1e-6
    assert counted <= budgeted.budget_usd + 1e-6
    print(f"spent ${use['spentUsd']:.4f}, uncertain ${use['uncertainUsd']:.4f}")


def test_a_raised_budget_lets_the_run_complete(budgeted: BudgetedRun) -> None:
    assert (budgeted.resumed["status"], budgeted.resumed["progress"]["completed"]) == ("COMPLETED", PROBES)
    assert budgeted.bill_at_end <= 4 * budgeted.budget_usd


def test_refused_calls_cost_nothing(api: Client, model_server: ModelServer, prices: None) -> None:
    """A tenth of the calls is answered with 429, and is made again."""
    model_server.reset()
    model_server.configure(latencySeconds=0.05, shortAnswers=True, rates={"429": 0.1}, retryAfterSeconds=0.1)
    run_id = start(api, create_definition(api, 100), 1_000.0)
    wait_for_end(api, run_id, seconds=120)
    model_server.configure(rates={})
    assert model_server.counts()["byStatus"]["429"] > 0
    # A worker reports its last calls, and gives back what is left, some seconds after the run has ended.
    wait_until(lambda: api.get_run_budget(run_id)["reservedUsd"] == 0, seconds=120)
    use = api.get_run_budget(run_id)
    assert math.isclose(use["spentUsd"], bill_usd(model_server), rel_tol=1e-9)
    assert use["uncertainUsd"] == 0
