"""Counts an outcome that is in memory into figures that contain nothing that was said.

`store/counted_outcomes.py` reads the same figures from stored outcomes.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.spend import ModelCalls
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.scoring import check_results
from cupel_core.domain.scoring.unscored import UnscoredCause


class CountedCost(NamedTuple):
    kind: str
    calls: int
    usd: float | None
    input_tokens: int = 0
    output_tokens: int = 0
    models: Mapping[str, ModelCalls] = {}
    """Usage by model is recorded for calls of all roles but the target."""
    uncertain_usd: float = 0.0
    """Calls without an answer may have cost up to this much more."""
    cached_usd: float | None = 0.0
    """Answers from a cache cost this much when they were made; it is None if a price is unknown."""


class CountedOutcome(NamedTuple):
    probe_index: int
    is_completed: bool
    code: str | None = None
    """The decision is `1`-`5`; anything else counts as `other`."""
    success: bool | None = None
    """None if nothing was judged, or if the judgment could not be computed."""
    score: float | None = None
    cause: UnscoredCause | None = None
    """The cause says why a weighted assertion could not be computed; None if all were, or if a user corrected the
    result."""
    metrics: Mapping[str, float] = {}
    metric_weights: Mapping[str, float] = {}
    """A metric whose results have weights that sum to 1 has no entry."""
    tags: Sequence[str] = ()
    duration_ms: int = 0
    turns: int = 0
    turn_durations_ms: Sequence[int] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    model_version: str | None = None
    error_code: str | None = None
    costs: Sequence[CountedCost] = ()
    checks: Mapping[str, bool | None] = {}
    """None for an assertion that could not be computed."""
    is_cut: bool = False
    left_out: Mapping[str, int] = {}
    """Checks that the scenario's import left out are counted by type; it is empty if a user corrected the result."""
    is_cached: bool = False
    """An answer of the target came from a cache, so its time is that of the original call."""
    omitted_parameters: Sequence[str] = ()

    @property
    def is_unscored(self) -> bool:
        return self.cause is not None


def counted_outcome(outcome: Outcome) -> CountedOutcome:
    costs = _costs(outcome.spending)
    if not isinstance(outcome, Transcript):
        return CountedOutcome(outcome.probe_index, is_completed=False, error_code=outcome.code, costs=costs)
    state, scoring, result = outcome.conversation, outcome.scoring, outcome.result
    return CountedOutcome(
        probe_index=outcome.probe_index,
        is_completed=True,
        code=outcome.summary.decision_code if outcome.summary else None,
        success=result.success if result else None,
        score=result.score if result else None,
        cause=scoring.cause if scoring and outcome.correction is None else None,
        metrics=scoring.metrics if scoring else {},
        metric_weights=scoring.metric_weights if scoring else {},
        tags=scoring.tags if scoring else (),
        duration_ms=state.duration_ms,
        turns=state.turns,
        turn_durations_ms=state.turn_durations_ms,
        input_tokens=state.usage.input_tokens,
        output_tokens=state.usage.output_tokens,
        model_version=state.model_version,
        costs=costs,
        checks=check_results(scoring.results) if scoring else {},
        left_out=scoring.left_out if scoring and outcome.correction is None else {},
        is_cached=state.cached_turns > 0,
        is_cut=end_of(state.finish_reason) is ReplyEnd.CUT,
        omitted_parameters=state.omitted_parameters,
    )


def _costs(spending: Spending) -> list[CountedCost]:
    parts = {
        "target": spending.target,
        "judge": spending.judge,
        "persona": spending.persona,
        "summary": spending.summary,
        "operation": spending.operation,
    }
    return [
        CountedCost(
            kind,
            spend.calls,
            spend.cost_usd,
            spend.usage.input_tokens,
            spend.usage.output_tokens,
            uncertain_usd=spend.uncertain_usd,
            cached_usd=spend.cached_cost_usd,
        )
        for kind, spend in parts.items()
        if spend.has_calls
    ]
