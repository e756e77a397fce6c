"""Defines assertions, in promptfoo's vocabulary, and their results. Each type is computed in `cupel_core/scoring`."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import INLINE, WRITTEN
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.scoring.unscored import UnscoredCause

NOT = "not-"
SELECT_BEST = "select-best"
MAX_SCORE = "max-score"
COMPARISONS = frozenset({SELECT_BEST, MAX_SCORE})
"""Assertion types that compare the answers of several targets to one case, once all have answered."""
NOT_COMPUTED = "could not be computed"
"""The reason of a result without a verdict, whose `error` says why."""


class FailureTag(StrEnum):
    """The values name the failure that a failed assertion indicates; an assertion may set a tag of its own."""

    GOAL_MISS = "GOAL_MISS"
    TOXICITY = "TOXICITY"
    REFUSAL = "REFUSAL"
    FORMAT_ERROR = "FORMAT_ERROR"


@dataclass(frozen=True)
class Assertion:
    """`kind` is the type without `not-`; the shape of `value` depends on it (docs/assertions.md)."""

    kind: str
    negated: bool = False
    value: Any = None
    threshold: float | None = None
    weight: float = 1.0
    """The weight of the score in the total. An assertion with 0 is computed and reported, but decides nothing."""
    metric: str | None = None
    """The score is also reported under this metric."""
    provider: str | None = None
    """The judge or embedding model, `provider/name`; None for the run's."""
    tag: str | None = None
    """A failure has this tag; None stands for the default of the kind."""
    config: Mapping[str, Any] | None = None
    """Some kinds have options here, such as the score of each category of `factuality`."""
    transforms: tuple[str, ...] = ()
    """The assertion checks their result instead of the whole answer; each gets the result of the one before it. Several
    are allowed only where code is allowed (`output_transforms.py`)."""
    turn: int | None = None
    """The checked answer of a conversation, from 1; None for the last."""
    is_default: bool = False
    """One of the default evaluators of a scale run (`default_evaluators.py`)."""
    parts: tuple["Assertion", ...] = ()

    @property
    def type(self) -> str:
        return f"{NOT if self.negated else ''}{self.kind}"

    def to_json(self) -> dict[str, Any]:
        fields = {
            "value": self.value,
            "threshold": self.threshold,
            "weight": self.weight if self.weight != 1.0 else None,
            "metric": self.metric,
            "provider": self.provider,
            "tag": self.tag,
            "config": dict(self.config) if self.config else None,
            "transform": self.transforms[0] if len(self.transforms) == 1 else [*self.transforms] or None,
            "turn": self.turn,
            "default": self.is_default or None,
            "assert": [part.to_json() for part in self.parts] or None,
        }
        return {"type": self.type, **{name: value for name, value in fields.items() if value is not None}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Assertion":
        type_name = str(data["type"])
        weight = data.get("weight")
        return cls(
            kind=type_name.removeprefix(NOT),
            negated=type_name.startswith(NOT),
            value=data.get("value"),
            threshold=data.get("threshold"),
            weight=1.0 if weight is None else weight,
            metric=data.get("metric"),
            provider=data.get("provider"),
            tag=data.get("tag"),
            config=data.get("config"),
            transforms=_transforms(data.get("transform")),
            turn=data.get("turn"),
            is_default=bool(data.get("default")),
            parts=tuple(map(cls.from_json, data.get("assert") or ())),
        )


def _transforms(written: str | Sequence[str] | None) -> tuple[str, ...]:
    return (written,) if isinstance(written, str) else tuple(written or ())


@dataclass(frozen=True)
class JudgeReply:
    """Contains the reply of a judge whose prompt the assertion's author wrote, as JSON text, and its usage."""

    text: str
    usage: Annotated[Usage, INLINE]
    finish_reason: Annotated[str | None, WRITTEN] = None


class UnusableJudgement(NamedTuple):
    """A judge gave `reply` instead of a verdict; `problem` says why. Both are cut, and may quote the answer."""

    problem: str
    reply: str


@dataclass(frozen=True)
class AssertionResult:
    """`passed` is None if it could not be computed: `error` says why, and it does not count as a model's failure."""

    type: str
    passed: bool | None
    score: float | None
    """The score is from 0 to 1."""
    reason: str
    weight: Annotated[float, WRITTEN] = 1.0
    metric: str | None = None
    tag: str | None = None
    """The failure tag; None unless the assertion failed."""
    error: str | None = None
    source: Annotated[str, WRITTEN] = "cupel"
    """`cupel`, or `external` for a result of an external evaluator."""
    parts: tuple["AssertionResult", ...] = ()
    judge_reply: JudgeReply | None = None
    """Stored for `label-model` and `score-model` only."""
    cause: UnscoredCause | None = None
    """The class of `error`; None exactly if `passed` is not None."""
    unusable_reply: UnusableJudgement | None = None
    """The judge's reply, if `error` is about an unusable one."""

    def __post_init__(self) -> None:
        if (self.passed is None) is (self.cause is None):
            raise ValueError(f"the result of {self.type} needs either an outcome or the cause why it has none")

    @classmethod
    def uncomputed(
        cls, type_name: str, error: str, cause: UnscoredCause, weight: float = 1.0, metric: str | None = None
    ) -> "AssertionResult":
        return cls(type_name, None, None, NOT_COMPUTED, weight, metric, error=error, cause=cause)


def flatten(assertions: Sequence[Assertion]) -> Iterator[Assertion]:
    """Yield all assertions, including the parts of sets, depth first."""
    for assertion in assertions:
        yield assertion
        yield from flatten(assertion.parts)
