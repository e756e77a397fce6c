"""The turns of a probe with an operation profile: before the target's call, its prompt, after the answer, commit."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from cupel_core.clock import to_iso
from cupel_core.domain.pipeline.context import HookBase, step_context, user_text
from cupel_core.domain.pipeline.operations import EffectType, Hook, ProfileOperation
from cupel_core.domain.pipeline.prompt import effective_prompt, rewritten_text, with_user_text
from cupel_core.domain.pipeline.records import turn_record
from cupel_core.domain.pipeline.results import PaidAnswer, StepResult
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.pipeline.sizes import step_share
from cupel_core.domain.pipeline.steps import Results, first_failure
from cupel_core.domain.pipeline.turns import (
    Artifacts,
    OpenTurn,
    PipelineState,
    StoredArtifact,
    committed_artifacts,
    turn_changes,
)
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.turns.conversation import ConversationState
from cupel_core.domain.turns.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.pipeline.execution import HookExecution
from cupel_core.pipeline.kinds import ModelCaller
from cupel_core.pipeline.rendering import is_small
from cupel_core.pipeline.steps import perform_step, within_share
from cupel_core.providers.errors import ProviderError
from cupel_core.templating.operation_templates import condition_template, is_quick

type OnOperationStart = Callable[[Hook, ProfileOperation], None]
type OnOperationAnswer = Callable[[Hook, ProfileOperation, PaidAnswer], None]
type OnOperationEnd = Callable[[Hook, ProfileOperation, StepResult], None]
type Perform = Callable[
    [ProfileOperation, Mapping[str, Any], StoredArtifact | None, ModelCaller], Awaitable[StepResult]
]
type Save = Callable[[ConversationState], Awaitable[None]]


def _ignore(*_: object) -> None:
    return


@dataclass(frozen=True)
class TurnOperations:
    """The operations around the calls of one probe."""

    profile: RunProfile
    caller: ModelCaller
    case: Mapping[str, object]
    """`{scenarioId, dimensions}`, for templates."""
    variables: Mapping[str, object]
    on_start: OnOperationStart = _ignore
    """Called when an operation begins."""
    on_answer: OnOperationAnswer = _ignore
    """Called when its model has answered, before the answer is read."""
    on_end: OnOperationEnd = _ignore
    """Called when an operation has ended, also with one that could not begin."""
    perform: Perform = perform_step
    _last_base: list[tuple[ConversationState, HookBase]] = field(default_factory=list, init=False, repr=False)
    """What operations after the answer see is asked for twice: whether they may take long, and when they run."""

    async def run_before(self, state: ConversationState, save: Save, now: datetime) -> ConversationState:
        """Run the operations before the main call, except for those that a checkpoint has."""
        pipeline = state.pipeline or PipelineState()
        turn = pipeline.turn or OpenTurn(to_iso(now))
        state = replace(state, pipeline=replace(pipeline, turn=turn))
        text = user_text(state.messages)
        base = HookBase(
            Hook.BEFORE,
            state.messages,
            pipeline.artifacts,
            self._tags,
            text,
            text,
            case=self.case,
            variables=self.variables,
            now=turn.now,
            trigger=self.profile.trigger,
        )
        return _with_turn(await self._run(base, state, save), is_prepared=True)

    def prompt(self, state: ConversationState) -> tuple[Message, ...]:
        """What the target gets. Raises ProviderError if a required operation is not done."""
        pipeline, turn = _open(state)
        self._check(Hook.BEFORE, turn.before, "the target was not called")
        messages = self._rewritten_user(state.messages, turn)
        return effective_prompt(messages, turn_changes(self.profile.plan, self.profile.enabled, pipeline))

    def answered(self, state: ConversationState, prompt: tuple[Message, ...]) -> ConversationState:
        """Once the answer is complete."""
        digest = hashlib.sha256(orjson.dumps([message.to_json() for message in prompt])).hexdigest()
        return _with_turn(state, is_answered=True, prompt_hash=digest)

    async def run_after(self, state: ConversationState, save: Save) -> ConversationState:
        """Run the operations after the answer. They see the prompt, the answer, and what those before have made."""
        return _with_turn(await self._run(self._after_base(state), state, save), is_reviewed=True)

    def _after_base(self, state: ConversationState) -> HookBase:
        if not self._last_base or self._last_base[0][0] is not state:
            self._last_base[:] = [(state, self._make_after_base(state))]
        return self._last_base[0][1]

    def _make_after_base(self, state: ConversationState) -> HookBase:
        pipeline, turn = _open(state)
        answer, prompt = last_answer(state.messages), self.prompt(state)
        return HookBase(
            Hook.AFTER,
            prompt[: _length_without_answer(prompt)],
            self._staged(pipeline, turn),
            self._tags,
            user_text(self._rewritten_user(state.messages, turn)),
            user_text(state.messages),
            answer,
            self.case,
            self.variables,
            turn.now,
            self.profile.trigger,
        )

    def commit(self, state: ConversationState) -> ConversationState:
        """Apply what lasts: rewritten texts, persisted artifacts, and the record of the turn. Raises ProviderError if
        a required operation after the answer is not done."""
        pipeline, turn = _open(state)
        plan, profile = self.profile.plan, self.profile
        self._check(Hook.AFTER, turn.after, "its answer was not used")
        messages, originals = self._canonical(state.messages, turn)
        number = len(pipeline.records) + 1
        record = turn_record(plan, turn, number, profile.version, originals)
        return replace(
            state,
            messages=messages,
            pipeline=PipelineState(
                artifacts=committed_artifacts(plan, turn, pipeline.artifacts),
                past_spend=pipeline.spend,
                records=(*pipeline.records, record),
            ),
        )

    @property
    def may_have_checkpoint(self) -> bool:
        """Whether operations may have stored a turn in progress."""
        return self.profile.calls_models(Hook.BEFORE) or bool(self.profile.plan.steps[Hook.AFTER])

    def may_lose_answer(self, state: ConversationState) -> bool:
        """Whether the operations after the answer may take long, or stop the worker: they call models, or some need the
        sandbox. Quick ones are done at once, so nothing is stored before them."""
        steps = self.profile.plan.steps[Hook.AFTER]
        if self.profile.calls_models(Hook.AFTER) or not all(map(_is_quick, steps)):
            return True
        base = self._after_base(state)
        return any(not is_small(step_context(base, steps, {}, step)) for step in steps)

    @property
    def _tags(self) -> dict[str, str]:
        return {operation.id: operation.artifact.tag for operation in self.profile.enabled}

    async def _run(self, base: HookBase, state: ConversationState, save: Save) -> ConversationState:
        steps, hook = self.profile.plan.steps[base.hook], base.hook
        pipeline, turn = _open(state)
        share = step_share(pipeline.length, self.profile.plan.step_count)
        seen = set(turn.results(hook))

        async def perform(step: ProfileOperation, results: Results) -> StepResult:
            self.on_start(hook, step)
            context = step_context(base, steps, results, step)

            def on_answer(answer: PaidAnswer) -> None:
                execution.answers[step.id] = answer
                self.on_answer(hook, step, answer)

            caller = replace(self.caller, answer=execution.answers.get(step.id), on_answer=on_answer)
            made = await self.perform(step, context, base.artifacts.get(step.artifact.tag), caller)
            result = within_share(step, made, share)
            seen.add(step.id)
            self.on_end(hook, step, result)
            return result

        execution = HookExecution(
            steps,
            self.profile.pipeline.mode,
            perform,
            lambda results, answers: save(_with_results(state, hook, results, answers)),
            dict(turn.results(hook)),
            dict(turn.answers),
        )
        ended = await execution.run()
        for step in steps:
            if step.id not in seen:
                self.on_end(hook, step, ended[step.id])
        return _with_results(state, hook, ended, {})

    def _check(self, hook: Hook, results: Results, consequence: str) -> None:
        failed = first_failure(self.profile.plan.steps[hook], results)
        if failed is None:
            return
        message = f"operation {failed.id} {_reason(results[failed.id])}; {consequence}"
        raise ProviderError(ProbeErrorCode.OPERATION_ERROR, message, final=True)

    def _staged(self, pipeline: PipelineState, turn: OpenTurn) -> Artifacts:
        """With those of this turn's operations before the answer, whether or not they are persisted."""
        return committed_artifacts(self.profile.plan, replace(turn, after={}), pipeline.artifacts, of_turn=True)

    def _rewritten_user(self, messages: tuple[Message, ...], turn: OpenTurn) -> tuple[Message, ...]:
        text = rewritten_text(self.profile.plan.steps[Hook.BEFORE], turn.before, EffectType.REWRITE_USER)
        return messages if text is None else with_user_text(messages, text)

    def _canonical(self, messages: tuple[Message, ...], turn: OpenTurn) -> tuple[tuple[Message, ...], dict[str, str]]:
        """The messages as later turns, judges and assertions read them, and the texts that were rewritten."""
        originals = {}
        rewritten = partial(rewritten_text, self.profile.plan.steps[Hook.AFTER], turn.after)
        user = rewritten(EffectType.REWRITE_USER)
        after = with_user_text(messages, user) if user is not None else self._rewritten_user(messages, turn)
        if after != messages:
            originals["originalUser"] = user_text(messages)
        answer = rewritten(EffectType.REWRITE_ASSISTANT)
        if answer is not None:
            originals["originalAnswer"] = messages[-1].content
            after = (*after[:-1], replace(after[-1], content=answer))
        return after, originals


