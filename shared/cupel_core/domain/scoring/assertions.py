"""Assertions in the words of promptfoo, and what comes of them. How each type is computed is in `shared/scoring`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

NOT = "not-"


class Tag(StrEnum):
    """What kind of failure a failed assertion shows; an assertion may name another of its own."""

    GOAL_MISS = "GOAL_MISS"
    TOXICITY = "TOXICITY"
    REFUSAL = "REFUSAL"
    FORMAT_ERROR = "FORMAT_ERROR"


@dataclass(frozen=True)
class Assertion:
    """One check. `kind` is its type without `not-`; what `value` may be depends on it (docs/assertions.md)."""

    kind: str
    negated: bool = False
    value: Any = None
    threshold: float | None = None
    weight: float = 1.0
    """Of its score in the whole. 0: it is computed and told, and decides nothing."""
    metric: str | None = None
    """Under which name its score is also told."""
    provider: str | None = None
    """The model that judges or embeds, `provider/name`; the run's when None."""
    tag: str | None = None
    """Of a failure; by its kind when None."""
    config: Mapping[str, Any] | None = None
    """What only some kinds know, such as what each category of `factuality` scores."""
    parts: tuple["Assertion", ...] = ()
    """Of an assert-set."""

    @property
    def type(self) -> str:
        """As it is written, such as `not-contains`."""
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
            "assert": [part.to_json() for part in self.parts] or None,
        }
        return {"type": self.type, **{name: value for name, value in fields.items() if value is not None}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Assertion":
        written = str(data["type"])
        weight = data.get("weight")
        return cls(
            kind=written.removeprefix(NOT),
            negated=written.startswith(NOT),
            value=data.get("value"),
            threshold=data.get("threshold"),
            weight=1.0 if weight is None else weight,
            metric=data.get("metric"),
            provider=data.get("provider"),
            tag=data.get("tag"),
            config=data.get("config"),
            parts=tuple(map(cls.from_json, data.get("assert") or ())),
        )


@dataclass(frozen=True)
class AssertionResult:
    """`passed` is None when it could not be computed: `error` says why, and nothing is held against a model."""

    type: str
    passed: bool | None
    score: float | None
    """From 0 to 1."""
    reason: str
    weight: float = 1.0
    metric: str | None = None
    tag: str | None = None
    """Only of a failure."""
    error: str | None = None
    source: str = "cupel"
    """`cupel`, or `external` for what an external evaluator answered."""
    parts: tuple["AssertionResult", ...] = ()

    def to_json(self) -> dict[str, Any]:
        fields = {
            "metric": self.metric,
            "tag": self.tag,
            "error": self.error,
            "parts": [part.to_json() for part in self.parts] or None,
        }
        return {
            "type": self.type,
            "passed": self.passed,
            "score": self.score,
            "reason": self.reason,
            "weight": self.weight,
            "source": self.source,
            **{name: value for name, value in fields.items() if value is not None},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "AssertionResult":
        return cls(**{**data, "parts": tuple(map(cls.from_json, data.get("parts") or ()))})


def flat(assertions: Sequence[Assertion]) -> Iterator[Assertion]:
    """All of them, with the parts of sets."""
    for assertion in assertions:
        yield assertion
        yield from flat(assertion.parts)
