"""Describes operations, which run before and after the main call of a turn.

They are read from JSON that the contract has validated.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode, decode_all
from cupel_core.domain.pipeline.artifacts import ArtifactSpec, PromptRole
from cupel_core.domain.pipeline.params import GuardParams, LlmParams, TemplateParams


class Hook(StrEnum):
    """The place of an operation in a turn: before or after the main call."""

    BEFORE = "before_main_llm"
    AFTER = "after_main_llm"


class Trigger(StrEnum):
    """The reason for a turn: a new message, or another answer to the last one."""

    GENERATE = "generate"
    REGENERATE = "regenerate"


class OperationKind(StrEnum):
    TEMPLATE = "template"
    LLM = "llm"
    GUARD = "guard"


class ConditionOperator(StrEnum):
    IS_TRUE = "is_true"
    IS_FALSE = "is_false"


@dataclass(frozen=True)
class RunCondition:
    operation_id: str
    output: str
    operator: ConditionOperator


class EffectType(StrEnum):
    SYSTEM_UPDATE = "prompt.system_update"
    AFTER_LAST_USER = "prompt.append_after_last_user"
    INSERT_AT_DEPTH = "prompt.insert_at_depth"
    REWRITE_USER = "turn.user.rewrite"
    REWRITE_ASSISTANT = "turn.assistant.rewrite"
    ANNOTATE_ASSISTANT = "turn.assistant.annotate"

    @property
    def changes_prompt(self) -> bool:
        return self.startswith("prompt.")

    @property
    def needs_answer(self) -> bool:
        return self.startswith("turn.assistant.")

    @property
    def rewritten(self) -> str | None:
        return _REWRITTEN.get(self)


_REWRITTEN = {
    EffectType.REWRITE_USER: "the user's message",
    EffectType.REWRITE_ASSISTANT: "the answer",
}


class SystemUpdate(StrEnum):
    PREPEND = "prepend"
    APPEND = "append"
    REPLACE = "replace"


@dataclass(frozen=True)
class OperationEffect:
    type: EffectType
    mode: SystemUpdate | None = None
    role: PromptRole | None = None
    depth_from_end: int | None = None
    template: str | None = None
    """The template that renders the value; None to convert the value to text."""


type OperationParams = TemplateParams | LlmParams | GuardParams

_PARAMS: dict[OperationKind, type[TemplateParams | LlmParams | GuardParams]] = {
    OperationKind.TEMPLATE: TemplateParams,
    OperationKind.LLM: LlmParams,
    OperationKind.GUARD: GuardParams,
}


@dataclass(frozen=True)
class ProfileOperation:
    """Describes a configured action, which produces one value, stores it under one tag and may use it in effects."""

    id: str
    name: str
    order: float
    hooks: tuple[Hook, ...]
    params: OperationParams
    artifact: ArtifactSpec
    triggers: tuple[Trigger, ...] = tuple(Trigger)
    enabled: bool = True
    required: bool = False
    depends_on: tuple[str, ...] = ()
    run_conditions: tuple[RunCondition, ...] = ()
    effects: tuple[OperationEffect, ...] = ()
    is_debugged: bool = False
    """Records of turns have the texts of the operation's calls."""

    @cached_property
    def kind(self) -> OperationKind:
        return next(kind for kind, params in _PARAMS.items() if isinstance(self.params, params))

    @property
    def rank(self) -> tuple[float, str]:
        """Return a sort key by which operations that do not depend on each other are ordered."""
        return self.order, self.id

    @cached_property
    def writer(self) -> Mapping[str, Any]:
        artifact = self.artifact
        return {
            "operationId": self.id,
            "title": artifact.title,
            "format": artifact.format,
            "usage": artifact.usage,
            "semantics": artifact.semantics,
        }

    @property
    def templates(self) -> dict[str, str]:
        own = {f"params.{name}": text for name, text in self.params.templates.items()}
        inclusion = self.artifact.inclusion
        if inclusion is not None and inclusion.template is not None:
            own["artifact.inclusion.template"] = inclusion.template
        for number, effect in enumerate(self.effects):
            if effect.template is not None:
                own[f"effects.{number}.template"] = effect.template
        return own

    @property
    def expressions(self) -> dict[str, str]:
        if not isinstance(self.params, GuardParams):
            return {}
        return {f"params.{name}": text for name, text in self.params.expressions.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            id=data["id"],
            name=data["name"],
            order=data["order"],
            hooks=tuple(map(Hook, data["hooks"])),
            params=decode(_PARAMS[OperationKind(data["kind"])], data["params"]),
            artifact=decode(ArtifactSpec, data["artifact"]),
            triggers=tuple(map(Trigger, data["triggers"])),
            enabled=data["enabled"],
            required=data["required"],
            depends_on=tuple(data["dependsOn"]),
            run_conditions=decode_all(RunCondition, data["runConditions"]),
            effects=decode_all(OperationEffect, data["effects"]),
            is_debugged=data.get("debug", {}).get("enabled", False),
        )
