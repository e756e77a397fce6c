from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, Page, decode_index, encode_cursor
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.scoring.rescores import Rescore, RescoreResultView, RescoreView
from cupel_core.runs.probe_ranges import probe_ranges
from cupel_core.store import budgets, rescore_results, rescores, runs, snapshots
from cupel_core.store.budgets import RescoreRef


def get_rescore(workspace: str, run_id: str, rescore_id: str) -> RescoreView:
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    return rescore_view(rescores.get(ref, rescore_id))


def list_rescores(workspace: str, run_id: str, limit: int, cursor: str | None) -> Page[RescoreView]:
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    page = rescores.list_rescores(ref, limit, cursor)
    budgeted = [each for each in page.items if each.max_budget_usd is not None]
    accounts = budgets.get_of_rescores(RescoreRef(ref, each.id) for each in budgeted)
    return page.map(lambda each: _view(each, accounts.get(RescoreRef(ref, each.id))))


def list_results(
    workspace: str,
    run_id: str,
    rescore_id: str,
    *,
    model: str | None,
    prompt_id: str | None,
    limit: int,
    cursor: str | None,
    now: datetime,
) -> Iterator[Entry[RescoreResultView]]:
    """Yield the stored results by probe index, lazily, about `limit` at a time."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    rescores.get(ref, rescore_id)
    ranges = probe_ranges(run.plan, model, prompt_id, decode_index(cursor))
    stored = chain.from_iterable(
        rescore_results.list_range(ref, rescore_id, indexes, page_size=limit + 1) for indexes in ranges
    )
    return (
        Entry(
            encode_cursor(str(result.index)),
            RescoreResultView(
                result.readable_at(now),
                run.plan.column_of(result.index),
                snapshots.get_case(run.snapshot_key, run.plan.probe(result.index).case).scenario_name,
            ),
        )
        for result in stored
    )


def rescore_view(rescore: Rescore) -> RescoreView:
    owner = RescoreRef(RunRef(rescore.workspace, rescore.run_id), rescore.id)
    return _view(rescore, None if rescore.max_budget_usd is None else budgets.get(owner))


def _view(rescore: Rescore, account: BudgetAccount | None) -> RescoreView:
    return RescoreView(rescore, rescores.get_counts(rescore), account)