def _is_quick(operation: ProfileOperation) -> bool:
    templates = (*operation.templates.values(), *map(condition_template, operation.expressions.values()))
    return all(map(is_quick, templates))


def _open(state: ConversationState) -> tuple[PipelineState, OpenTurn]:
    if state.pipeline is None or state.pipeline.turn is None:
        raise ValueError("there is no turn in progress")
    return state.pipeline, state.pipeline.turn


def _with_turn(state: ConversationState, **changes: object) -> ConversationState:
    pipeline, turn = _open(state)
    return replace(state, pipeline=replace(pipeline, turn=replace(turn, **changes)))  # type: ignore[arg-type]


def _with_results(
    state: ConversationState, hook: Hook, results: Results, answers: Mapping[str, PaidAnswer]
) -> ConversationState:
    pipeline, turn = _open(state)
    return replace(state, pipeline=replace(pipeline, turn=turn.with_results(hook, dict(results), answers)))


def _length_without_answer(prompt: tuple[Message, ...]) -> int:
    return len(prompt) - 1 if prompt and prompt[-1].role is MessageRole.ASSISTANT else len(prompt)


def _reason(result: StepResult) -> str:
    if result.error is not None:
        return f"failed: {result.error.code}: {result.error.message}"
    if result.skip_reason is not None:
        return f"was skipped: {result.skip_reason}"
    return f"could not apply an effect: {result.payload_error}"
