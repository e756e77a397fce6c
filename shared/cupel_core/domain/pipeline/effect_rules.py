"""Rules about effects: what is possible where, and which operations would overwrite each other's changes."""

from collections.abc import Iterator
from typing import NamedTuple

from cupel_core.domain.pipeline.operations import EffectType, Hook, OperationEffect, ProfileOperation
from cupel_core.domain.pipeline.profiles import Pipeline, ProfileIssue


def effect_issues(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    for number, operation in enumerate(pipeline.operations):
        for position, effect in enumerate(operation.effects):
            field = f"operations.{number}.effects.{position}"
            if message := _hook_error(operation, effect.type):
                yield ProfileIssue(f"{field}.type", message)
            yield from (ProfileIssue(f"{field}.{name}", message) for name, message in _field_issues(effect))
            if effect.type.rewritten and effect.type in (each.type for each in operation.effects[:position]):
                yield ProfileIssue(f"{field}.type", f"rewrites {effect.type.rewritten} twice")
    yield from _rival_rewrites(pipeline)


_FIELDS = {
    "mode": (EffectType.SYSTEM_UPDATE,),
    "role": (EffectType.AFTER_LAST_USER, EffectType.INSERT_AT_DEPTH),
    "depthFromEnd": (EffectType.INSERT_AT_DEPTH,),
}
"""Fields that an effect of these types must have, and others cannot."""


def _field_issues(effect: OperationEffect) -> Iterator[ProfileIssue]:
    values = {"mode": effect.mode, "role": effect.role, "depthFromEnd": effect.depth_from_end}
    for name, types in _FIELDS.items():
        if effect.type in types and values[name] is None:
            yield ProfileIssue(name, f"is required with {effect.type}")
        elif effect.type not in types and values[name] is not None:
            yield ProfileIssue(name, f"is only possible with {' or '.join(types)}")


def _hook_error(operation: ProfileOperation, effect: EffectType) -> str | None:
    if effect.changes_prompt and operation.hooks != (Hook.BEFORE,):
        return "prompt effects are not possible in after_main_llm: hooks must be before_main_llm alone"
    if effect.needs_answer and operation.hooks != (Hook.AFTER,):
        return "there is no answer yet in before_main_llm: hooks must be after_main_llm alone"
    return None


class _Rewrite(NamedTuple):
    field: str
    operation: ProfileOperation
    type: EffectType


def _rival_rewrites(pipeline: Pipeline) -> Iterator[ProfileIssue]:
    """Two operations that rewrite one text in one hook, of which neither depends on the other."""
    rewrites = [
        _Rewrite(f"operations.{number}.effects.{position}.type", operation, effect.type)
        for number, operation in enumerate(pipeline.operations)
        for position, effect in enumerate(operation.effects)
        if effect.type.rewritten
    ]
    for number, rewrite in enumerate(rewrites):
        rival = next((each for each in rewrites[:number] if _are_rivals(pipeline, each, rewrite)), None)
        if rival is not None:
            both = f"{rival.operation.id} and {rewrite.operation.id}"
            message = f"{both} both rewrite {rewrite.type.rewritten}: make one depend on the other"
            yield ProfileIssue(rewrite.field, message)


def _are_rivals(pipeline: Pipeline, first: _Rewrite, second: _Rewrite) -> bool:
    one, other = first.operation, second.operation
    if first.type is not second.type or one.id == other.id or not set(one.hooks) & set(other.hooks):
        return False
    return not pipeline.depends(one, other.id) and not pipeline.depends(other, one.id)
