"""The errors of the checks that left answers unscored, of one example for each cause.

They may quote a conversation, so they are not in the counts and are read when they are shown.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.column_totals import MAX_CAUSES, ColumnTotals
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import outcomes, rescore_results

MAX_EXAMPLES = 50
"""Unscored answers whose error is read."""


def unscored_messages(
    ref: RunRef, totals: Iterable[ColumnTotals], now: datetime, rescore_id: str | None = None
) -> dict[int, str]:
    """The errors by probe index, of the run's own scoring or of a rescore; without those that were erased."""
    causes = (cause for each in totals for cause in each.unscored_causes[:MAX_CAUSES])
    indexes = sorted({cause.first_index for cause in causes})[:MAX_EXAMPLES]
    found = _run_scorings(ref, indexes, now) if rescore_id is None else _rescored(ref, rescore_id, indexes, now)
    messages = ((index, scoring.unscored_error if scoring else None) for index, scoring in found.items())
    return {index: message for index, message in messages if message is not None}


def _run_scorings(ref: RunRef, indexes: Sequence[int], now: datetime) -> dict[int, Scoring | None]:
    found = outcomes.get_many(ref, indexes)
    transcripts = ((index, each) for index, each in found.items() if isinstance(each, Transcript))
    return {index: readable_at(each, now).scoring for index, each in transcripts}


def _rescored(ref: RunRef, rescore_id: str, indexes: Sequence[int], now: datetime) -> dict[int, Scoring | None]:
    found = ((index, rescore_results.find(ref, rescore_id, index)) for index in indexes)
    return {index: each.readable_at(now).scoring for index, each in found if each is not None}
