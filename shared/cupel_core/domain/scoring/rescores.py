"""Describes rescores, which grade a run's transcripts again, with other assertions, another judge or other criteria.

The targets are not called again. Each rescore has its own results, beside the scoring stored with each transcript.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.money import limit_text
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import RunFailure, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GRADING_VERSION, GraderConfig
from cupel_core.domain.scoring.scoring import Scoring

RESCORABLE = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
"""A run's transcripts no longer change in these statuses."""


BUDGET = "budget"
"""Replaces the phase in which a rescore failed if its own budget was used up."""
JUDGE = "judge"
"""Replaces the phase in which a rescore failed if an unusable judge stopped it."""
SCORE = "score"
"""The phase in which a rescore failed if it could score nothing."""


class RescoreStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"

    @property
    def is_over(self) -> bool:
        return self in (RescoreStatus.COMPLETED, RescoreStatus.FAILED)


@dataclass(frozen=True)
class RescoreConfig:
    """Contains what differs from the run's configuration; None keeps the run's."""

    assertions: tuple[Assertion, ...] | None = None
    """Assertions that replace those of the definition and of each scenario."""
    judge_model: str | None = None
    embedding_model: str | None = None
    evaluator_url: str | None = None
    criteria: Criteria | None = None
    judges_again: bool = False
    """True if criteria are judged again even by the run's own judge."""

    def grader_config(self, run_config: GraderConfig) -> GraderConfig:
        return GraderConfig(self.judge_model, None, self.embedding_model, self.evaluator_url).with_defaults(run_config)

    def requires_new_verdicts(self, run_config: GraderConfig) -> bool:
        """Return whether criteria are judged again; otherwise the run's verdicts are reused."""
        is_other = self.criteria is not None or self.judge_model not in (None, run_config.judge_model)
        return self.judges_again or is_other


@dataclass(frozen=True)
class RescoreCounts:
    """Counts graded transcripts; `errors` are those that could not be graded."""

    scored: int = 0
    errors: int = 0

    def __add__(self, other: "RescoreCounts") -> "RescoreCounts":
        return RescoreCounts(self.scored + other.scored, self.errors + other.errors)


@dataclass(frozen=True)
class Rescore:
    """`total` is the number of transcripts the run had when the rescore was requested."""

    workspace: str
    run_id: str
    id: str
    config: RescoreConfig
    total: int
    probe_count: int
    """The size of the run's plan at that time; a later expansion adds none."""
    retry_round: int
    """The run's retry round at that time; transcripts of later rounds are not graded."""
    created_at: datetime
    status: RescoreStatus = RescoreStatus.PENDING
    completed_at: datetime | None = None
    failure: RunFailure | None = None
    counts: RescoreCounts | None = None
    max_budget_usd: float | None = None
    """The rescore's own budget; without it, its calls are charged to the budget of the run."""
    is_exhausted: bool = False
    """The rescore's own budget is used up, so nothing more is graded."""
    unusable_judge: str | None = None
    """Says why the judge is not called any more: none of its first replies was usable, so nothing more is graded."""
    execution: int = 1
    """The number of the latest requested execution; each raise of the budget requests another one."""
    grading_version: int = GRADING_VERSION
    """The version of the code that grades, as it was when the rescore was requested."""
    selected: tuple[int, ...] | None = None
    """The only probes whose transcripts are graded, ascending; None for all."""

    @property
    def is_partial(self) -> bool:
        return self.selected is not None

    def chosen(self, indexes: range) -> Sequence[int]:
        """Return those of the indexes whose transcripts are graded."""
        if self.selected is None:
            return indexes
        return self.selected[bisect_left(self.selected, indexes.start) : bisect_left(self.selected, indexes.stop)]

    @property
    def is_stopped(self) -> bool:
        """Return whether nothing more is graded, although the rescore has not ended."""
        return self.is_exhausted or self.unusable_judge is not None

    @property
    def is_stopped_by_budget(self) -> bool:
        return self.failure is not None and self.failure.where == BUDGET

    def with_budget(self, max_usd: float) -> "Rescore":
        """Return the rescore as PENDING, to grade what is left. Its budget must have stopped it."""
        return replace(
            self,
            status=RescoreStatus.PENDING,
            completed_at=None,
            failure=None,
            counts=None,
            max_budget_usd=max_usd,
            is_exhausted=False,
            execution=self.execution + 1,
        )

    def finished(
        self, now: datetime, counts: RescoreCounts, failure: RunFailure | None = None, why_unscored: str = ""
    ) -> "Rescore":
        """Return it as COMPLETED, or FAILED if its workflow failed, its budget was too small, or it scored nothing."""
        failure = failure or (self._budget_failure(counts) if self.is_exhausted else None)
        failure = failure or self._judge_failure(counts, why_unscored)
        status = RescoreStatus.COMPLETED if failure is None else RescoreStatus.FAILED
        return replace(self, status=status, completed_at=now, counts=counts, failure=failure)

    def _judge_failure(self, counts: RescoreCounts, why_unscored: str) -> RunFailure | None:
        """Return the failure of a rescore that its judge stopped, or that scored nothing; None otherwise."""
        graded = counts.scored + counts.errors
        if self.unusable_judge is not None:
            left = max(0, self.total - graded)
            return RunFailure(JUDGE, f"{self.unusable_judge}; {left:,} of {self.total:,} transcripts were not graded")
        if counts.errors and not counts.scored:
            return RunFailure(SCORE, f"none of {graded:,} transcripts could be scored: {why_unscored}")
        return None

    def _budget_failure(self, counts: RescoreCounts) -> RunFailure:
        graded, limit = counts.scored + counts.errors, limit_text(self.max_budget_usd or 0.0)
        why = (
            f"its budget of {limit} was used up after {graded:,} of {max(self.total, graded):,} "
            "transcripts; their results are stored, and a greater maxBudgetUsd lets it grade the others"
        )
        return RunFailure(BUDGET, why)


