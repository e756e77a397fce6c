"""The progress of a run's targets, read from the table."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from cupel_core.budgets.workspace_budgets import BudgetKey, open_account
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.budgets.periods import BudgetScope, PeriodLimits
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.delays import DelayReason
from cupel_core.domain.runs.pace import Pace
from cupel_core.domain.runs.run import Action, Priority, Run
from cupel_core.domain.runs.run_spend import Cost
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.runs.progress import count_in_flight, get_progress
from cupel_core.store import barrier, budgets, clients, evaluation_settings, governor, keys, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings, settings
from tests.large_runs import counted_requests, start_large_run
from tests.recorded_outcomes import count_outcomes, store_outcomes
from tests.run_budgets import run_budget
from tests.started_runs import NOW, RunSetup, ref_of

LATER = NOW + timedelta(days=1)


def transcript(index: int, code: str = "3", success: bool = True) -> Transcript:
    state = ConversationState((), 1, Usage(30, 12), 12, 0.01, "v1")
    scoring = Scoring(success, 1.0, "as hoped")
    return Transcript(index, f"scn_{index}", "x", NOW, state, scoring=scoring, summary=Summary(code, "", NOW))


def error(index: int, message: str = "no answer", expires: bool = False) -> ProbeError:
    expiry = NOW if expires else None
    return ProbeError(index, f"scn_{index}", "x", ProbeErrorCode.TIMEOUT, message, 4, NOW, content_expires_at=expiry)


def record(run: Run, *results: Outcome) -> None:
    for result in results:
        store_outcomes(run, 1, [result])


@pytest.fixture
def run(cloud: Settings) -> Run:
    started = RunSetup(scenario_count=3, models=("sim/steady", "sim/bold")).start()
    return runs.transition(ref_of(started), Action.START, NOW)


def test_counts_costs_and_results_are_those_of_each_target(run: Run) -> None:
    record(run, transcript(0, "4"), transcript(1, "2", success=False), transcript(3), error(5))
    view = get_progress(run.workspace, run.id, NOW)
    steady, bold = view.columns
    assert (view.spend.of_column(0), view.spend.of_column(1)) == (Cost(20_000_000), Cost(10_000_000))
    assert (steady.counts.completed, steady.counts.errored) == (2, 0)
    assert (steady.sample.pass_rate, steady.sample.mean_decision, steady.sample.tokens) == (0.5, 3.0, 84)
    assert (bold.counts.completed, bold.counts.errored) == (1, 1)
    [cause] = bold.sample.causes
    assert (cause.code, cause.count, cause.message) == ("timeout", 1, "no answer")


def test_the_text_of_an_expired_error_is_not_shown(run: Run) -> None:
    record(run, error(0, "quotes the user", expires=True))
    steady, _ = get_progress(run.workspace, run.id, LATER).columns
    assert steady.sample.causes[0].message == "the text was deleted, or its retention period has ended"


def claim_probes(run: Run, calling: Iterable[int] = ()) -> None:
    """Claim probes 0, 1, 2 and 4; conversations of some of them have begun."""
    until, since = NOW.timestamp() + 30, NOW.timestamp() - 20
    claim = Claim(frozenset({0, 1, 2, 4}), until, since, {index: NOW.timestamp() - 3 for index in calling})
    barrier.acquire(ref_of(run), Node(0, 0), "worker", claim, [0, 1, 2, 4], NOW.timestamp())


def running(run: Run, now: datetime = NOW) -> list[int]:
    return [each.counts.running for each in get_progress(run.workspace, run.id, now).columns]


def test_claimed_probes_run_from_their_first_call_on(run: Run) -> None:
    claim_probes(run)
    assert running(run) == [0, 0]
    claim_probes(run, calling=(0, 1, 4))
    assert running(run) == [2, 1]
    assert running(run, LATER) == [0, 0]


@pytest.mark.parametrize("action", [Action.PAUSE, Action.CANCEL])
def test_calls_in_flight_of_a_stopped_run_are_running_until_they_are_recorded(run: Run, action: Action) -> None:
    claim_probes(run, calling=(0, 4))
    stopped = runs.transition(ref_of(run), action, NOW)
    assert (running(run), count_in_flight(stopped, NOW)) == ([1, 1], 2)
    record(run, transcript(0))
    assert (running(run), count_in_flight(stopped, NOW)) == ([0, 1], 1)


def test_a_run_that_limits_itself_says_so(cloud: Settings) -> None:
    run = RunSetup(scenario_count=6, pace=Pace(2, (200, 400))).start()
    assert delays(run) == [(DelayReason.RUN_LIMIT, None, (200, 400))]
    claim_probes(run, calling=(0, 1))
    assert delays(run) == [(DelayReason.RUN_LIMIT, 2, (200, 400))]


def delays(run: Run) -> list[tuple[DelayReason, int | None, tuple[int, int] | None]]:
    [target] = get_progress(run.workspace, run.id, NOW).columns
    return [(each.reason, each.limit, each.stagger_ms) for each in target.delays]


def test_the_rate_is_that_since_an_earlier_reader(run: Run) -> None:
    assert [each.rate for each in get_progress(run.workspace, run.id, NOW).columns] == [None, None]
    record(run, transcript(0), transcript(1))
    steady, bold = get_progress(run.workspace, run.id, NOW + timedelta(seconds=4)).columns
    assert (steady.rate, steady.eta_seconds) == (0.5, 2.0)
    assert (bold.rate, bold.eta_seconds) == (0.0, None)


def test_a_paused_queue_and_a_suspended_judge_hold_up_a_target(cloud: Settings) -> None:
    started = RunSetup(scenario_count=3, judge_model="openai/gpt-5-mini").start()
    governor.set_paused("ws_a", "openai", True)
    [target] = get_progress("ws_a", started.id, NOW).columns
    assert [(delay.reason, delay.provider) for delay in target.delays] == [(DelayReason.QUEUE_PAUSED, "openai")]


def test_work_of_a_higher_priority_slows_a_run_down(cloud: Settings) -> None:
    started = RunSetup(scenario_count=3).start()
    governor.renew("ws_a", "sim", Limits(10), WorkerReport("w", Priority.HIGH, 30, 0), time.time())
    [target] = get_progress("ws_a", started.id, NOW).columns
    assert [(each.reason, each.provider, each.limit, each.taken_slots) for each in target.delays] == [
        (DelayReason.HIGHER_PRIORITY, "sim", 10, 10)
    ]


def awaited(run: Run, seconds: float = 2.0) -> list[list[BudgetScope | None]]:
    """For each target, the budgets that hold it up."""
    columns = get_progress(run.workspace, run.id, NOW + timedelta(seconds=seconds)).columns
    return [[each.budget for each in column.delays if each.reason is DelayReason.BUDGET] for column in columns]


def needing(worker_id: str, nano_usd: int) -> BudgetReport:
    return BudgetReport(worker_id, {}, 0, 0, nano_usd, 0, NOW.timestamp() + 150)


@pytest.fixture
def budgeted(cloud: Settings) -> Run:
    """Of a dollar, of which one worker has reserved 80 cents and another one needs 50."""
    setup = RunSetup(scenario_count=3, models=("sim/steady", "sim/bold"), budget=run_budget(1.0))
    run = runs.transition(ref_of(setup.start()), Action.START, NOW)
    for worker_id, nano_usd in (("a", 800_000_000), ("b", 500_000_000)):
        budgets.report(ref_of(run), 10**9, needing(worker_id, nano_usd), NOW.timestamp())
    return run


def test_a_budget_of_which_other_workers_have_the_rest_holds_up_all_targets(budgeted: Run) -> None:
    assert awaited(budgeted) == [[BudgetScope.RUN]] * 2
    assert awaited(budgeted, seconds=60) == [[]] * 2
    runs.transition(ref_of(budgeted), Action.PAUSE, NOW)
    assert awaited(budgeted) == [[]] * 2


def test_targets_that_are_free_or_done_wait_for_no_budget(budgeted: Run) -> None:
    free = replace(transcript(0), conversation=replace(transcript(0).conversation, cost_usd=0.0))
    record(budgeted, free, *map(transcript, (3, 4, 5)))
    assert awaited(budgeted) == [[], []]


def test_a_budget_of_the_workspace_holds_up_the_run_that_was_refused(run: Run) -> None:
    other = RunSetup(scenario_count=3).start()
    evaluation_settings.update(run.workspace, {"budget_day_usd": 1.0})
    day = PeriodLimits(1.0).day_at(NOW.timestamp())
    for of_run, worker_id, nano_usd in ((other, "a", 800_000_000), (run, "b", 500_000_000)):
        account = open_account(BudgetKey(run.workspace, ref_of(of_run), None, day))
        asyncio.run(account.report(0, needing(worker_id, nano_usd), NOW.timestamp()))
    assert (awaited(run), awaited(other)) == ([[BudgetScope.DAY]] * 2, [[]])


def test_a_run_before_its_first_probe_has_only_totals(cloud: Settings) -> None:
    started = RunSetup(scenario_count=3).start()
    governor.renew("ws_a", "sim", Limits(10), WorkerReport("w", Priority.NORMAL, 1, 0), NOW.timestamp())
    [target] = get_progress("ws_a", started.id, NOW).columns
    assert (target.counts.total, target.counts.recorded, target.sample.completed, target.delays) == (3, 0, 0, ())


def test_a_run_of_a_million_is_read_in_few_requests(cloud: Settings) -> None:
    started = start_large_run(500_000, models=("sim/steady", "sim/bold"))
    _store_full_nodes(started, count=60)
    _store_full_leaves(started, [*range(4_975, 5_000), *range(5_975, 6_000)])
    with counted_requests() as requests:
        view = get_progress("ws_a", started.id, NOW)
    assert [each.counts.completed for each in view.columns] == [500_000 - 50 * 100, 100_000 - 10 * 100]
    assert [each.counts.errored for each in view.columns] == [50 * 100, 10 * 100]
    assert requests.count("Query") == 1 + 40, "the nodes of level 1, and the leaves of those that are not full"
    assert requests.count("BatchGetItem") <= 1 + 6 + 1, "the newest leaves with errors, the sample, and the accounts"
    assert len(requests) <= 41 + 8 + 4


def _store_full_nodes(run: Run, count: int) -> None:
    """Nodes of level 1, each full, with one errored probe per leaf."""
    members = {"NS": [str(1 * 100 + position) for position in range(100)]}
    for number in range(count):
        pk = keys.barrier_nodes(ref_of(run), Node(1, number), 1)
        item: Any = {"pk": {"S": pk}, "sk": {"S": keys.barrier_node(number)}, "members": members}
        clients.dynamodb().put_item(TableName=settings().table_name, Item=item)


def _store_full_leaves(run: Run, numbers: list[int]) -> None:
    for number in numbers:
        outcomes_of_leaf = {number * 100 + offset: offset < 99 for offset in range(100)}
        count_outcomes(Tree.for_run(run), Node(0, number), outcomes_of_leaf)
