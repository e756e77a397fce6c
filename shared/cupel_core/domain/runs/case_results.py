"""Tabulates the results of a run: a row per case, and a cell per column (a target, asked by one of the prompts)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.plan import Column, Plan, ProbePosition
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript
from cupel_core.domain.statistics import mean


@dataclass(frozen=True)
class CellResults:
    column: Column
    missing: int
    completed: int
    errors: Mapping[str, int]
    judged: int
    passed: int
    mean_score: float | None
    decisions: Mapping[str, int]
    best: int


@dataclass(frozen=True)
class CaseResults:
    index: int
    case: CaseView
    cells: tuple[CellResults, ...]
    """The cells are in the order of the plan's columns."""


def cell_indexes(plan: Plan, case: int, column: int) -> range:
    first = plan.index(ProbePosition(case, column, 0))
    return range(first, first + plan.repeats)


def cell_results(
    column: Column, indexes: Sequence[int], outcomes: Mapping[int, Outcome], winners: Collection[int]
) -> CellResults:
    """Return the cell; `outcomes` and `winners` of selections, by probe index, may include those of other cells."""
    found = [outcomes[index] for index in indexes if index in outcomes]
    transcripts = [outcome for outcome in found if isinstance(outcome, Transcript)]
    results = [transcript.result for transcript in transcripts if transcript.result]
    return CellResults(
        column=column,
        missing=len(indexes) - len(found),
        completed=len(transcripts),
        errors=Counter(str(outcome.code) for outcome in found if isinstance(outcome, ProbeError)),
        judged=len(results),
        passed=sum(result.success for result in results),
        mean_score=mean([result.score for result in results if result.score is not None]),
        decisions=Counter(_decisions(transcripts)),
        best=sum(index in winners for index in indexes),
    )


def _decisions(transcripts: Iterable[Transcript]) -> list[str]:
    return sorted(transcript.summary.decision_code for transcript in transcripts if transcript.summary)
