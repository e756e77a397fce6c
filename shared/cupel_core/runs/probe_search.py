"""The search for probes: in many runs by common properties, or in one run by the words of its conversations.

Probes are not stored one by one, so a list of probes iterates over the runs that may match and computes their probes,
oldest first as in a queue or newest first for people. A page that has scanned many runs without a match ends early with
a cursor.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import batched, chain, islice
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import ANY_TIME, DEFAULT_LIMIT, Creation, Entry, decode_cursor, encode_cursor, parse_index
from cupel_core.domain.runs.excerpts import DEFAULT_CHARACTERS, Excerpt, contains_words, excerpt_of
from cupel_core.domain.runs.probe_columns import PROBES_PER_BLOCK
from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.runs.views import ProbeView
from cupel_core.resources import references
from cupel_core.runs.probes import MAX_PROBES, probe_statuses, with_conversations
from cupel_core.store import outcomes, runs, snapshots

_RUNS_PER_PAGE = 50
_RUNS_PER_READ = 10
MAX_WORDS = 10


@dataclass(frozen=True)
class ProbeFilter:
    eval_id: str | None = None
    scenario_id: str | None = None
    persona_id: str | None = None
    status: ProbeStatus | None = None
    created: Creation = ANY_TIME


class _Position(NamedTuple):
    """The place where a page starts: in the run after `run_cursor`, at this probe (None: at its first)."""

    run_cursor: str | None
    probe_index: int | None

    def encode(self) -> str:
        return encode_cursor(f"{self.run_cursor or ''} {'' if self.probe_index is None else self.probe_index}")


def search_probes(
    workspace: str, probe_filter: ProbeFilter, now: datetime, limit: int = DEFAULT_LIMIT, cursor: str | None = None
) -> Iterator[Entry[ProbeView]]:
    """Yield matching probes with their conversations, lazily. It may end before `limit`, even without any probe."""
    run_cursor, start = _decode_position(cursor)
    if probe_filter.scenario_id is not None:
        # It raises for an unknown scenario.
        references.resolve_definition_id(workspace, None, [probe_filter.scenario_id])
    budget = MAX_PROBES
    for _ in range(_RUNS_PER_PAGE // _RUNS_PER_READ):
        page = runs.list_runs(
            workspace,
            eval_id=probe_filter.eval_id,
            limit=_RUNS_PER_READ,
            cursor=run_cursor,
            created=probe_filter.created,
        )
        for run in page.items:
            candidates = list(islice(_candidates_from(run, probe_filter, start), budget + 1))
            statuses = probe_statuses(run, candidates[:budget], now)
            matching = (probe for probe in statuses if probe_filter.status in (None, probe.status))
            for batch in batched(matching, limit + 1):
                for view in with_conversations(run, batch, now):
                    yield Entry(_Position(run_cursor, view.index).encode(), view)
            if len(candidates) > budget:
                yield Entry(_Position(run_cursor, candidates[budget]).encode(), None)
                return
            budget -= len(candidates)
            start, run_cursor = None, runs.cursor_after(run)
        if page.next_cursor is None:
            return
        run_cursor = page.next_cursor
        if len(page.items) < _RUNS_PER_READ:
            break
    yield Entry(_Position(run_cursor, None).encode(), None)


def _candidates_from(run: Run, probe_filter: ProbeFilter, start: int | None) -> Iterator[int]:
    step = 1 if probe_filter.created.oldest_first else -1
    indexes = _candidates(run, probe_filter)
    ordered: Iterable[int] = indexes if probe_filter.created.oldest_first else reversed(indexes)
    return (index for index in ordered if start is None or index * step >= start * step)


def _candidates(run: Run, probe_filter: ProbeFilter) -> Sequence[int]:
    if probe_filter.scenario_id is None and probe_filter.persona_id is None:
        return range(run.plan.total)
    try:
        snapshot = snapshots.get(run.snapshot_key)
    except NotFound:
        return ()
    cases: Iterable[int] = range(run.plan.cases)
    if probe_filter.scenario_id is not None:
        cases = snapshot.cases(probe_filter.scenario_id)
    if probe_filter.persona_id is not None:
        ids = [persona.id for persona in snapshot.personas]
        number = ids.index(probe_filter.persona_id) if probe_filter.persona_id in ids else None
        by_case = snapshot.case_personas
        cases = (case for case in cases if number is not None and by_case and by_case[case] == number)
    return sorted(chain.from_iterable(map(run.plan.case_indexes, cases)))


def _decode_position(cursor: str | None) -> _Position:
    if cursor is None:
        return _Position(None, None)
    run_cursor, space, index = decode_cursor(cursor).partition(" ")
    if not space:
        raise Invalid.field("cursor", "must be the nextCursor of an earlier page of this list")
    return _Position(run_cursor or None, parse_index(index) if index else None)


class Matches(NamedTuple):
    """The probes found, and where the search continues, which is None at the end of the run."""

    indexes: Sequence[int]
    next_index: int | None


def list_excerpts(
    workspace: str, run_id: str, indexes: Sequence[int], now: datetime, characters: int = DEFAULT_CHARACTERS
) -> Iterator[Excerpt]:
    """Yield excerpts, ascending, without probes that have no outcome. Raise Invalid for an index beyond the run."""
    run = runs.get(RunRef(workspace, run_id))
    if beyond := [index for index in indexes if not 0 <= index < run.plan.total]:
        raise Invalid.field("indexes", f"must be from 0 to {run.plan.total - 1:,}: the run has no probe {beyond[0]}")
    found = outcomes.list_outcomes(_ref(run), sorted(set(indexes)))
    return (excerpt_of(readable_at(outcome, now), characters) for outcome in found)


def find_matches(
    workspace: str, run_id: str, first: int, query: str, now: datetime, has_time: Callable[[], bool]
) -> Matches:
    """Search the conversations of up to 1,000 probes from `first` on, of at least one even without time for more."""
    run, words = runs.get(RunRef(workspace, run_id)), tuple(dict.fromkeys(query.casefold().split()))
    if not 1 <= len(words) <= MAX_WORDS:
        raise Invalid.field("q", f"must have 1 to {MAX_WORDS} words")
    indexes = range(first, min(first + PROBES_PER_BLOCK, run.plan.total))
    found: list[int] = []
    for number, outcome in enumerate(outcomes.list_outcomes(_ref(run), indexes)):
        if number and not has_time():
            return Matches(found, outcome.probe_index)
        readable = readable_at(outcome, now)
        if isinstance(readable, Transcript) and contains_words(readable.messages, words):
            found.append(readable.probe_index)
    return Matches(found, indexes.stop if indexes.stop < run.plan.total else None)


def _ref(run: Run) -> RunRef:
    return RunRef(run.workspace, run.id)
