"""The counted figures of an outcome, which have nothing that was said. An outcome in memory is counted here.

Of stored ones, `store/counted_outcomes.py` reads the same.
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
    """The calls of one kind of an outcome, and what they cost; None if a price is unknown."""

    kind: str
    """One of COST_KINDS."""
    calls: int
    usd: float | None
    input_tokens: int = 0
    output_tokens: int = 0
    models: Mapping[str, ModelCalls] = {}
    """What was used of each model, as far as it was recorded: not of targets."""
    uncertain_usd: float = 0.0
    """Calls without an answer may have cost this much in addition."""
    cached_usd: float | None = 0.0
    """Answers from a cache cost this much when they were made; None if a price is unknown."""


class CountedOutcome(NamedTuple):
    """The counted figures of an outcome: nothing that was said, and nothing that quotes it."""

    probe_index: int
    is_completed: bool
    code: str | None = None
    """The decision: `1`-`5`; anything else counts as `other`."""
    success: bool | None = None
    """None if nothing was judged, or if it could not be computed."""
    score: float | None = None
    cause: UnscoredCause | None = None
    """It says why a weighted assertion could not be computed; None if all were, or if a user corrected the result."""
    metrics: Mapping[str, float] = {}
    metric_weights: Mapping[str, float] = {}
    """It has the sum of the weights of each metric's results, unless that sum is 1."""
    tags: Sequence[str] = ()
    duration_ms: int = 0
    turns: int = 0
    turn_durations_ms: Sequence[int] = ()
    """Each answer took so long."""
    input_tokens: int = 0
    output_tokens: int = 0
    model_version: str | None = None
    error_code: str | None = None
    costs: Sequence[CountedCost] = ()
    checks: Mapping[str, bool | None] = {}
    """It says by name whether each assertion passed; None if it could not be computed."""
    is_cut: bool = False
    """The limit of tokens cut the last answer."""
    left_out: Mapping[str, int] = {}
    """It counts the checks that the scenario's import left out, by type; empty if a user corrected the result."""
    is_cached: bool = False
    """It is set if an answer of the target came from a cache: its time is that of the call before."""
    omitted_parameters: Sequence[str] = ()
    """These parameters were left out of the requests to the target."""

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
