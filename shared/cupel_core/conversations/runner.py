"""Execution of one probe: a conversation from its scenario to its transcript, independent of process and storage.

The runner saves its progress to a `CheckpointStore` after each call but the last, and the worker that receives the
probe next resumes there. Grades that models give are saved one by one: a second after a grade if others are still
missing, and before the probe waits or halts, so that the next worker requests only the missing ones.

Judges and simulated users are asked once to repair an unusable reply. After a judge's second unusable reply the
conversation has no verdict: it continues, and is not scored if its last answer has none. A simulated user's second
unusable reply is the probe's error, as is a judge that cannot be called. Neither is ever a failure of the model under
test. Durations are those of the answered attempts. They exclude waits, failed attempts and the set-up of connections.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain
from uuid import NAMESPACE_OID, uuid5

from cupel_core import sandbox
from cupel_core.base.deferred import replace
from cupel_core.conversations.delayed_saver import CheckpointStore, ResumableState
from cupel_core.conversations.outcomes import probe_error, score_conversation, summarize_without_judge, transcript_of
from cupel_core.conversations.pipeline_turn import TurnOperations
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.tool_execution import ToolExecution
from cupel_core.conversations.turn import CalledTarget, Halted, output_of, run_turn
from cupel_core.domain.conversations.conversation import ConversationState, NextStep, next_step
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    AgentThread,
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    RequestParameter,
)
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.separate_turns import request_messages, with_answers
from cupel_core.domain.conversations.spend import Spend, added_costs
from cupel_core.domain.conversations.tool_results import NOT_EXECUTED, with_distinct_ids
from cupel_core.domain.conversations.tools import ToolMode
from cupel_core.domain.definitions.prompts import MissingValue
from cupel_core.domain.definitions.scenarios import MAX_TEXT_LENGTH
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.providers import prices
from cupel_core.providers.errors import CallPostponed, ProviderError, RetryLater
from cupel_core.scoring.grading.criteria import evaluate_criteria, unjudged_result
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.grading.simulated_user import generate_persona_message, simulated_user_prompt
from cupel_core.scoring.score import needs_model


async def run_conversation(
    spec: ConversationSpec,
    target: CalledTarget,
    checkpoints: CheckpointStore,
    now: Callable[[], datetime],
    retention: timedelta | None,
) -> Outcome:
    """Run one probe's conversation to its transcript or error, resuming from the last checkpoint. `retention` is how
    long the transcript's content is stored; None means forever. Raise Halted when no further call may start, and
    RetryLater when a provider asks for a longer wait than MAX_WAIT_SECONDS."""
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
        scoring, state = await score_conversation(spec, state, resumable)
    except ProviderError as error:
        spent = error.spend or Spend()  # Its replies were unusable.
        return probe_error(spec, target.model, error, now(), retention, _with_spend(state, step, spent))
    summary = await summarize_without_judge(spec, state.messages, now())
    return transcript_of(spec, target, state, scoring, summary, now(), retention)


def _may_have_checkpoint(spec: ConversationSpec, opening: ConversationState) -> bool:
    """Return whether the conversation was begun before, or has more than one call. One of a single call has no
    checkpoint."""
    if spec.is_resumed:
        return True
    if spec.rules.max_tool_rounds or (spec.operations and spec.operations.may_have_checkpoint):
        return True
    if next_step(opening, spec.rules) not in (NextStep.CALL_TARGET, NextStep.RUN_BEFORE):
        return True
    answered = replace(opening, messages=(*opening.messages, Message(MessageRole.ASSISTANT, "")), turns=1)
    return _has_further_calls(spec, answered)


def _needs_checkpoint(spec: ConversationSpec, state: ConversationState) -> bool:
    """Return whether paid calls are not stored yet, and other calls or slow operations follow. Operations store their
    own calls."""
    step = next_step(state, spec.rules)
    if spec.operations is not None and step in (NextStep.RUN_AFTER, NextStep.COMMIT_TURN):
        return step is NextStep.RUN_AFTER and spec.operations.may_lose_answer(state)
    if step is NextStep.CALL_TARGET and spec.operations is not None and not state.open_rounds:
        return False
    return _has_further_calls(spec, state) and not _continues_at_once(spec, state)


def _has_further_calls(spec: ConversationSpec, state: ConversationState) -> bool:
    return any(map(needs_model, spec.assertions)) or next_step(state, spec.rules) is not NextStep.END


def _continues_at_once(spec: ConversationSpec, state: ConversationState) -> bool:
    """Return whether scripts answer the target's calls. That needs no call, so one checkpoint after it is enough."""
    return spec.tool_executor is None and bool(state.pending_calls)


async def _perform_or_save_spend(
    step: NextStep,
    spec: ConversationSpec,
    target: CalledTarget,
    state: ConversationState,
    checkpoints: ResumableState,
    now: Callable[[], datetime],
) -> ConversationState:
    """Perform the step. If it must be performed again later, save the cost of its unusable replies. The answer after
    which an operation must wait is saved too."""
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
    """Call the target. Each call is priced separately, because some prices depend on the length of a prompt."""
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
    """Return the parameters. A forced function call is required only once, so that the model can give its answer
    later."""
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
    """Return the agent's thread. Each separate turn has its own, because an agent stores the conversation in it."""
    return str(uuid5(NAMESPACE_OID, f"{spec.thread_id} {state.turns}"))


async def _judge(spec: ConversationSpec, state: ConversationState, interrupted: list[Spend]) -> ConversationState:
    """Judge the last answer. After an unusable reply, the paid answers are not discarded."""
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
    """Add a user message, and a result for each open tool call, without which providers refuse the conversation."""
    # These calls are the answer, so they have no results.
    calls = state.messages[-1].tool_calls if state.messages else ()
    results = (Message(MessageRole.TOOL, NOT_EXECUTED, tool_call_id=call.id) for call in calls)
    messages = (*state.messages, *results, Message(MessageRole.USER, text))
    return replace(state, messages=messages, replies=state.judged_replies, verdict=None, unjudged=None)
