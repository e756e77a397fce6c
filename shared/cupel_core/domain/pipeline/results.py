from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.text.storable import storable

MAX_ERROR_LENGTH = 500
_NOTHING = Spend()


class StepStatus(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    ERROR = "error"


class SkipReason(StrEnum):
    GUARD_NOT_MATCHED = "guard_not_matched"
    DEPENDENCY_NOT_DONE = "dependency_not_done"
    DEPENDENCY_MISSING = "dependency_missing"
    CONDITION_FALSE = "condition_false"


class StepErrorCode(StrEnum):
    """Codes besides those of providers (`ProbeErrorCode`)."""

    TEMPLATE_RENDER_ERROR = "template_render_error"
    OUTPUT_PARSE_ERROR = "output_parse_error"
    OUTPUT_SCHEMA_ERROR = "output_schema_error"
    BUDGET_EXCEEDED = "budget_exceeded"
    DEPENDENCY_FAILED = "dependency_failed"
    VALIDATION_ERROR = "validation_error"


class StepError(NamedTuple):
    code: str
    message: str


class EffectText(NamedTuple):
    """Contains the text that an effect inserts or writes, or why it could not be rendered."""

    text: str = ""
    error: str | None = None


type CallSummary = Mapping[str, Mapping[str, Any]]
"""The bounded `{inputs, outputs}` of an operation's call for the record of its turn; empty without a call."""


class PaidAnswer(NamedTuple):
    text: str
    spend: Spend
    call: CallSummary = MappingProxyType({})


@dataclass(frozen=True)
class StepResult:
    """Describes the end of one operation in one hook. Only operations that are done have a value and payloads."""

    status: StepStatus
    value: Any = None
    """The value of the artifact, after the write mode was applied."""
    payloads: tuple[EffectText, ...] = ()
    inclusion: EffectText | None = None
    skip_reason: SkipReason | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """The reason why the operation was skipped: what blocked it, or which condition did not hold."""
    error: StepError | None = None
    spend: Spend = _NOTHING
    duration_ms: int = 0
    started_at: str = ""
    """Empty if the operation never began."""
    call: CallSummary = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return self.status is StepStatus.DONE

    @property
    def payload_error(self) -> str | None:
        payloads = (*self.payloads, *([self.inclusion] if self.inclusion else []))
        return next((each.error for each in payloads if each.error is not None), None)

    @classmethod
    def skipped(cls, reason: SkipReason, **details: Any) -> Self:
        return cls(StepStatus.SKIPPED, skip_reason=reason, details=details)

    @classmethod
    def failed(
        cls, code: str, message: str, spend: Spend | None = None, call: CallSummary | None = None, **details: Any
    ) -> Self:
        error = StepError(code, storable(message, MAX_ERROR_LENGTH))
        return cls(StepStatus.ERROR, error=error, details=details, spend=spend or _NOTHING, call=call or {})

    def timed(self, started_at: str, duration_ms: int) -> Self:
        return replace(self, started_at=started_at, duration_ms=duration_ms)
