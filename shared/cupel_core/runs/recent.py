"""The probes of a run that ended most recently."""

from collections.abc import Iterable
from datetime import UTC, datetime

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.column_progress import LeafCounts
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.views import ProbeView
from cupel_core.runs.probes import build_views, probe_statuses
from cupel_core.store import barrier
from cupel_core.store.barrier import LeafItem, Tree

_MAX_LEAVES = 20
"""Whose times are compared: those that are not full, as workers are busy with them, and the last ones."""
_NEVER = datetime.min.replace(tzinfo=UTC)


def list_recent(run: Run, limit: int, now: datetime) -> list[ProbeView]:
    """At most `limit`, latest first. Probes of a leaf that was written to long ago may be missing."""
    ref = RunRef(run.workspace, run.id)
    leaves = barrier.get_leaves(ref, _candidates(barrier.read_leaves(Tree.for_run(run)).leaves))
    recorded = list[int]()
    for number, leaf in sorted(leaves.items(), key=lambda item: item[1].recorded_at or _NEVER, reverse=True):
        if len(recorded) >= limit:
            break
        recorded += _recorded(number, leaf)
    views = build_views(run, list(probe_statuses(run, sorted(recorded), now)), now)
    ended = [view for view in views if view.outcome is not None]
    return sorted(ended, key=lambda view: view.completed_at or _NEVER, reverse=True)[:limit]


def _candidates(leaves: Iterable[LeafCounts]) -> list[int]:
    listed = list(leaves)
    unfinished = [leaf.number for leaf in listed if leaf.completed + leaf.failed < FANOUT]
    last = [leaf.number for leaf in listed[-_MAX_LEAVES:]]
    return sorted({*unfinished[:_MAX_LEAVES], *last})


def _recorded(number: int, leaf: LeafItem) -> list[int]:
    return [number * FANOUT + offset for offset in leaf.leaf.completed | leaf.leaf.failed]
