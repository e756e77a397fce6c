"""Builds the prompt of the main call from the messages so far, inclusions of artifacts, and effects of operations.

Positions are counted before anything is inserted, and insertions at one place keep their order, so leaving one
insertion out moves no other.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.parts import FilePart, TextPart
from cupel_core.domain.pipeline.artifacts import Inclusion, PromptPlace, PromptRole
from cupel_core.domain.pipeline.operations import EffectType, OperationEffect, ProfileOperation, SystemUpdate
from cupel_core.domain.pipeline.steps import HookSteps, Results

_INCLUDED_AS = {
    PromptPlace.SYSTEM_PREPEND: (EffectType.SYSTEM_UPDATE, SystemUpdate.PREPEND),
    PromptPlace.SYSTEM_APPEND: (EffectType.SYSTEM_UPDATE, SystemUpdate.APPEND),
    PromptPlace.AFTER_LAST_USER: (EffectType.AFTER_LAST_USER, None),
    PromptPlace.DEPTH: (EffectType.INSERT_AT_DEPTH, None),
}


class PromptChange(NamedTuple):
    effect: OperationEffect
    text: str
    operation_id: str = ""


class PromptMessage(NamedTuple):
    """Contains a message of a prompt, and the operation that added it; None for the conversation and the system
    prompt."""

    message: Message
    operation_id: str | None = None


def inclusion_change(inclusion: Inclusion, text: str, operation_id: str) -> PromptChange:
    kind, mode = _INCLUDED_AS[inclusion.at]
    role = inclusion.role or PromptRole.SYSTEM
    return PromptChange(OperationEffect(kind, mode, role, inclusion.depth_from_end), text, operation_id)


def prompt_changes(steps: HookSteps, results: Results) -> Iterator[PromptChange]:
    """Yield the prompt effects of operations that are done, in commit order; a blank text changes nothing."""
    for step, effect, text in _applied_effects(steps, results):
        if effect.type.changes_prompt:
            yield PromptChange(effect, text, step.id)


def rewritten_text(steps: HookSteps, results: Results, kind: EffectType) -> str | None:
    """Return the text of the last rewrite of this kind in commit order; None if there is none."""
    if not any(effect.type is kind for step in steps for effect in step.effects):
        return None
    texts = [text for _, effect, text in _applied_effects(steps, results) if effect.type is kind]
    return texts[-1] if texts else None


def _applied_effects(steps: HookSteps, results: Results) -> Iterator[tuple[ProfileOperation, OperationEffect, str]]:
    for step in steps:
        result = results.get(step.id)
        if result is not None and result.is_done:
            for effect, payload in zip(step.effects, result.payloads, strict=True):
                if payload.error is None and payload.text.strip():
                    yield step, effect, payload.text


def with_user_text(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    position = last_user_position(messages)
    if position is None:
        return tuple(messages)
    before = messages[position]
    files = [part for part in before.parts if isinstance(part, FilePart)]
    after = Message.of_parts(before.role, (TextPart(text), *files)) if files else replace(before, content=text)
    return (*messages[:position], after, *messages[position + 1 :])


def effective_prompt(messages: Sequence[Message], changes: Iterable[PromptChange]) -> tuple[Message, ...]:
    """Return the messages with all changes. Tool calls and results after the current user message stay after it and
    after insertions."""
    changes = tuple(changes)
    return tuple(each.message for each in traced_prompt(messages, changes)) if changes else tuple(messages)


def traced_prompt(messages: Sequence[Message], changes: Iterable[PromptChange]) -> tuple[PromptMessage, ...]:
    changes = tuple(changes)
    base = list(messages)
    user = last_user_position(base)
    end = len(base) if user is None else user + 1
    base, later = base[:end], base[end:]
    leading = _leading_system(base)
    inserted: dict[int, list[PromptMessage]] = {}
    for change in changes:
        if change.effect.type is not EffectType.SYSTEM_UPDATE:
            position = _position(change.effect, len(base), leading)
            inserted.setdefault(position, []).append(PromptMessage(_message(change), change.operation_id))
    system = _system("\n\n".join(message.content for message in base[:leading]), changes)
    prompt = [PromptMessage(Message(MessageRole.SYSTEM, system))] if system else []
    for position in range(leading, len(base) + 1):
        prompt += inserted.get(position, ())
        prompt += map(PromptMessage, base[position : position + 1])
    return (*prompt, *map(PromptMessage, later))


def prompt_hash(prompt: Iterable[Message]) -> str:
    """Return the SHA-256 of a prompt, by which turns are compared."""
    written = json.dumps([message.to_json() for message in prompt], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()


def last_user_position(messages: Sequence[Message]) -> int | None:
    return next((n for n in reversed(range(len(messages))) if messages[n].role is MessageRole.USER), None)


def _leading_system(messages: Sequence[Message]) -> int:
    return next((n for n, each in enumerate(messages) if each.role is not MessageRole.SYSTEM), len(messages))


def _position(effect: OperationEffect, length: int, leading: int) -> int:
    """Return where a message is inserted, which is never before the leading system messages."""
    if effect.type is EffectType.AFTER_LAST_USER:
        return length
    return max(leading, length + (effect.depth_from_end or 0))


def _message(change: PromptChange) -> Message:
    role = change.effect.role or PromptRole.SYSTEM
    return Message(MessageRole.SYSTEM if role is PromptRole.DEVELOPER else MessageRole(role), change.text)


def _system(text: str, changes: Iterable[PromptChange]) -> str:
    for effect, part, _ in changes:
        if effect.type is not EffectType.SYSTEM_UPDATE:
            continue
        if effect.mode is SystemUpdate.REPLACE or not text:
            text = part
        elif effect.mode is SystemUpdate.PREPEND:
            text = f"{part}\n\n{text}"
        else:
            text = f"{text}\n\n{part}"
    return text
