"""What is asked and told about scorings beside a run's own, and about the figures of any scoring."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from cupel_core.analysis.scores import Scores
from cupel_core.contract.common import Answer, Request, Time
from cupel_core.contract.definitions import Words
from cupel_core.contract.headers import Url
from cupel_core.contract.results import ScoringAnswer, SpendAnswer, VerdictAnswer
from cupel_core.contract.runs import FailureAnswer, Model
from cupel_core.contract.scenarios import Assertions
from cupel_core.domain.scoring.rescores import Rescored, RescoringStatus
from cupel_core.domain.scoring.scores import ModelScores, ScenarioScores
from cupel_core.domain.turns.conversation import Criteria
from cupel_core.rescoring.queries import RescoringView
from cupel_core.rescoring.start import RescoringSpec


class OtherCriteria(Request):
    success: Words | None = None
    failure: Words | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "OtherCriteria":
        if not (self.success or self.failure):
            raise ValueError("must have success or failure, or both")
        return self


class RescoreRequest(Request):
    """What is left out is as it was in the run."""

    assertions: Annotated[
        Assertions | None, Field(description="Instead of those of the definition and of its scenarios")
    ] = None
    judge_model: Annotated[Model | None, Field(description="Another judge takes the verdicts on criteria again")] = None
    embedding_model: Model | None = None
    evaluator_url: Url | None = None
    criteria: Annotated[OtherCriteria | None, Field(description="Instead of those of each scenario")] = None

    def spec(self) -> RescoringSpec:
        return RescoringSpec(
            assertions=self.assertions,
            judge_model=self.judge_model,
            embedding_model=self.embedding_model,
            evaluator_url=self.evaluator_url,
            criteria=Criteria(self.criteria.success, self.criteria.failure) if self.criteria else None,
        )


class ScoringConfigAnswer(Answer):
    """Null is as in the run."""

    assertions: list[dict[str, Any]] | None
    judge_model: str | None
    embedding_model: str | None
    evaluator_url: str | None
    criteria: dict[str, str] | None


class ScoringProgressAnswer(Answer):
    total: Annotated[int, Field(description="Transcripts of the run")]
    scored: int
    errors: Annotated[int, Field(description="Transcripts of which something that counts could not be computed")]


class RescoringAnswer(Answer):
    id: str
    run_id: str
    status: RescoringStatus
    config: ScoringConfigAnswer
    progress: ScoringProgressAnswer
    created_at: Time
    completed_at: Time | None
    failure: FailureAnswer | None

    @classmethod
    def of(cls, view: RescoringView) -> "RescoringAnswer":
        told, tally = view.rescoring, view.tally
        told_config = told.config.to_json()
        return cls(
            id=told.id,
            run_id=told.run_id,
            status=told.status,
            config=ScoringConfigAnswer(
                assertions=told_config.get("assertions"),
                judge_model=told.config.judge_model,
                embedding_model=told.config.embedding_model,
                evaluator_url=told.config.evaluator_url,
                criteria=told_config.get("criteria"),
            ),
            progress=ScoringProgressAnswer(
                total=max(told.total, tally.scored + tally.errors), scored=tally.scored, errors=tally.errors
            ),
            created_at=told.created_at,
            completed_at=told.completed_at,
            failure=FailureAnswer(where=told.failure.where, why=told.failure.why) if told.failure else None,
        )


class RescoringList(Answer):
    items: list[RescoringAnswer]
    next_cursor: str | None


class ScoredProbeAnswer(Answer):
    probe_index: int
    scenario_id: str
    model_id: str
    persona_id: str | None
    success: Annotated[bool | None, Field(description="Null where nothing was judged or it could not be")]
    score: float | None
    scoring: Annotated[ScoringAnswer | None, Field(description="Null once what was said was deleted")]
    verdict: VerdictAnswer | None
    judge: Annotated[SpendAnswer, Field(description="What judging this has used")]

    @classmethod
    def of(cls, result: Rescored) -> "ScoredProbeAnswer":
        scoring = result.scoring
        return cls(
            probe_index=result.index,
            scenario_id=result.scenario_id,
            model_id=result.model_id,
            persona_id=result.persona_id,
            success=result.success,
            score=result.score,
            scoring=ScoringAnswer.of(scoring) if scoring else None,
            verdict=VerdictAnswer.of(scoring.verdict) if scoring and scoring.verdict else None,
            judge=SpendAnswer.of(result.judge),
        )


class ScoredProbeList(Answer):
    items: list[ScoredProbeAnswer]
    next_cursor: str | None


_ALL_OF_K = "Probability that all of k repeats succeed, likewise"
_ANY_OF_K = "Probability that one of k repeats succeeds, unbiased; null where there are less than k results"


class ModelScoresAnswer(Answer):
    model_id: str
    judged: int
    successes: int
    unscored: Annotated[int, Field(description="Transcripts without a result; no part of the other figures")]
    mean: Annotated[float | None, Field(description="Share of successes")]
    standard_error: Annotated[float | None, Field(description="Of the mean, clustered by scenario")]
    interval95: Annotated[list[float] | None, Field(description="Wilson's, for as many trials as are independent")]
    mean_score: float | None
    pass_at_k: Annotated[float | None, Field(description=f"{_ANY_OF_K}. The mean over the scenarios")]
    pass_hat_k: Annotated[float | None, Field(description=_ALL_OF_K)]
    metrics: Annotated[dict[str, float], Field(description="Means by name")]
    tags: Annotated[dict[str, int], Field(description="How many transcripts have failed with each")]

    @classmethod
    def of(cls, scores: ModelScores) -> "ModelScoresAnswer":
        return cls(
            model_id=scores.model_id,
            judged=scores.judged,
            successes=scores.successes,
            unscored=scores.unscored,
            mean=scores.mean,
            standard_error=scores.standard_error,
            interval95=list(scores.interval) if scores.interval else None,
            mean_score=scores.mean_score,
            pass_at_k=scores.pass_at_k,
            pass_hat_k=scores.pass_hat_k,
            metrics=dict(scores.metrics),
            tags=dict(scores.tags),
        )


class ScoresAnswer(Answer):
    run_id: str
    scoring_id: Annotated[str | None, Field(description="Null for the run's own scoring")]
    k: int
    models: list[ModelScoresAnswer]

    @classmethod
    def of(cls, scores: Scores, scoring_id: str | None) -> "ScoresAnswer":
        models = [ModelScoresAnswer.of(each) for each in scores.models]
        return cls(run_id=scores.run.id, scoring_id=scoring_id, k=scores.k, models=models)


class ScenarioScoresAnswer(Answer):
    scenario_id: str
    model_id: str
    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: Annotated[float | None, Field(description="Of the mean over this scenario's results")]
    pass_at_k: Annotated[float | None, Field(description=f"{_ANY_OF_K}; with several personas the mean over them")]
    pass_hat_k: Annotated[float | None, Field(description=_ALL_OF_K)]

    @classmethod
    def of(cls, scores: ScenarioScores) -> "ScenarioScoresAnswer":
        return cls(**{name: value for name, value in vars(scores).items() if name != "first_index"})


class ScenarioScoresList(Answer):
    items: list[ScenarioScoresAnswer]
    next_cursor: str | None
