"""Budgets: `cupel.evaluate(budget_usd=…)`, and what the command does and shows."""

from pathlib import Path
from typing import Any

import pytest

import cupel
from cupel.errors import UsageError
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.run import ProbeStatus
from tests.unit.cupel.test_evaluate import definition, responder
from tests.unit.providers.agents import serving

PRICES = {"*": (1_000.0, 1_000.0)}
CALL_USD = 0.015
"""10 and 5 tokens."""


def priced(url: str) -> dict[str, Any]:
    """A server whose calls cost a cent and a half, and reserve at most 3.5 cents for a short prompt."""
    providers = {"custom": {"base_url": url, "prices": PRICES}}
    return {"providers": providers, "params": {"maxOutputTokens": 10}, "max_concurrency": 1, "progress": False}


async def evaluate(url: str, probes: int, **options: Any) -> cupel.Evaluation:
    texts = [f"Q{number:02}" for number in range(probes)]
    return await cupel.evaluate_async(definition(*texts), "custom/m", **{**priced(url), **options})


async def test_an_evaluation_within_its_budget_completes() -> None:
    async with serving(responder("Paris")) as server:
        evaluation = await evaluate(server.url, 4, budget_usd=1.0)
    assert (len(evaluation.completed), len(server.requests)) == (4, 4)


async def test_no_call_is_made_that_could_exceed_the_budget() -> None:
    async with serving(responder("Paris")) as server:
        evaluation = await evaluate(server.url, 10, budget_usd=0.08)
    assert evaluation.total_spend.cost_usd == pytest.approx(len(server.requests) * CALL_USD)
    assert 0.08 - 0.035 < len(server.requests) * CALL_USD <= 0.08
    assert {result.error.code for result in evaluation.errors if result.error} == {ProbeErrorCode.BUDGET}
    assert len(evaluation.completed) + len(evaluation.errors) == 10


async def test_calls_in_flight_together_stay_within_the_budget() -> None:
    async with serving(responder("Paris")) as server:
        evaluation = await evaluate(server.url, 12, budget_usd=0.1, max_concurrency=6)
    assert len(server.requests) * CALL_USD <= 0.1
    assert len(evaluation.completed) == len(server.requests) > 0


async def test_a_conversation_that_the_budget_stops_keeps_what_it_has_cost() -> None:
    async with serving(responder("No")) as server:
        evaluation = await evaluate(server.url, 1, budget_usd=0.06, scenarios=[{"name": "a", "prompt": "Q"}])
        assert len(server.requests) == 1
    talk = {**definition("Q"), "content": {"followUps": ["Why?", "Why?"]}}
    async with serving(responder("No")) as server:
        evaluation = await cupel.evaluate_async(talk, "custom/m", **priced(server.url), budget_usd=0.06)
    (result,) = evaluation.results
    assert result.status is ProbeStatus.ERROR
    assert result.outcome.spending.total.cost_usd == pytest.approx(len(server.requests) * CALL_USD)
    assert 0 < len(server.requests) < 3


async def test_an_interrupted_evaluation_goes_on_with_a_greater_budget(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    async with serving(responder("Paris")) as server:
        first = await evaluate(server.url, 6, budget_usd=0.06, resume=path, seed=1)
        second = await evaluate(server.url, 6, budget_usd=0.2, resume=path, seed=1)
    assert 0 < len(first.completed) < 6
    assert (len(second.completed), len(server.requests)) == (6, 6)


async def test_what_was_spent_before_an_interruption_counts(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    async with serving(responder("Paris")) as server:
        await evaluate(server.url, 6, budget_usd=0.06, resume=path, seed=1)
        before = len(server.requests)
        await evaluate(server.url, 6, budget_usd=0.06, resume=path, seed=1)
    assert len(server.requests) == before


async def test_what_errored_conversations_have_cost_counts_however_often_they_are_repeated(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    talk = {**definition("Q"), "content": {"followUps": ["Why?", "Why?"]}}
    async with serving(responder("No")) as server:
        for budget in (0.06, 0.06, 0.06, 0.1, 0.1):
            evaluation = await cupel.evaluate_async(
                talk, "custom/m", **priced(server.url), budget_usd=budget, resume=path, seed=1
            )
            assert len(server.requests) * CALL_USD <= budget
            assert len(evaluation.errors) == 1
        evaluation = await cupel.evaluate_async(
            talk, "custom/m", **priced(server.url), budget_usd=1.0, resume=path, seed=1
        )
    assert len(evaluation.completed) == 1


async def test_a_model_without_a_price_needs_a_word() -> None:
    async with serving(responder("Paris")) as server:
        access = {"providers": {"custom": {"base_url": server.url}}, "progress": False}
        with pytest.raises(UsageError, match=r"allow_unpriced: .* price of custom/m is unknown"):
            await cupel.evaluate_async(definition("Q"), "custom/m", budget_usd=1.0, **access)
        assert server.requests == []
        evaluation = await cupel.evaluate_async(
            definition("Q"), "custom/m", budget_usd=1.0, allow_unpriced=True, **access
        )
    assert len(evaluation.completed) == 1


def test_functions_of_the_caller_are_not_limited() -> None:
    assert len(cupel.evaluate(definition(), lambda _: "Paris", budget_usd=0.01).completed) == 2


@pytest.mark.parametrize("budget", [0, -1, 2_000_000, "5", True])
def test_an_impossible_budget_is_refused(budget: Any) -> None:
    with pytest.raises(UsageError, match="budget_usd"):
        cupel.evaluate(definition(), lambda _: "Paris", budget_usd=budget)
