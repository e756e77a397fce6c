"""A scoring of a run beside the one its transcripts carry: by other assertions, another judge or other criteria.

The targets are not called: what they said is judged anew, and each scoring keeps its own results.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from cupel_core.domain.runs.run import Failure, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.turns.conversation import Criteria, Spend

RESCORABLE = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
"""The statuses in which nothing is said any more."""


class RescoringStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"

    @property
    def is_over(self) -> bool:
        return self in (RescoringStatus.COMPLETED, RescoringStatus.FAILED)


@dataclass(frozen=True)
class RescoringConfig:
    """What is to be otherwise than in the run; what is None stays as it was."""

    assertions: tuple[Assertion, ...] | None = None
    """Instead of those of the definition and of each scenario."""
    judge_model: str | None = None
    embedding_model: str | None = None
    evaluator_url: str | None = None
    criteria: Criteria | None = None
    """Instead of each scenario's."""

    def evaluation(self, of_run: Evaluation) -> Evaluation:
        return Evaluation(self.judge_model, None, self.embedding_model, self.evaluator_url).over(of_run)

    def judges_anew(self, of_run: Evaluation) -> bool:
        """Whether verdicts on criteria are taken again; else those of the run stand."""
        return self.criteria is not None or self.judge_model not in (None, of_run.judge_model)

    def to_json(self) -> dict[str, Any]:
        criteria = self.criteria and {"success": self.criteria.success, "failure": self.criteria.failure}
        told = {
            "assertions": None if self.assertions is None else [each.to_json() for each in self.assertions],
            "judgeModel": self.judge_model,
            "embeddingModel": self.embedding_model,
            "evaluatorUrl": self.evaluator_url,
            "criteria": criteria and {name: text for name, text in criteria.items() if text},
        }
        return {name: value for name, value in told.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RescoringConfig":
        assertions, criteria = data.get("assertions"), data.get("criteria")
        return cls(
            assertions=None if assertions is None else tuple(map(Assertion.from_json, assertions)),
            judge_model=data.get("judgeModel"),
            embedding_model=data.get("embeddingModel"),
            evaluator_url=data.get("evaluatorUrl"),
            criteria=Criteria(criteria.get("success"), criteria.get("failure")) if criteria else None,
        )


@dataclass(frozen=True)
class Tally:
    """Of the transcripts that a scoring has results of; `errors` are those that could not be scored."""

    scored: int = 0
    errors: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.scored + other.scored, self.errors + other.errors)


@dataclass(frozen=True)
class Rescoring:
    """`total` are the transcripts that the run had when this was asked for."""

    workspace: str
    run_id: str
    id: str
    config: RescoringConfig
    total: int
    probes: int
    """Of the run's plan then: an expansion adds none to this."""
    generation: int
    """Of the run then: what a later retry brings is not scored."""
    created_at: datetime
    status: RescoringStatus = RescoringStatus.PENDING
    completed_at: datetime | None = None
    failure: Failure | None = None
    tally: Tally | None = None
    """Once it is over."""

    def ended(
        self, status: RescoringStatus, now: datetime, tally: Tally, failure: Failure | None = None
    ) -> "Rescoring":
        return replace(self, status=status, completed_at=now, tally=tally, failure=failure)


@dataclass(frozen=True)
class Rescored:
    """What became of one transcript in a scoring."""

    index: int
    scenario_id: str
    model_id: str
    persona_id: str | None
    success: bool | None
    score: float | None
    unscored: bool
    """Something that counts could not be computed."""
    scoring: Scoring | None
    """None once what was said in the conversation was deleted: judges quote from it."""
    judge: Spend = field(default_factory=Spend)
    expires_at: datetime | None = None

    @classmethod
    def of(cls, transcript: Transcript, scoring: Scoring, judge: Spend) -> "Rescored":
        return cls(
            index=transcript.probe_index,
            scenario_id=transcript.scenario_id,
            model_id=transcript.model_id,
            persona_id=transcript.persona_id,
            success=scoring.success,
            score=scoring.score,
            unscored=any(result.passed is None and result.weight > 0 for result in scoring.results),
            scoring=scoring,
            judge=judge,
            expires_at=transcript.content_expires_at,
        )
