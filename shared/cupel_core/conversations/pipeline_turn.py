"""The turns of a probe with an operation profile: before the target's call, its prompt, after the answer, commit."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from typing import Any

from cupel_core.base.clock import to_iso
from cupel_core.base.deferred import dataclass, replace
from cupel_core.conversations.pipeline.kinds import ModelCaller
from cupel_core.conversations.pipeline.rendering import is_small
from cupel_core.conversations.pipeline.steps import HookExecution, perform_step, within_share
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.pipeline.context import HookBase, step_context, user_text
from cupel_core.domain.pipeline.operations import EffectType, Hook, ProfileOperation
from cupel_core.domain.pipeline.prompt import (
    PromptChange,
    PromptMessage,
    effective_prompt,
    prompt_hash,
    rewritten_text,
    traced_prompt,
    with_user_text,
)
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
from cupel_core.providers.errors import ProviderError

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
    profile: RunProfile
    caller: ModelCaller
    case: Mapping[str, object]
    """The values `{scenarioId, dimensions}` for templates."""
    variables: Mapping[str, object]
    on_start: OnOperationStart = _ignore
    on_answer: OnOperationAnswer = _ignore
    """Called when its model has answered, before the answer is read."""
    on_end: OnOperationEnd = _ignore
    """Called when an operation has ended, also with one that could not begin."""
    perform: Perform = perform_step
    chat: Mapping[str, object] = field(default_factory=dict)
    """The values `{chat, exchange}` for templates, in a chat."""
    _last_base: list[tuple[ConversationState, HookBase]] = field(default_factory=list, init=False, repr=False)
    """The last context of operations after the answer. It is needed twice: to judge how long they take, and to run
    them."""
    _last_prompt: list[tuple[str, tuple[Message, ...]]] = field(default_factory=list, init=False, repr=False)
    """The hash and the messages of the prompt of the last answer, which operations after it can use."""

    async def run_before(self, state: ConversationState, save: Save, now: datetime) -> ConversationState:
        """Run the operations before the main call, except for those that a checkpoint has."""
        pipeline = state.pipeline or PipelineState()
        turn = pipeline.turn or OpenTurn(to_iso(now))
        text = user_text(state.messages)
        base = HookBase(
            Hook.BEFORE,
            state.messages,
            pipeline.artifacts,
            self.profile.tags,
            text,
            text,
            case=self.case,
            variables=self.variables,
            now=turn.now,
            trigger=self.profile.trigger,
            chat=self.chat,
        )
        return await self._run(base, state, pipeline.with_turn(turn), save)

    def prompt(self, state: ConversationState) -> tuple[Message, ...]:
        """Return the messages for the target. Raise ProviderError if a required operation is not done."""
        return effective_prompt(*self._prompt_parts(state))

    def traced_prompt(self, state: ConversationState) -> tuple[PromptMessage, ...]:
        return traced_prompt(*self._prompt_parts(state))

    def _prompt_parts(self, state: ConversationState) -> tuple[tuple[Message, ...], list[PromptChange]]:
        pipeline, turn = _open(state)
        self._check(Hook.BEFORE, turn.before, "the target was not called")
        messages = self._rewritten_user(state.messages, turn)
        return messages, turn_changes(self.profile.plan, self.profile.ranked, pipeline)

    def answered(self, state: ConversationState, prompt: tuple[Message, ...]) -> ConversationState:
        pipeline, turn = _open(state)
        name = prompt_hash(prompt)
        self._last_prompt[:] = [(name, prompt)]
        answered = replace(turn, is_answered=True, prompt_hash=name)
        return replace(state, pipeline=pipeline.with_turn(answered))

    async def run_after(self, state: ConversationState, save: Save) -> ConversationState:
        """Run the operations after the answer. They can use the prompt, the answer, and the values of earlier
        operations."""
        return await self._run(self._after_base(state), state, _open(state)[0], save)

    def _after_base(self, state: ConversationState) -> HookBase:
        if not self._last_base or self._last_base[0][0] is not state:
            self._last_base[:] = [(state, self._make_after_base(state))]
        return self._last_base[0][1]

    def _make_after_base(self, state: ConversationState) -> HookBase:
        pipeline, turn = _open(state)
        answer = last_answer(state.messages)
        return HookBase(
            Hook.AFTER,
            self._answered_prompt(state, turn),
            self._staged(pipeline, turn),
            self.profile.tags,
            user_text(self._rewritten_user(state.messages, turn)),
            user_text(state.messages),
            answer,
            self.case,
            self.variables,
            turn.now,
            self.profile.trigger,
            self.chat,
        )

    def _answered_prompt(self, state: ConversationState, turn: OpenTurn) -> tuple[Message, ...]:
        """Return the prompt of the answer. A worker that resumes after the answer builds it again."""
        if self._last_prompt and self._last_prompt[0][0] == turn.prompt_hash:
            return self._last_prompt[0][1]
        prompt = self.prompt(state)
        return prompt[: _length_without_answer(prompt)]

    def commit(self, state: ConversationState) -> ConversationState:
        """Apply the lasting changes: rewritten texts, persisted artifacts, and the record of the turn. Raise
        ProviderError if a required operation after the answer is not done."""
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
        return self.profile.calls_models(Hook.BEFORE) or bool(self.profile.plan.steps[Hook.AFTER])

    def may_lose_answer(self, state: ConversationState) -> bool:
        """Return whether the operations after the answer may take long, or stop the worker. They do if they call models
        or need the sandbox. Quick ones are done at once, so nothing is stored before them."""
        steps = self.profile.plan.steps[Hook.AFTER]
        if self.profile.calls_models(Hook.AFTER) or not self._is_quick_after:
            return True
        base = self._after_base(state)
        return any(not is_small(step_context(base, steps, {}, step)) for step in steps)

    @property
    def _is_quick_after(self) -> bool:
        return _are_quick(self.profile.templates_after, self.profile.expressions_after)

    async def _run(
        self, base: HookBase, state: ConversationState, pipeline: PipelineState, save: Save
    ) -> ConversationState:
        steps, hook, turn = self.profile.plan.steps[base.hook], base.hook, _turn_of(pipeline)
        share = step_share(pipeline.length, self.profile.plan.step_count)
        seen, answers_by_id = set(turn.results(hook)), dict(turn.answers)

        def after(results: Results, answers: Mapping[str, PaidAnswer], *, are_all: bool = False) -> ConversationState:
            changed = turn.with_results(hook, results, answers, are_all=are_all)
            return replace(state, pipeline=pipeline.with_turn(changed))

        async def perform(step: ProfileOperation, results: Results) -> StepResult:
            self.on_start(hook, step)
            context = step_context(base, steps, results, step)

            def on_answer(answer: PaidAnswer) -> None:
                answers_by_id[step.id] = answer
                self.on_answer(hook, step, answer)

            caller = self.caller
            if step.params.call is not None:
                caller = replace(
                    caller, answer=answers_by_id.get(step.id), on_answer=on_answer, is_debugged=step.is_debugged
                )
            made = await self.perform(step, context, base.artifacts.get(step.artifact.tag), caller)
            result = within_share(step, made, share)
            seen.add(step.id)
            self.on_end(hook, step, result)
            return result

        execution = HookExecution(
            steps,
            self.profile.pipeline.mode,
            perform,
            lambda results, answers: save(after(dict(results), answers)),
            dict(turn.results(hook)),
            answers_by_id,
        )
        ended = await execution.run()
        for step in steps:
            if step.id not in seen:
                self.on_end(hook, step, ended[step.id])
        return after(dict(ended), {}, are_all=True)

    def _check(self, hook: Hook, results: Results, consequence: str) -> None:
        failed = first_failure(self.profile.plan.steps[hook], results)
        if failed is None:
            return
        message = f"operation {failed.id} {_reason(results[failed.id])}; {consequence}"
        raise ProviderError(ProbeErrorCode.OPERATION_ERROR, message, final=True)

    def _staged(self, pipeline: PipelineState, turn: OpenTurn) -> Artifacts:
        return committed_artifacts(self.profile.plan, replace(turn, after={}), pipeline.artifacts, of_turn=True)

    def _rewritten_user(self, messages: tuple[Message, ...], turn: OpenTurn) -> tuple[Message, ...]:
        text = rewritten_text(self.profile.plan.steps[Hook.BEFORE], turn.before, EffectType.REWRITE_USER)
        return messages if text is None else with_user_text(messages, text)

    def _canonical(self, messages: tuple[Message, ...], turn: OpenTurn) -> tuple[tuple[Message, ...], dict[str, str]]:
        """Return the messages as later turns, judges and assertions read them, and the texts that were rewritten."""
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


@lru_cache(maxsize=64)
def _are_quick(templates: frozenset[str], expressions: frozenset[str]) -> bool:
    from cupel_core.sandbox.templating.operation_templates import condition_template, is_quick

    return all(map(is_quick, chain(templates, map(condition_template, expressions))))


def _open(state: ConversationState) -> tuple[PipelineState, OpenTurn]:
    pipeline = state.pipeline or PipelineState()
    return pipeline, _turn_of(pipeline)


def _turn_of(pipeline: PipelineState) -> OpenTurn:
    if pipeline.turn is None:
        raise ValueError("there is no turn in progress")
    return pipeline.turn


def _length_without_answer(prompt: tuple[Message, ...]) -> int:
    return len(prompt) - 1 if prompt and prompt[-1].role is MessageRole.ASSISTANT else len(prompt)


def _reason(result: StepResult) -> str:
    if result.error is not None:
        return f"failed: {result.error.code}: {result.error.message}"
    if result.skip_reason is not None:
        return f"was skipped: {result.skip_reason}"
    return f"could not apply an effect: {result.payload_error}"
