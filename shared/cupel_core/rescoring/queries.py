"""Rescores of a run, and their results, as readers see them."""

from datetime import datetime
from itertools import chain, islice

from cupel_core.domain.scoring.rescores import Rescore, RescoreResult, RescoreView
from cupel_core.messages import RunRef
from cupel_core.paging import Page, decode_index, encode_cursor
from cupel_core.probe_ranges import probe_ranges
from cupel_core.store import rescore_results, rescores, runs


def get_rescore(workspace: str, run_id: str, rescore_id: str) -> RescoreView:
    """NotFound for an unknown or deleted run, and for an unknown rescore."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    return rescore_view(rescores.get(ref, rescore_id))


def list_rescores(workspace: str, run_id: str, limit: int, cursor: str | None) -> Page[RescoreView]:
    """Newest first."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    page = rescores.list_rescores(ref, limit, cursor)
    return Page(tuple(map(rescore_view, page.items)), page.next_cursor)


def list_results(
    workspace: str, run_id: str, rescore_id: str, *, model: str | None, limit: int, cursor: str | None, now: datetime
) -> Page[RescoreResult]:
    """By probe index, as far as they are stored."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    rescores.get(ref, rescore_id)
    ranges = probe_ranges(run.plan, model, decode_index(cursor))
    stored = chain.from_iterable(rescore_results.list_range(ref, rescore_id, indexes) for indexes in ranges)
    results = [result.readable_at(now) for result in islice(stored, limit + 1)]
    return Page(tuple(results[:limit]), encode_cursor(str(results[limit].index)) if len(results) > limit else None)


def rescore_view(rescore: Rescore) -> RescoreView:
    return RescoreView(rescore, rescores.get_counts(rescore))
