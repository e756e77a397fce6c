"""What readers see of a run's scorings."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.rescores import Rescored, Rescoring, Tally
from cupel_core.errors import Invalid
from cupel_core.messages import RunRef
from cupel_core.paging import Page, decode_index, encode_cursor
from cupel_core.store import rescore_results, rescores, runs


class RescoringView(NamedTuple):
    rescoring: Rescoring
    tally: Tally


def get(workspace: str, run_id: str, scoring_id: str) -> RescoringView:
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    return view(rescores.get(ref, scoring_id))


def listed(workspace: str, run_id: str, limit: int, cursor: str | None) -> Page[RescoringView]:
    """Newest first."""
    ref = RunRef(workspace, run_id)
    runs.get(ref)
    page = rescores.listed(ref, limit, cursor)
    return Page(tuple(map(view, page.items)), page.next_cursor)


def results(
    workspace: str, run_id: str, scoring_id: str, *, model: str | None, limit: int, cursor: str | None
) -> Page[Rescored]:
    """By probe index, those that there are so far."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    rescores.get(ref, scoring_id)
    ranges = ranges_of(run.plan, model, decode_index(cursor))
    found = list(
        islice(chain.from_iterable(rescore_results.in_range(ref, scoring_id, each) for each in ranges), limit + 1)
    )
    return Page(tuple(found[:limit]), encode_cursor(str(found[limit].index)) if len(found) > limit else None)


def view(rescoring: Rescoring) -> RescoringView:
    return RescoringView(rescoring, rescores.tally(rescoring))


def ranges_of(plan: Plan, model: str | None, start: int = 0) -> Iterator[range]:
    """The indexes of one model, or of all, from here, ascending."""
    if model is not None and model not in plan.targets:
        raise Invalid.field("model", f"must be one of the run's models: {', '.join(plan.targets)}")
    spans = (range(plan.total),) if model is None else plan.target_ranges(plan.targets.index(model))
    return (range(max(span.start, start), span.stop) for span in spans if span.stop > start)
