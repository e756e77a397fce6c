import asyncio
from datetime import datetime, timedelta

from cupel_core.base.deferred import replace
from cupel_core.conversations.delayed_saver import DelayedSaver, ResumableState
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.turn import CalledTarget, Halted
from cupel_core.domain.conversations.conversation import ConversationState, outcome_of
from cupel_core.domain.conversations.model_parameters import FormatType, ResponseFormat
from cupel_core.domain.conversations.model_request import Message, ProbeErrorCode
from cupel_core.domain.runs.spending import conversation_spending
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.decisions import OTHER, excerpt, last_answer
from cupel_core.domain.scoring.scoring import CRITERIA, Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.domain.text.storable import storable
from cupel_core.providers.errors import CallPostponed, ProviderError, RetryLater
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.decision_search import read_decision
from cupel_core.scoring.grade_log import GradeLog
from cupel_core.scoring.score import AssertionScores, score

MAX_ERROR_LENGTH = 2_000
"""An error's message has at most this many characters. It may quote a provider, an agent or a judge."""


async def score_conversation(
    spec: ConversationSpec, state: ConversationState, checkpoints: ResumableState
) -> tuple[Scoring | None, ConversationState]:
    unjudged = _unjudged_results(spec, state)
    outcome = outcome_of(state, spec.rules) if state.verdict else None
    left_out = spec.scenario.left_out_checks
    has_checks = unjudged or spec.assertions or left_out
    if outcome is None and not has_checks and spec.graders.config.evaluator_url is None:
        return None, state
    scored = await _score_assertions(spec, state, checkpoints)
    scoring = build_scoring(outcome, state.verdict, (*unjudged, *scored.results), scored.evaluator_note, left_out)
    return scoring, replace(state, unjudged=None, judge_spend=state.judge_spend + scored.spend)


async def _score_assertions(
    spec: ConversationSpec, state: ConversationState, checkpoints: ResumableState
) -> AssertionScores:
    """Score the assertions. Finished grades are saved while others are pending, and before waiting or halting."""

    async def save() -> None:
        spend = state.judge_spend + log.interrupted
        await checkpoints.save(replace(state, grades=dict(log.grades), judge_spend=spend))

    saver = DelayedSaver(save)
    log = GradeLog.resuming(state.grades, saver.note_change)
    try:
        scored = await score(spec.assertions, assertion_context(spec, state), spec.graders, log, spec.code_runner)
    except (RetryLater, CallPostponed, Halted, asyncio.CancelledError):
        await saver.flush()
        raise
    finally:
        await saver.stop()
    return scored


def _unjudged_results(spec: ConversationSpec, state: ConversationState) -> tuple[AssertionResult, ...]:
    """Return an error in place of a missing verdict. A start refuses criteria without a judge, but earlier starts did
    not."""
    if state.unjudged is not None:
        return (state.unjudged,)
    if not spec.scenario.criteria.is_set or state.verdict is not None:
        return ()
    error = "no judgeModel is configured to evaluate the scenario's criteria"
    return (AssertionResult.uncomputed(CRITERIA, error, UnscoredCause(UnscoredCode.NO_JUDGE)),)


def assertion_context(spec: ConversationSpec, state: ConversationState) -> AssertionContext:
    return AssertionContext(
        output=last_answer(state.messages),
        messages=state.messages,
        latency_ms=state.duration_ms,
        cost_usd=state.full_cost_usd,
        finish_reason=state.finish_reason,
        variables=spec.scenario.variables,
        turns=state.turns,
        target_calls=state.target_calls,
        tools=spec.parameters.tools,
        has_schema=_has_schema(spec.parameters.response_format),
        conversation_id=state.thread_id or spec.thread_id,
        goal=spec.scenario.criteria.success or spec.scenario.instructions,
        name=spec.scenario.name,
        metadata=spec.scenario.metadata,
    )


def _has_schema(reply_format: ResponseFormat | None) -> bool:
    return reply_format is not None and reply_format.type is FormatType.JSON_SCHEMA


def transcript_of(
    spec: ConversationSpec,
    target: CalledTarget,
    state: ConversationState,
    scoring: Scoring | None,
    summary: Summary | None,
    now: datetime,
    retention: timedelta | None,
) -> Transcript:
    return Transcript(
        probe_index=spec.index,
        scenario_id=spec.scenario.id,
        model_id=target.model,
        persona_id=spec.persona.id if spec.persona else None,
        created_at=now,
        conversation=state,
        retry_round=spec.retry_round,
        summary=summary,
        scoring=scoring,
        content_expires_at=now + retention if retention else None,
    )


async def summarize_without_judge(
    spec: ConversationSpec, messages: tuple[Message, ...], now: datetime
) -> Summary | None:
    """Return the summary by the definition's pattern, or None without a decision rule or if a judge decides by a
    rubric. It is provisional if a judge will write the text of the decision. A pattern that cannot be applied within
    its limits is recorded as the summary's error."""
    method = spec.content.decision
    if method is None:
        return None
    try:
        decision = await read_decision(method.pattern, messages) if method.pattern else None
    except ValueError as error:
        limit = UnscoredCause(UnscoredCode.LIMIT)
        return Summary(OTHER, "", now, error=f"searching with the decision pattern {error}", cause=limit)
    has_judge = method.judged_by(spec.graders.config.judge_model) is not None
    if decision is None and has_judge and method.rubric:
        return None
    code, text = decision or (OTHER, excerpt(last_answer(messages)))
    return Summary(code, text, now, is_provisional=has_judge)


def probe_error(
    spec: ConversationSpec,
    model: str,
    error: ProviderError | RetryLater,
    now: datetime,
    retention: timedelta | None,
    state: ConversationState,
) -> ProbeError:
    """Return the outcome of a probe whose conversation ended with this error, after `state`. Its message may quote the
    conversation."""
    return ProbeError(
        probe_index=spec.index,
        scenario_id=spec.scenario.id,
        model_id=model,
        code=error.code,
        message=storable(error.detail, MAX_ERROR_LENGTH),
        attempts=error.attempts,
        created_at=now,
        persona_id=spec.persona.id if spec.persona else None,
        retry_round=spec.retry_round,
        content_expires_at=now + retention if retention else None,
        spending=conversation_spending(state),
        started_at=state.started_at,
        cause=error.cause if isinstance(error, ProviderError) and error.code is ProbeErrorCode.JUDGE_ERROR else None,
    )
