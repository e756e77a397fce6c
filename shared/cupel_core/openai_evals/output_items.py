"""Output items: the probes of a run that have an outcome."""

from collections.abc import Iterator
from datetime import datetime
from itertools import batched
from typing import NamedTuple

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.domain.runs.views import ProbeView
from cupel_core.errors import NotFound
from cupel_core.openai_evals import runs
from cupel_core.runs import probes, queries
from cupel_core.runs.probes import build_views, probe_statuses
from cupel_core.store import snapshots

MAX_EXAMINED = 10_000
"""Outcomes per request: a rare result must not make it read all of a run."""
PASS, FAIL, ERROR = "pass", "fail", "error"
_WITH_OUTCOME = (ProbeStatus.COMPLETED, ProbeStatus.ERROR)


class EvalOutputItem(NamedTuple):
    view: ProbeView
    content: Content
    """The definition's when the run started."""

    @property
    def status(self) -> str:
        """`error` if there is no answer, or if it could not be graded."""
        transcript = self.view.transcript
        result = transcript.result if transcript else None
        if result is None:
            return ERROR
        return PASS if result.success else FAIL


def list_items(
    workspace: str,
    eval_id: str,
    run_id: str,
    after: str | None,
    *,
    newest_first: bool,
    status: str | None,
    now: datetime,
) -> Iterator[EvalOutputItem]:
    """The items after `after`, by index; read lazily, at most MAX_EXAMINED."""
    run = runs.find(workspace, eval_id, run_id)
    content, indexes = _content(run), _indexes(workspace, run, after, newest_first=newest_first)
    examined = 0
    for window in batched(indexes, FANOUT):
        statuses = [each for each in probe_statuses(run, sorted(window), now) if each.status in _WITH_OUTCOME]
        views = [EvalOutputItem(view, content) for view in build_views(run, statuses, now)]
        yield from (item for item in (views[::-1] if newest_first else views) if status in (None, item.status))
        examined += len(views)
        if examined >= MAX_EXAMINED:
            return


def get(workspace: str, eval_id: str, run_id: str, item_id: str, now: datetime) -> EvalOutputItem:
    """NotFound for an unknown item, one of another run, and a probe without an outcome."""
    run = runs.find(workspace, eval_id, run_id)
    view = probes.get_probe(workspace, item_id, now) if item_id.startswith(f"{run_id}-") else None
    if view is None or view.outcome is None:
        raise NotFound(f"run {run_id} has no output item {item_id}")
    return EvalOutputItem(view, _content(run))


def _indexes(workspace: str, run: Run, after: str | None, *, newest_first: bool) -> range:
    if after is None:
        start = run.plan.total - 1 if newest_first else 0
    else:
        located = queries.find_probe(workspace, after)
        if located is None or located[0].id != run.id:
            raise NotFound(f"run {run.id} has no output item {after}")
        start = located[1] + (-1 if newest_first else 1)
    return range(start, -1, -1) if newest_first else range(start, run.plan.total)


def _content(run: Run) -> Content:
    return Content.from_json(snapshots.get_definition(run.snapshot_key) or {})
