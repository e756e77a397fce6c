"""Probes of many runs in one list: oldest first as a queue does, newest first for people.

No item is kept per probe, so the list goes through the runs that may have what is asked for and computes their probes.
A page that has looked at many runs in vain ends early and says where the next goes on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.errors import Invalid, NotFound
from cupel_core.paging import DEFAULT_LIMIT, Page, decode_cursor, encode_cursor
from cupel_core.resources import references
from cupel_core.runs.probes import ProbeView, standing, whole
from cupel_core.runs.queries import MOST_CHARACTERS, characters
from cupel_core.store import runs, snapshots

_RUNS_PER_PAGE = 50
_RUNS_PER_READ = 10
_MOST_LOOKED = 100_000
"""Probes that a page looks at: a run of a million in which nothing is wanted must not cost the time of a request."""


@dataclass(frozen=True)
class Wanted:
    """What the probes of a list have in common; None is no condition."""

    eval_id: str | None = None
    scenario_id: str | None = None
    persona_id: str | None = None
    status: ProbeStatus | None = None
    oldest_first: bool = False


def listed(
    workspace: str, wanted: Wanted, now: datetime, limit: int = DEFAULT_LIMIT, cursor: str | None = None
) -> Page[ProbeView]:
    after, start = _place(cursor)
    definition_id = _definition_of(workspace, wanted.scenario_id)
    views: list[ProbeView] = []
    budget = _MOST_LOOKED
    for _ in range(_RUNS_PER_PAGE // _RUNS_PER_READ):
        page = runs.listed(
            workspace,
            eval_id=wanted.eval_id,
            definition_id=definition_id,
            limit=_RUNS_PER_READ,
            cursor=after,
            oldest_first=wanted.oldest_first,
        )
        for run in page.items:
            looked = list(islice(_following(run, wanted, start), budget + 1))
            chosen = (each for each in standing(run, looked[:budget], now) if wanted.status in (None, each[1]))
            for view in whole(run, list(islice(chosen, limit - len(views) + 1))):
                if len(views) == limit or _size(views) > MOST_CHARACTERS:
                    return Page(tuple(views), _cursor(after, view.index))
                views.append(view)
            if len(looked) > budget:
                return Page(tuple(views), _cursor(after, looked[budget]))
            budget -= len(looked)
            start, after = None, runs.cursor_of(run)
        if page.next_cursor is None:
            return Page(tuple(views))
    return Page(tuple(views), _cursor(after, None))


def _following(run: Run, wanted: Wanted, start: int | None) -> Iterator[int]:
    """The probes of a run that may be wanted, in the list's order, from `start` on."""
    step = 1 if wanted.oldest_first else -1
    indexes = _indexes(run, wanted)
    ordered: Iterable[int] = indexes if wanted.oldest_first else reversed(indexes)
    return (index for index in ordered if start is None or index * step >= start * step)


def _size(views: Iterable[ProbeView]) -> int:
    return sum(characters(view.held) for view in views if view.held)


def _indexes(run: Run, wanted: Wanted) -> Sequence[int]:
    if wanted.scenario_id is None and wanted.persona_id is None:
        return range(run.plan.total)
    try:
        snapshot = snapshots.get(run.snapshot_key)
    except NotFound:
        return ()
    cases: Iterable[int] = range(run.plan.cases)
    if wanted.scenario_id is not None:
        cases = snapshot.cases(wanted.scenario_id)
    if wanted.persona_id is not None:
        number = next((n for n, each in enumerate(snapshot.personas) if each.id == wanted.persona_id), None)
        cases = (case for case in cases if number is not None and snapshot.cast and snapshot.cast[case] == number)
    return sorted(chain.from_iterable(map(run.plan.case_indexes, cases)))


def _definition_of(workspace: str, scenario_id: str | None) -> str | None:
    """A scenario's runs are those of its definition; a fork that inherited it is not looked through."""
    return None if scenario_id is None else references.definition_of(workspace, None, [scenario_id])


def _cursor(after: str | None, start: int | None) -> str:
    return encode_cursor(f"{after or ''} {'' if start is None else start}")


def _place(cursor: str | None) -> tuple[str | None, int | None]:
    """(the run before, the probe to begin at)."""
    if cursor is None:
        return None, None
    after, space, start = decode_cursor(cursor).partition(" ")
    if not space or not (start == "" or start.isdigit()):
        raise Invalid.field("cursor", "is not one that this list gave")
    return after or None, int(start) if start else None
