"""Runs one probe: a conversation from its scenario to its transcript. Independent of process and storage.

The runner saves its progress to a `CheckpointStore` after each call but the last, and the worker that receives the
probe next resumes there. Grades that models give are saved one by one: a second after a grade if others are still
missing, and before the probe waits or halts, so that the next worker asks only for the missing ones.

Judges and simulated users are asked once to repair an unusable reply. A judge's second one leaves the conversation
without a verdict so far: it continues, and is not scored if its last answer has none. A simulated user's second one is
the probe's error, as is a judge that cannot be called. Neither is ever a failure of the model under test. Durations are
those of the answered attempts; waits, failed attempts and the set-up of connections are no part of them.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING
from uuid import NAMESPACE_OID, uuid5

from cupel_core import sandbox
from cupel_core.base.deferred import dataclass, replace
from cupel_core.conversations.delayed_saver import DelayedSaver
from cupel_core.conversations.pipeline.kinds import ModelCaller
from cupel_core.conversations.pipeline_turn import TurnOperations
from cupel_core.conversations.resumable import CheckpointStore, ResumableState
from cupel_core.conversations.structured_output import output_of
from cupel_core.conversations.tool_execution import ToolExecution, ToolExecutor
from cupel_core.conversations.turn import CalledTarget, Halted, run_turn
from cupel_core.domain.conversations.conversation import (
    ConversationRules,
    ConversationState,
    NextStep,
    next_step,
    outcome_of,
)
from cupel_core.domain.conversations.model_parameters import (
    FormatType,
    ModelParameters,
    ParameterFields,
    ResponseFormat,
)
from cupel_core.domain.conversations.model_request import (
    AgentThread,
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    RequestParameter,
    SimulationKey,
)
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.separate_turns import request_messages, with_answers
from cupel_core.domain.conversations.spend import Spend, added_costs
from cupel_core.domain.conversations.tool_results import (
    DEFAULT_TOOL_ROUNDS,
    NOT_EXECUTED,
    ScriptedResult,
    with_distinct_ids,
)
from cupel_core.domain.conversations.tools import ToolMode
from cupel_core.domain.definitions.conversation_rules import conversation_rules
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import MissingValue, Prompt
from cupel_core.domain.definitions.scenarios import MAX_TEXT_LENGTH, Scenario
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.spending import conversation_spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.decisions import OTHER, excerpt, last_answer
from cupel_core.domain.scoring.scoring import CRITERIA, Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.domain.text.storable import storable
from cupel_core.providers import prices
from cupel_core.providers.errors import CallPostponed, ProviderError, RetryLater
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.decision_search import read_decision
from cupel_core.scoring.grade_log import GradeLog
from cupel_core.scoring.grading.criteria import evaluate_criteria, unjudged_result
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.simulated_user import generate_persona_message, simulated_user_prompt
from cupel_core.scoring.score import AssertionScores, needs_model, score

if TYPE_CHECKING:
    from cupel_core.scoring.code_assertions import CodeRunner

MAX_ERROR_LENGTH = 2_000
"""Of an error's message, which may quote a provider, an agent or a judge."""


@dataclass(frozen=True)
class ConversationSpec:
    """Everything needed to run one probe's conversation, wherever it runs."""

    index: int
    scenario: Scenario
    content: Content
    graders: GraderFactory
    thread_id: str
    """A UUID of this probe in this retry round, by which an agent recognizes a resumed conversation."""
    persona: Persona | None = None
    persona_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    omitted_parameters: tuple[RequestParameter, ...] = ()
    """What is left out of every request to the target."""
    prompt: Prompt | None = None
    params: ParameterFields = field(default_factory=dict)
    """Of every request to the target, all defaults included."""
    variant: str = ""
    """Distinguishes the target and the prompt for simulated models."""
    max_turns: int | None = None
    repeat: int = 0
    seed: int = 0
    retry_round: int = 1
    code_runner: "CodeRunner | None" = None
    """Runs the code of assertions; None where code is not run."""
    tool_executor: ToolExecutor | None = None
    """Executes the calls that no script answers; None if nothing does."""
    profile: RunProfile | None = None
    """What runs before and after the target's calls."""
    is_resumed: bool = False
    """Whether another delivery may have begun the conversation."""

    @cached_property
    def rules(self) -> ConversationRules:
        rules = conversation_rules(
            self.scenario,
            self.content,
            self.graders.config,
            has_persona=self.persona is not None,
            max_turns=self.max_turns,
        )
        return replace(rules, max_tool_rounds=self._max_tool_rounds, has_profile=self.profile is not None)

    @property
    def _max_tool_rounds(self) -> int:
        """0 if neither a script nor an executor answers calls: they are only recorded then."""
        if not self.tool_results and self.tool_executor is None:
            return 0
        rounds: int | None = self.params.get("maxToolRounds")
        return DEFAULT_TOOL_ROUNDS if rounds is None else rounds

    @cached_property
    def tool_results(self) -> tuple[ScriptedResult, ...]:
        return (*self.scenario.tool_results, *self.content.tool_results)

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        return (*self.content.assertions, *self.scenario.assertions)

    @cached_property
    def parameters(self) -> ModelParameters:
        return ModelParameters.from_json(self.params)

    @cached_property
    def simulation_key(self) -> SimulationKey:
        return SimulationKey(self.scenario.id, self.scenario.dimensions, self.repeat, self.seed, self.variant)

    @cached_property
    def operations(self) -> TurnOperations | None:
        """Those of its profile; None without one."""
        if self.profile is None:
            return None
        case = {"scenarioId": self.scenario.id, "dimensions": self.scenario.dimensions}
        variables = dict(self.scenario.variables)
        return TurnOperations(self.profile, ModelCaller(self.graders, self.simulation_key), case, variables)

    @property
    def opening_messages(self) -> tuple[Message, ...]:
        """Raises MissingValue if the scenario lacks what the prompt needs."""
        return self.content.opening_of(self.scenario, self.prompt)


