from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import batched
from operator import itemgetter
from typing import NamedTuple

from cupel_core.analysis.tabulate import counted_inputs, file_ranges, find_available
from cupel_core.base.errors import NotFound, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.barrier import FANOUT, leaf_batches
from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.runs.views import ProbeView
from cupel_core.interop.openai_evals import runs
from cupel_core.runs import probes, queries
from cupel_core.runs.probes import IndexedStatus, build_views, probe_statuses
from cupel_core.store import outcomes, snapshots

PASS, FAIL, ERROR = "pass", "fail", "error"
_WITH_OUTCOME = (ProbeStatus.COMPLETED, ProbeStatus.ERROR)


class EvalOutputItem(NamedTuple):
    view: ProbeView
    content: Content

    @property
    def status(self) -> str:
        outcome = self.view.outcome
        return ERROR if outcome is None else _status_of(outcome)


def list_items(
    workspace: str,
    eval_id: str,
    run_id: str,
    after: str | None,
    *,
    newest_first: bool,
    status: str | None,
    now: datetime,
    has_time: Callable[[], bool],
) -> Iterator[EvalOutputItem]:
    """Yield the items after `after`, by index; read lazily. Raises RetryableError without time to find the next one."""
    run = runs.find(workspace, eval_id, run_id)
    content, indexes = _content(run), _indexes(workspace, run, after, newest_first=newest_first)
    for window in _windows(run, indexes, status, has_time):
        found = (each for each in probe_statuses(run, window, now) if each.status in _WITH_OUTCOME)
        for batch in batched(found, FANOUT):
            matching = sorted(batch if status is None else _with_status(run, batch, status), key=itemgetter(0))
            views = [EvalOutputItem(view, content) for view in build_views(run, matching, now)]
            yield from views[::-1] if newest_first else views


def get(workspace: str, eval_id: str, run_id: str, item_id: str, now: datetime) -> EvalOutputItem:
    """Return an item. Raises NotFound if it is unknown or of another run, or has no outcome."""
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


def _windows(run: Run, indexes: range, status: str | None, has_time: Callable[[], bool]) -> Iterator[list[int]]:
    parts: Iterable[Iterable[int]] = (indexes,) if status is None else _candidates(run, indexes, status, has_time)
    for part in parts:
        for window in leaf_batches(part, FANOUT):
            if not has_time():
                raise _no_time()
            yield window


def _candidates(run: Run, indexes: range, status: str, has_time: Callable[[], bool]) -> Iterator[list[int]]:
    """Yield the indexes of the probes that may have the status, by the counts of their cells.

    Without repeats, these are the probes that have it. A million probes have a hundred count files.
    """
    inputs, total, repeats = counted_inputs(run), run.plan.total, run.plan.repeats
    ranges = file_ranges(total)
    for leaves in ranges if indexes.step > 0 else ranges[::-1]:
        if not (part := _overlap(indexes, leaves.indexes(total))):
            continue
        counts = find_available(inputs, leaves, has_time)
        if counts is None:
            raise _no_time()
        yield [index for index in part if _count_of(status, counts.cell(index // repeats))]


def _overlap(indexes: range, covered: range) -> range:
    ascending = indexes if indexes.step > 0 else indexes[::-1]
    part = range(max(ascending.start, covered.start), min(ascending.stop, covered.stop))
    return part if indexes.step > 0 else part[::-1]


def _count_of(status: str, cell: Cell) -> int:
    match status:
        case "pass":
            return cell.passed
        case "fail":
            return cell.judged - cell.passed
    return cell.errored + cell.completed - cell.judged


def _with_status(run: Run, probes: Sequence[IndexedStatus], status: str) -> list[IndexedStatus]:
    digests = outcomes.list_digests(RunRef(run.workspace, run.id), [probe.probe_index for probe in probes])
    matching = {each.probe_index for each in digests if _status_of(each) == status}
    return [probe for probe in probes if probe.probe_index in matching]


def _status_of(outcome: Outcome) -> str:
    result = outcome.result if isinstance(outcome, Transcript) else None
    if result is None:
        return ERROR
    return PASS if result.success else FAIL


def _no_time() -> RetryableError:
    return RetryableError("there was no time to find the next output item; try again")


def _content(run: Run) -> Content:
    return Content.from_json(snapshots.get_definition(run.snapshot_key) or {})