@dataclass(frozen=True)
class RescoreResult:
    index: int
    scenario_id: str
    model_id: str
    persona_id: str | None
    success: bool | None
    score: float | None
    unscored: bool
    """Something that counts could not be computed."""
    scoring: Scoring | None
    """None once the transcript's content was deleted, because judges quote from it."""
    judge: Spend = field(default_factory=Spend)
    expires_at: datetime | None = None

    def readable_at(self, now: datetime) -> "RescoreResult":
        """Return the result without the judges' comments once the transcript's content has expired."""
        return self if self.expires_at is None or self.expires_at > now else replace(self, scoring=None)

    def with_scoring(self, scoring: Scoring) -> "RescoreResult":
        return replace(
            self, success=scoring.success, score=scoring.score, unscored=scoring.is_unscored, scoring=scoring
        )

    @classmethod
    def of(cls, transcript: Transcript, scoring: Scoring, judge: Spend) -> "RescoreResult":
        return cls(
            index=transcript.probe_index,
            scenario_id=transcript.scenario_id,
            model_id=transcript.model_id,
            persona_id=transcript.persona_id,
            success=scoring.success,
            score=scoring.score,
            unscored=scoring.is_unscored,
            scoring=scoring,
            judge=judge,
            expires_at=transcript.content_expires_at,
        )


class RescoreResultView(NamedTuple):
    result: RescoreResult
    column: Column
    scenario_name: str | None
    """None only if the run's snapshot was deleted."""


class RescoreView(NamedTuple):
    rescore: Rescore
    counts: RescoreCounts
    account: BudgetAccount | None = None


class LabelledSelection(NamedTuple):
    """Selects transcripts that people have labelled."""

    criterion: str
    number: int | None = None
    """The number of them, drawn at random; None for all."""
    seed: int = 0


@dataclass(frozen=True)
class RescoreSpec:
    """Requests a rescore; assertions are in JSON, not yet validated."""

    assertions: Sequence[Mapping[str, Any]] | None = None
    judge_model: str | None = None
    embedding_model: str | None = None
    evaluator_url: str | None = None
    criteria: Criteria | None = None
    max_budget_usd: float | None = None
    allow_unpriced: bool = False
    judges_again: bool = False
    labelled: LabelledSelection | None = None
    """The transcripts that are graded; None for all."""

    def config(self) -> RescoreConfig:
        return RescoreConfig(
            assertions=None if self.assertions is None else tuple(map(Assertion.from_json, self.assertions)),
            judge_model=self.judge_model,
            embedding_model=self.embedding_model,
            evaluator_url=self.evaluator_url,
            criteria=self.criteria,
            judges_again=self.judges_again,
        )