async def run_conversation(
    spec: ConversationSpec,
    target: CalledTarget,
    checkpoints: CheckpointStore,
    now: Callable[[], datetime],
    retention: timedelta | None,
) -> Outcome:
    """Run one probe's conversation to its transcript or error, resuming from the last checkpoint.

    `retention` is how long the transcript's content is stored; None means forever. Raises Halted when no further call
    may start, and RetryLater when a provider asks for a longer wait than MAX_WAIT_SECONDS.
    """
    sandbox.use_workspace(spec.graders.workspace)
    try:
        opening = ConversationState(spec.opening_messages, started_at=now())
    except MissingValue as missing:
        error = ProviderError(ProbeErrorCode.INVALID_REQUEST, str(missing), final=True)
        return probe_error(spec, target.model, error, now(), retention, ConversationState((), started_at=now()))
    state = (await checkpoints.load() if _may_have_checkpoint(spec, opening) else None) or opening
    resumable = ResumableState(checkpoints, spec.graders.log, state)
    target = replace(target, log=spec.graders.log)
    try:
        while (step := next_step(state, spec.rules)) is not NextStep.END:
            state = await _perform_or_save_spend(step, spec, target, state, resumable, now)
            resumable.latest = state
            if _needs_checkpoint(spec, state):
                await resumable.save(state)
        scoring, state = await _score(spec, state, resumable)
    except ProviderError as error:
        spent = error.spend or Spend()  # unusable replies
        return probe_error(spec, target.model, error, now(), retention, _with_spend(state, step, spent))
    summary = await summarize_without_judge(spec, state.messages, now())
    return _transcript(spec, target, state, scoring, summary, now(), retention)


def _may_have_checkpoint(spec: ConversationSpec, opening: ConversationState) -> bool:
    """Whether the conversation was begun before, or has more than one call: one of a single call has no checkpoint to
    read."""
    if spec.is_resumed:
        return True
    if spec.rules.max_tool_rounds or (spec.operations and spec.operations.may_have_checkpoint):
        return True
    if next_step(opening, spec.rules) not in (NextStep.CALL_TARGET, NextStep.RUN_BEFORE):
        return True
    answered = replace(opening, messages=(*opening.messages, Message(MessageRole.ASSISTANT, "")), turns=1)
    return _has_further_calls(spec, answered)


def _needs_checkpoint(spec: ConversationSpec, state: ConversationState) -> bool:
    """Whether calls were paid for that are not stored yet, and others, or slow operations, follow. Operations store
    their own calls."""
    step = next_step(state, spec.rules)
    if spec.operations is not None and step in (NextStep.RUN_AFTER, NextStep.COMMIT_TURN):
        return step is NextStep.RUN_AFTER and spec.operations.may_lose_answer(state)
    if step is NextStep.CALL_TARGET and spec.operations is not None and not state.open_rounds:
        return False
    return _has_further_calls(spec, state) and not _continues_at_once(spec, state)


def _has_further_calls(spec: ConversationSpec, state: ConversationState) -> bool:
    """Whether more model calls follow; a conversation of a single call needs no checkpoint."""
    return any(map(needs_model, spec.assertions)) or next_step(state, spec.rules) is not NextStep.END


def _continues_at_once(spec: ConversationSpec, state: ConversationState) -> bool:
    """Whether scripts answer the target's calls: that needs no call, so one checkpoint after it is enough."""
    return spec.tool_executor is None and bool(state.pending_calls)


