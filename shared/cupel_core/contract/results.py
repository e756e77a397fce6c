"""What is told about results: verdicts, assertions, scores, and what finding them has cost."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import Answer
from cupel_core.domain.runs.transcripts import Result
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.turns.conversation import Spend, Verdict


class UsageAnswer(Answer):
    input_tokens: int
    output_tokens: int


class SpendAnswer(Answer):
    calls: int
    usage: UsageAnswer
    cost_usd: Annotated[float | None, Field(description="Null for a model without a known price")]

    @classmethod
    def of(cls, spend: Spend) -> "SpendAnswer":
        usage = UsageAnswer(input_tokens=spend.usage.input_tokens, output_tokens=spend.usage.output_tokens)
        return cls(calls=spend.calls, usage=usage, cost_usd=spend.cost_usd)


class ResultAnswer(Answer):
    success: bool
    score: float | None
    reason: str | None

    @classmethod
    def of(cls, result: Result | None) -> "ResultAnswer | None":
        if result is None:
            return None
        return cls(success=result.success, score=result.score, reason=result.reason)


class VerdictAnswer(Answer):
    success_met: bool
    failure_met: bool
    confidence: float
    reasoning: str
    raw_response: str

    @classmethod
    def of(cls, verdict: Verdict) -> "VerdictAnswer":
        return cls(**vars(verdict))


class AssertionResultAnswer(Answer):
    type: str
    passed: Annotated[bool | None, Field(description="Null when it could not be computed; error says why")]
    score: float | None
    reason: str
    weight: float
    metric: str | None
    tag: Annotated[str | None, Field(description="What kind of failure it is")]
    error: str | None
    source: Annotated[str, Field(description="cupel, or external for an external evaluator's")]
    parts: list[dict[str, Any]]

    @classmethod
    def of(cls, result: AssertionResult) -> "AssertionResultAnswer":
        return cls(**{**vars(result), "parts": [part.to_json() for part in result.parts]})


class ScoringAnswer(Answer):
    success: Annotated[bool | None, Field(description="Null when something that counts could not be computed")]
    score: float | None
    reason: str
    results: list[AssertionResultAnswer]
    tags: list[str]
    metrics: dict[str, float]
    evaluator_note: Annotated[str | None, Field(description="Why an external evaluator has no part in it")]

    @classmethod
    def of(cls, scoring: Scoring) -> "ScoringAnswer":
        return cls(
            success=scoring.success,
            score=scoring.score,
            reason=scoring.reason,
            results=[AssertionResultAnswer.of(result) for result in scoring.results],
            tags=list(scoring.tags),
            metrics=dict(scoring.metrics),
            evaluator_note=scoring.evaluator_note,
        )
