"""The stored analyses of the runs that had a target: what it did in all of them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple

from cupel_core.analysis.queries import NewestAnalysis, get_newest
from cupel_core.base.errors import Invalid
from cupel_core.base.paging import MAX_LIMIT
from cupel_core.domain.analysis.records import AnalysisStatus
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.store import analyses, definitions, runs

MAX_EXAMINED_RUNS = 500
"""The newest ones of the workspace, or of the definition."""
_READERS = 8


class ProfiledRun(NamedTuple):
    run: Run
    is_stale: bool
    document: bytes
    """The figures as JSON."""


def list_profiled_runs(workspace: str, target: str, definition_id: str | None, limit: int) -> list[ProfiledRun]:
    """The newest runs with an analysis that had this target, by its id or its model; newest first.

    Raises Invalid for a definition that the workspace never had.
    """
    if definition_id is not None and definitions.find(workspace, definition_id) is None:
        raise Invalid.field("definitionId", f"there is no definition {definition_id}")
    found = list(islice(_runs_of(workspace, target, definition_id), limit))
    analyzed = [(run, newest) for run, newest in zip(found, get_newest(found), strict=True) if newest is not None]
    completed = [each for each in analyzed if each[1].record.status is AnalysisStatus.COMPLETED]
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(_read, *zip(*completed, strict=True))) if completed else []


def _read(run: Run, newest: NewestAnalysis) -> ProfiledRun:
    return ProfiledRun(run, newest.stale_reason is not None, analyses.read_document(newest.record))


def _runs_of(workspace: str, target: str, definition_id: str | None) -> Iterator[Run]:
    """Those that have ended."""
    cursor: str | None = None
    for _ in range(MAX_EXAMINED_RUNS // MAX_LIMIT):
        page = runs.list_runs(workspace, definition_id=definition_id, limit=MAX_LIMIT, cursor=cursor)
        yield from (run for run in page.items if run.status in TERMINAL and run.plan.columns_of(target))
        cursor = page.next_cursor
        if cursor is None:
            return