async def _perform_or_save_spend(
    step: NextStep,
    spec: ConversationSpec,
    target: CalledTarget,
    state: ConversationState,
    checkpoints: ResumableState,
    now: Callable[[], datetime],
) -> ConversationState:
    """Perform the step. If it must be performed again later, save what its unusable replies have cost, and the answer
    after which an operation must wait."""
    interrupted: list[Spend] = []
    try:
        if spec.operations is not None and (operated := await _operate(step, spec.operations, state, checkpoints, now)):
            return operated
        return await _perform(step, spec, target, state, interrupted, checkpoints)
    except (RetryLater, CallPostponed, Halted, asyncio.CancelledError):
        if interrupted:
            await checkpoints.save(_with_spend(state, step, sum(interrupted, Spend())))
        elif step is NextStep.RUN_AFTER and not _needs_checkpoint(spec, state):
            await checkpoints.save(state)
        raise
    except ProviderError as error:
        if interrupted and error.spend is None:
            error.spend = sum(interrupted, Spend())
        raise


def _with_spend(state: ConversationState, step: NextStep, spend: Spend) -> ConversationState:
    if step is NextStep.CALL_TARGET:
        return replace(state, unusable=state.unusable + spend)
    if step is NextStep.SIMULATE_USER:
        return replace(state, persona_spend=state.persona_spend + spend)
    return replace(state, judge_spend=state.judge_spend + spend)


async def _perform(
    step: NextStep,
    spec: ConversationSpec,
    target: CalledTarget,
    state: ConversationState,
    interrupted: list[Spend],
    checkpoints: ResumableState,
) -> ConversationState:
    match step:
        case NextStep.EXECUTE_CALLS:
            offered = frozenset(tool.name for tool in spec.parameters.tools)
            execution = ToolExecution(spec.tool_results, offered, spec.tool_executor, checkpoints.save)
            return await execution.perform(state)
        case NextStep.JUDGE:
            return await _judge(spec, state, interrupted)
        case NextStep.SIMULATE_USER:
            return await _add_user_message(spec, state, interrupted)
        case _:
            return await _call_target(spec, target, state, interrupted)


async def _operate(
    step: NextStep,
    operations: TurnOperations,
    state: ConversationState,
    checkpoints: ResumableState,
    now: Callable[[], datetime],
) -> ConversationState | None:
    """None if the step is not one of the profile's."""
    match step:
        case NextStep.RUN_BEFORE:
            return await operations.run_before(state, checkpoints.save, now())
        case NextStep.RUN_AFTER:
            return await operations.run_after(state, checkpoints.save)
        case NextStep.COMMIT_TURN:
            return operations.commit(state)
    return None


async def _call_target(
    spec: ConversationSpec, target: CalledTarget, state: ConversationState, unusable: list[Spend]
) -> ConversationState:
    """Call it with the prompt that the operations of a profile have made, if there is one."""
    operations = spec.operations
    if operations is None:
        return await _ask(spec, target, state, _prompt(spec, state), unusable)
    prompt = operations.prompt(state)
    state = await _ask(spec, target, state, prompt, unusable)
    return operations.answered(state, prompt) if not state.pending_calls else state


def _prompt(spec: ConversationSpec, state: ConversationState) -> tuple[Message, ...]:
    if not spec.scenario.separate_turns:
        return state.messages
    return request_messages(spec.opening_messages, state.messages)


async def _ask(
    spec: ConversationSpec,
    target: CalledTarget,
    state: ConversationState,
    prompt: tuple[Message, ...],
    unusable: list[Spend],
) -> ConversationState:
    """Price each call separately, because some prices depend on the length of a prompt."""
    turn = await run_turn(_model_request(spec, state, prompt), target, unusable)
    spend = prices.spend_of(target.account, target.model, turn.reply)
    message = with_distinct_ids(turn.reply.message, state.messages)
    count = state.count_reply(message, spec.rules)
    return replace(
        state,
        messages=(*state.messages, message),
        turns=count.turns,
        tool_rounds=count.tool_rounds,
        open_rounds=count.open_rounds,
        stop_reason=count.stop_reason,
        replies=(*state.replies, ReplyRecord(turn.reply.counted_usage, turn.duration_ms, spend.cost_usd)),
        usage=state.usage + turn.reply.counted_usage,
        unusable=state.unusable + sum(unusable, Spend()),
        duration_ms=state.duration_ms + turn.duration_ms,
        cost_usd=added_costs(state.cost_usd, spend.cost_usd),
        cached_turns=state.cached_turns + spend.cached_calls,
        cached_cost_usd=added_costs(state.cached_cost_usd, spend.cached_cost_usd),
        model_version=turn.reply.model_version,
        finish_reason=turn.reply.finish_reason,
        verdict=None,
        unjudged=None,
        thread_id=turn.reply.thread_id or state.thread_id,
        output=await output_of(turn.reply, spec.parameters.response_format) or state.output,
        omitted_parameters=_merged(spec.omitted_parameters, state.omitted_parameters, turn.reply.omitted_parameters),
    )


