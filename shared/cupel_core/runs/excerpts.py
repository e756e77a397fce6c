"""Excerpts of a run's conversations, and the search for words in them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.excerpts import Excerpt, contains_words, excerpt_of
from cupel_core.domain.runs.probe_columns import PROBES_PER_BLOCK
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.store import outcomes, runs

MAX_WORDS = 10
"""Of a search."""


class Matches(NamedTuple):
    """The probes found, and where the search goes on; None at the end of the run."""

    indexes: Sequence[int]
    next_index: int | None


def list_excerpts(workspace: str, run_id: str, indexes: Sequence[int], now: datetime) -> Iterator[Excerpt]:
    """Ascending, without probes that have no outcome. Raises Invalid for an index that the run does not have."""
    run = runs.get(RunRef(workspace, run_id))
    if beyond := [index for index in indexes if not 0 <= index < run.plan.total]:
        raise Invalid.field("indexes", f"must be from 0 to {run.plan.total - 1:,}: the run has no probe {beyond[0]}")
    found = outcomes.list_outcomes(_ref(run), sorted(set(indexes)))
    return (excerpt_of(readable_at(outcome, now)) for outcome in found)


def find_matches(
    workspace: str, run_id: str, first: int, query: str, now: datetime, has_time: Callable[[], bool]
) -> Matches:
    """Search the conversations of up to 1,000 probes from `first` on; fewer, but at least one, if there is no time for
    more."""
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
