"""A worker on moto's queues and table: what it does with the budget of a run. Simulated models have a price here."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.budgets.charging import ChargedCalls
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.budgets.run_budgets import BudgetChanged, pause_exhausted_run
from cupel_core.domain.budgets.account import BudgetAccount, BudgetReport
from cupel_core.domain.budgets.money import usd
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.run import Action, PauseReason, Progress, Run, RunEventType, RunStatus
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.runs.budgets import change_budget
from cupel_core.runs.probing import conversation_calls
from cupel_core.runs.probing.run_allowances import RunAllowances
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, budgets, clients, events, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.run_budgets import run_budget
from tests.started_runs import RATING, RunSetup, ref_of, send_and_receive, slice_message
from tests.unit.runs.probing.test_governed_worker import Sent, sent

__all__ = ["sent"]
LEAF = list(range(20))
PRICE = ModelPrice(None, 1_000.0, 10_000.0)
"""Per million tokens: a call costs about a dollar."""


@pytest.fixture(autouse=True)
def priced(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})


def worker(seconds: float = 600.0) -> Worker:
    return Worker("sim", time.time() + seconds, receive_wait_seconds=0)


def start(max_usd: float, **setup: Any) -> Run:
    parameters = {"scenario_count": 20, "params": {"maxOutputTokens": 50}, **setup}
    return RunSetup(budget=run_budget(max_usd), **parameters).start()


async def work_on(run: Run, indexes: list[int] = LEAF, sent: list[Sent] | None = None) -> Run:
    deliveries = send_and_receive(slice_message(run, indexes))
    if sent is not None:
        sent.clear()
    await worker().run(deliveries)
    return runs.get(ref_of(run))


def recorded_usd(run: Run) -> float:
    return barrier.get_state(Tree.for_run(run)).spend.recorded.priced_usd


@contextmanager
def counted_requests() -> Iterator[list[str]]:
    """The requests to the table for accounts of budgets."""
    events, seen = clients.dynamodb().meta.events, list[str]()

    def note(params: dict[str, Any], model: Any, **_: object) -> None:
        keys = params.get("Key") or params.get("Item") or {}
        if keys.get("sk", {}).get("S") == "budget":
            seen.append(f"budget {model.name}")

    events.register("provide-client-params.dynamodb.*", note)
    yield seen
    events.unregister("provide-client-params.dynamodb.*", note)


def event_types(run: Run) -> list[RunEventType]:
    return [event.type for event in events.list_after(ref_of(run), 0)]


async def test_a_run_within_its_budget_is_charged_what_its_outcomes_cost(finish_starts: list[tuple[str, int]]) -> None:
    run = await work_on(start(1_000.0))
    account = budgets.get(ref_of(run))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=20)
    assert usd(account.used) == pytest.approx(recorded_usd(run))
    assert (account.reserved, account.leases, account.total_uncertain) == (0, {}, 0)


async def test_a_run_whose_budget_is_used_up_is_paused_with_less_than_a_call_left() -> None:
    run = await work_on(start(8.0))
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.BUDGET)
    assert run.budget is not None
    assert recorded_usd(run) <= 8.0
    assert 0 <= budgets.get(ref_of(run)).available(run.budget.limit) < run.budget.needed_nano_usd
    progress = barrier.get_progress(Tree.for_run(run))
    assert 0 < progress.completed < 20
    assert progress.failed == 0


async def test_the_events_of_a_budget_come_once_and_before_the_pause() -> None:
    run = await work_on(start(8.0))
    types = event_types(run)
    assert types[-2:] == [RunEventType.BUDGET, RunEventType.PAUSED]
    assert types.count(RunEventType.PAUSED) == 1
    announced = [event.data for event in events.list_after(ref_of(run), 0) if "percent" in event.data]
    assert [each["percent"] for each in announced] == [80, 100]
    assert announced[-1]["usedPercent"] == pytest.approx(100 * recorded_usd(run) / 8, abs=0.1)
    paused = events.list_after(ref_of(run), 0)[-1].data
    assert paused["maxBudgetUsd"] == 8.0
    assert paused["spentUsd"] == pytest.approx(recorded_usd(run))


async def test_b7_an_exhaustion_is_one_pause_and_a_raise_one_resumption(cloud: Settings) -> None:
    """Although several workers notice the one, and the request of the other is repeated."""
    run = runs.transition(ref_of(start(8.0)), Action.START, utc_now())
    for _ in range(3):
        pause_exhausted_run(run, BudgetAccount(uncertain=8 * 10**9), 10**9, utc_now())
    for _ in range(3):
        change_budget(run.workspace, run.id, 20.0, resume=True, now=utc_now())
    types = event_types(run)
    assert (types.count(RunEventType.PAUSED), types.count(RunEventType.RESUMED)) == (1, 1)


async def test_a_run_is_not_paused_for_a_limit_that_its_worker_knows_to_be_raised() -> None:
    run, needed = start(8.0), 9 * 10**9
    async with RunAllowances("w", time.time() + 600, time.time, on_report=lambda: None) as allowances:
        allowance = allowances.of(run)
        assert allowance is not None
        with pytest.raises(BudgetShortage) as shortage:
            await allowance.reserve(needed)
        assert shortage.value.exhausted is BudgetScope.RUN
        change_budget(run.workspace, run.id, 20.0, resume=False, now=utc_now())
        allowances.of(runs.get(ref_of(run)))
        with pytest.raises(BudgetChanged):
            await allowances.pause_exhausted(run, BudgetScope.RUN, needed)
    assert RunEventType.PAUSED not in event_types(run)


async def test_a_paused_run_leaves_no_message_behind(sent: list[Sent]) -> None:
    await work_on(start(8.0), sent=sent)
    assert sent == []


async def test_a_run_without_a_budget_makes_no_further_request(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    counts = []
    for budget in (None, run_budget(1_000.0)):
        run = RunSetup(scenario_count=20, budget=budget, params={"maxOutputTokens": 50}).start()
        deliveries = send_and_receive(slice_message(run, LEAF))
        with counted_requests() as requests:
            await worker().run(deliveries)
        counts.append([each for each in requests if each.startswith("budget")])
    assert counts[0] == []
    assert 2 <= len(counts[1]) <= 4


async def test_far_from_its_limit_a_run_takes_two_writes_for_a_hundred_probes(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = start(10_000.0, scenario_count=300)
    deliveries = send_and_receive(*(slice_message(run, list(range(n, n + 100)), leaf=n // 100) for n in (0, 100, 200)))
    with counted_requests() as requests:
        await worker().run(deliveries)
    assert barrier.get_progress(Tree.for_run(run)).completed == 300
    assert len([each for each in requests if each == "budget PutItem"]) <= 0.02 * 300


async def test_while_another_worker_has_money_reserved_probes_are_requeued(sent: list[Sent]) -> None:
    run = start(2.0)
    assert run.budget is not None
    other = BudgetReport("other", {}, 0, 0, run.budget.limit, run.budget.limit, time.time() + 150)
    budgets.report(ref_of(run), run.budget.limit, other, time.time())
    run = await work_on(run, sent=sent)
    assert run.status is RunStatus.RUNNING
    assert [(message.probe_slice.indexes, message.delay_seconds) for message in sent] == [(LEAF, 10)]
    assert sent[0].probe_slice.handoffs == sent[0].probe_slice.failures == 0


async def test_a_dead_workers_reservation_is_uncertain_and_the_run_is_paused(sent: list[Sent]) -> None:
    run = start(2.0)
    assert run.budget is not None
    dead = BudgetReport("dead", {}, 0, 0, run.budget.limit, run.budget.limit, time.time() - 1)
    budgets.report(ref_of(run), run.budget.limit, dead, time.time() - 151)
    run = await work_on(run)
    assert run.status is RunStatus.PAUSED
    assert usd(budgets.get(ref_of(run)).total_uncertain) == 2.0


async def test_a_conversation_that_the_budget_stops_goes_on_after_its_last_call(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {**RATING, "followUps": ["And why?", "Are you sure?"]}
    run = await work_on(start(1.0, scenario_count=1, content=content), [0])
    assert run.status is RunStatus.PAUSED
    assert barrier.get_progress(Tree.for_run(run)) == Progress(1)
    assert 0 < usd(budgets.get(ref_of(run)).used) <= 1.0


async def test_judges_and_embeddings_are_charged_too(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    content = {**RATING, "assertions": [{"type": "llm-rubric", "value": "is kind"}]}
    run = await work_on(start(1_000.0, scenario_count=2, content=content, judge_model="sim/steady"), [0, 1])
    spent = budgets.get(ref_of(run)).spent_by_role
    assert spent.keys() == {ModelRole.TARGET, ModelRole.JUDGE}
    assert usd(sum(spent.values())) == pytest.approx(recorded_usd(run))


async def test_a_call_that_is_lost_counts_as_uncertain(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose(account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        raise ProviderError(ProbeErrorCode.TIMEOUT, "no response within 1 s", final=True)

    monkeypatch.setattr(conversation_calls, "ChargedCalls", partial(ChargedCalls, attempt=lose))
    run = await work_on(start(1_000.0, scenario_count=1), [0])
    account = budgets.get(ref_of(run))
    assert (account.spent_by_role, account.total_uncertain > 0) == ({}, True)
