"""What is counted of an outcome that is in memory; of stored ones, `store/counted_outcomes.py` reads the same."""

from cupel_core.domain.analysis.column_totals import CountedCost, CountedOutcome
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.scoring import check_results


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
