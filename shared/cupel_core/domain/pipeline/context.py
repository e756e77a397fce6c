"""Provides the names that the templates of an operation see, never criteria, instructions, headers or keys."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.pipeline.operations import EffectType, Hook, ProfileOperation, Trigger
from cupel_core.domain.pipeline.prompt import (
    effective_prompt,
    last_user_position,
    prompt_changes,
    rewritten_text,
    with_user_text,
)
from cupel_core.domain.pipeline.steps import HookSteps, Results, visible_steps
from cupel_core.domain.pipeline.turns import Artifacts, next_version


@dataclass(frozen=True)
class HookBase:
    """Contains what every operation of a hook sees, without results of its dependencies."""

    hook: Hook
    messages: tuple[Message, ...]
    """Before the main call, it is the conversation; after it, it is the prompt of the main call."""
    artifacts: Artifacts
    operations: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    """The current user message, as rewritten before this hook."""
    original_user: str = ""
    answer: str | None = None
    case: Mapping[str, Any] = field(default_factory=dict)
    """The fields `{scenarioId, dimensions}`."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    now: str = ""
    trigger: Trigger = Trigger.GENERATE
    chat: Mapping[str, Any] = field(default_factory=dict)
    """In a chat, it has the fields `{chat, exchange}`."""

    @cached_property
    def context(self) -> Mapping[str, Any]:
        """Return the shared, unmodified names for operations without dependencies."""
        return _context(self, (), {})


def step_context(base: HookBase, steps: HookSteps, results: Results, step: ProfileOperation) -> Mapping[str, Any]:
    """Return what an operation sees: the base of its hook, and the values and effects of its dependencies."""
    return _context(base, visible_steps(steps, step), results) if step.depends_on else base.context


def _context(base: HookBase, visible: HookSteps, results: Results) -> dict[str, Any]:
    messages = _visible_messages(base, visible, results)
    artifacts = _artifacts(base, visible, results)
    by_operation = {name: artifacts[tag] for name, tag in base.operations.items() if tag in artifacts}
    written = [{"role": str(each.role), "content": each.content} for each in messages]
    answer = rewritten_text(visible, results, EffectType.REWRITE_ASSISTANT) or base.answer
    user = rewritten_text(visible, results, EffectType.REWRITE_USER) or base.user
    return {
        "trigger": str(base.trigger),
        "hook": str(base.hook),
        "now": base.now,
        "user": {"text": user, "original": base.original_user},
        **({"answer": {"text": answer}} if answer is not None else {}),
        "system": "\n\n".join(each.content for each in messages if each.role is MessageRole.SYSTEM),
        "messages": written,
        "last_user": _last(messages, MessageRole.USER),
        "last_assistant": _last(messages, MessageRole.ASSISTANT),
        "art": artifacts,
        "art_by_operation": by_operation,
        "case": dict(base.case),
        "vars": dict(base.variables),
        **base.chat,
    }


def _visible_messages(base: HookBase, visible: HookSteps, results: Results) -> tuple[Message, ...]:
    text = rewritten_text(visible, results, EffectType.REWRITE_USER)
    messages = base.messages if text is None else with_user_text(base.messages, text)
    return effective_prompt(messages, prompt_changes(visible, results))


def _artifacts(base: HookBase, visible: HookSteps, results: Results) -> dict[str, dict[str, Any]]:
    visible_now = {tag: each.at(base.now) for tag, each in base.artifacts.items()}
    for step in visible:
        result, tag = results.get(step.id), step.artifact.tag
        if result is not None and result.is_done:
            visible_now[tag] = next_version(step, result, visible_now.get(tag), base.now)
    return {tag: {"value": each.value, "history": list(each.history)} for tag, each in visible_now.items()}


def _last(messages: tuple[Message, ...], role: MessageRole) -> str:
    return next((each.content for each in reversed(messages) if each.role is role), "")


def user_text(messages: tuple[Message, ...]) -> str:
    position = last_user_position(messages)
    return "" if position is None else messages[position].spoken_text