def _parameters(spec: ConversationSpec, state: ConversationState) -> ModelParameters:
    """A model that must call a function must do so once: otherwise it could never give its answer."""
    choice = spec.parameters.tool_choice
    if state.open_rounds and choice is not None and choice.mode is ToolMode.REQUIRED:
        return replace(spec.parameters, tool_choice=None)
    return spec.parameters


def _merged(*omitted: tuple[RequestParameter, ...]) -> tuple[RequestParameter, ...]:
    return tuple(sorted(set(chain.from_iterable(omitted))))


def _model_request(spec: ConversationSpec, state: ConversationState, prompt: tuple[Message, ...]) -> ModelRequest:
    is_separate = spec.scenario.separate_turns
    return ModelRequest(
        tuple(message.without_reasoning for message in prompt),
        _parameters(spec, state),
        simulation_key=spec.simulation_key,
        thread=AgentThread(
            id=_thread_of_turn(spec, state) if is_separate else state.thread_id or spec.thread_id,
            turn=0 if is_separate else state.turns,
            headers=spec.persona_headers,
            persona=spec.persona.name if spec.persona else None,
            variables=spec.scenario.variables,
        ),
    )


def _thread_of_turn(spec: ConversationSpec, state: ConversationState) -> str:
    """An agent keeps what was said in a thread, so each separate turn has its own."""
    return str(uuid5(NAMESPACE_OID, f"{spec.thread_id} {state.turns}"))


async def _judge(spec: ConversationSpec, state: ConversationState, interrupted: list[Spend]) -> ConversationState:
    """Judge the last answer. An unusable reply is no reason to lose the answers that were paid for."""
    try:
        reply = await evaluate_criteria(spec.graders.judge(), state.messages, spec.rules.criteria, interrupted)
    except GraderError as error:
        if error.unusable_reply is None:
            raise
        return replace(state, unjudged=unjudged_result(error), judge_spend=state.judge_spend + error.spend)
    return replace(state, verdict=reply.value, judge_spend=state.judge_spend + reply.spend)


async def _add_user_message(
    spec: ConversationSpec, state: ConversationState, interrupted: list[Spend]
) -> ConversationState:
    """Add the next scripted message, or one by the simulated user once the script is used up."""
    if 0 < state.turns <= len(spec.rules.scripted):
        return _with_user_message(state, _scripted_message(spec, state))
    if not spec.rules.has_user_model:
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST,
            "the scenario has no messages, and no personaModel or judgeModel is configured to write the first one",
            final=True,
        )
    prompt = state.simulated_user_prompt or simulated_user_prompt(spec.persona, spec.scenario.instructions)
    reply = await generate_persona_message(spec.graders.user_simulator(), prompt, state.messages, interrupted)
    return replace(
        _with_user_message(state, reply.value),
        persona_spend=state.persona_spend + reply.spend,
        simulated_user_prompt=prompt,
    )


def _scripted_message(spec: ConversationSpec, state: ConversationState) -> str:
    text = spec.rules.scripted[state.turns - 1]
    if not spec.scenario.separate_turns:
        return text
    try:
        return with_answers(text, spec.opening_messages, state.messages, MAX_TEXT_LENGTH)
    except ValueError as error:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, str(error), final=True) from None


def _with_user_message(state: ConversationState, text: str) -> ConversationState:
    """Providers refuse a conversation that continues after a tool call without its result."""
    calls = state.messages[-1].tool_calls if state.messages else ()  # The answer, so they have no results.
    results = (Message(MessageRole.TOOL, NOT_EXECUTED, tool_call_id=call.id) for call in calls)
    messages = (*state.messages, *results, Message(MessageRole.USER, text))
    return replace(state, messages=messages, replies=state.judged_replies, verdict=None, unjudged=None)


async def _score(
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
    """Save finished grades while others are being given, and before waiting or halting. Otherwise none are saved."""

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
    """An error in place of a missing verdict. A start refuses criteria without a judge, but earlier starts did not."""
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


def _transcript(
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
    """Return the summary by the definition's pattern; None without a decision rule, or if a judge decides by a rubric.

    It is provisional if a judge will write the text of the decision.

    A pattern that cannot be applied within its limits is recorded as the summary's error.
    """
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
    """The outcome of a probe whose conversation ended with this error, after `state`.

    Its message may quote the conversation.
    """
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
