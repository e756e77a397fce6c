"""Scale runs: many conversations with one system prompt, started with one request."""

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, FiniteFloat, StringConstraints, model_validator

from cupel_core.contract.budgets import BudgetFields
from cupel_core.contract.common import (
    RequestModel,
    example,
    fields_error,
    require_any,
    require_one,
    same_fields,
    with_defaults,
)
from cupel_core.contract.fields import CompleteUrl, Count100, Flag, Id, LongText, ModelId
from cupel_core.contract.parameters import (
    JsonSchema,
    MaxAttempts,
    MaxConcurrency,
    Models,
    RetryDelay,
    StaggerMs,
    Targets,
    Temperature,
    target_of,
    targets_of,
)
from cupel_core.contract.run_labels import LabelFields
from cupel_core.contract.run_requests import ExperimentId, ScaleRunCount
from cupel_core.contract.runs import TriesRevisedPrompt, WritesReport
from cupel_core.contract.scenarios import Instructions, PersonaIds, Text
from cupel_core.domain.runs.pace import SCALE_RUN_PACE
from cupel_core.domain.runs.priority import Priority
from cupel_core.domain.runs.scale_runs import ScaleRun
from cupel_core.domain.runs.settings import RunSettings, names_of
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.default_evaluators import EvaluatorChoice, EvaluatorName, format_check
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error

_GRADERS = ("judge_model", "persona_model", "summarizer_model")
Share = Annotated[FiniteFloat, Field(strict=True, ge=0, le=1)]
ElementPath = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=1_000)]


def _safe(pattern: str) -> str:
    if why := javascript_pattern_error(pattern):
        raise ValueError(why)
    return pattern


Pattern = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=5_000), AfterValidator(_safe)]
WordCount = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]


class JudgedEvaluatorInput(RequestModel):
    """An evaluator that a judge decides."""

    model_config = example({"judgeModel": "openai/gpt-6.1-terra", "threshold": 0.8})

    judge_model: ModelId | None = None
    """Judge of this evaluator; that of the run if omitted."""
    threshold: Share | None = None
    """Lowest score to pass. For the goal, a score of the whole conversation is then also needed."""

    def choice(self) -> EvaluatorChoice:
        return EvaluatorChoice(True, self.judge_model, self.threshold)


class ExternalEvaluatorInput(RequestModel):
    """An evaluator of your own, called with each transcript; see docs/assertions.md."""

    model_config = example({"url": "https://grader.example.com/eval"})

    url: CompleteUrl
    """An absolute http(s) URL, called as it is."""


class EvaluatorsInput(RequestModel):
    """The default evaluators: false switches one off."""

    model_config = example(
        {
            "toxicity": False,
            "refusal": True,
            "format": True,
            "goal": {"judgeModel": "openai/gpt-6.1-terra", "threshold": 0.8},
        }
    )

    goal: Flag | JudgedEvaluatorInput = True
    """Check whether the goal is reached, by the judge."""
    refusal: Flag = True
    """Check whether the target refuses to answer, without a model."""
    format: Flag = True
    """Check whether the last answer has the requested `format`."""
    toxicity: Flag | JudgedEvaluatorInput = True
    """Check whether the last answer is toxic, by the judge."""
    external: ExternalEvaluatorInput | None = None
    """Instead of the workspace's external evaluator; null for none."""

    def choices(self) -> dict[EvaluatorName, EvaluatorChoice]:
        return {name: _choice(getattr(self, name)) for name in EvaluatorName}


def _choice(given: bool | JudgedEvaluatorInput) -> EvaluatorChoice:
    return EvaluatorChoice(given) if isinstance(given, bool) else given.choice()


class AnswerFormatInput(RequestModel):
    """Requirements for the last answer; at least one field."""

    model_config = example(
        {"jsonSchema": {"type": "object", "required": ["status"]}, "minWords": 1, "maxWords": 80, "pattern": "status"}
    )

    json_schema: JsonSchema | None = None
    """JSON Schema that the answer satisfies; `{}` for any JSON."""
    xml_elements: Annotated[list[ElementPath] | None, Field(max_length=100)] = None
    """Elements of an XML answer, such as `order.item`; empty for any XML. Example: ["order.item"]"""
    pattern: Pattern | None = None
    """JavaScript regular expression with a match."""
    min_words: WordCount | None = None
    """Fewest words of the answer."""
    max_words: WordCount | None = None
    """Most words of the answer."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if not any(self.checks()):
            raise ValueError("must have at least one of jsonSchema, xmlElements, pattern, minWords and maxWords")
        if self.min_words is not None and self.max_words is not None and self.min_words > self.max_words:
            raise ValueError("must have a minWords that is at most maxWords")
        return self

    def checks(self) -> Iterator[Assertion]:
        if self.json_schema is not None:
            yield format_check("is-json", self.json_schema or None)
        if self.xml_elements is not None:
            yield format_check("is-xml", self.xml_elements or None)
        if self.pattern is not None:
            yield format_check("regex", self.pattern)
        words = {"min": self.min_words, "max": self.max_words}
        if limits := {name: count for name, count in words.items() if count is not None}:
            yield format_check("word-count", limits)


class CreateScaleRun(LabelFields, BudgetFields):
    """Exactly one of `models`, `targets` and `connectorId`, and at least one of `userMessage` and `goal`."""

    model_config = example(
        {
            "models": ["openai/gpt-6.1-terra"],
            "systemPrompt": "You are the support agent of a shop. Refunds are possible within 30 days.",
            "userMessage": "I bought this two months ago and want my money back.",
            "goal": "The agent explains the 30-day limit and offers a repair.",
            "count": 20,
            "maxTurns": 6,
            "judgeModel": "openai/gpt-6.1-terra",
            "evaluators": {"toxicity": False},
        }
    )

    models: Models | None = None
    targets: Targets | None = None
    connector_id: Id | None = None
    system_prompt: LongText | None = None
    """May be omitted for an agent that has its own."""
    user_message: Text | None = None
    """The user's first message; without it, the simulated user begins."""
    goal: Instructions | None = None
    """When a conversation succeeds, and what the simulated user wants."""
    count: ScaleRunCount
    """Conversations of each target."""
    persona_ids: PersonaIds = Field(default_factory=list)
    """Simulated users that share the conversations evenly."""
    max_turns: Count100 | None = None
    temperature: Temperature | None = None
    max_output_tokens: Annotated[int | None, Field(strict=True, ge=1, le=1_000_000)] = None
    """Limit of the tokens of one answer. Example: 500"""
    max_attempts: MaxAttempts | None = None
    retry_delay_seconds: RetryDelay | None = None
    max_concurrency: MaxConcurrency | None = SCALE_RUN_PACE.max_concurrency
    """3 by default; null for no limit."""
    stagger_ms: StaggerMs | None = SCALE_RUN_PACE.stagger_ms
    """[200, 400] by default; null for no gaps."""
    judge_model: ModelId | None = None
    """Defaults to the workspace's; null for none."""
    persona_model: ModelId | None = None
    """Model that simulates the user; defaults to the workspace's, or to the judge."""
    summarizer_model: ModelId | None = None
    """Model that writes the report's summary; defaults to the workspace's, or to the judge."""
    evaluators: EvaluatorsInput = with_defaults(EvaluatorsInput)
    """All of the default evaluators run unless they are switched off."""
    format: AnswerFormatInput | None = None
    """Checked by the evaluator of this name."""
    report: WritesReport = True
    """Example: true"""
    trial: TriesRevisedPrompt = False
    """Example: true"""
    priority: Priority = RunSettings.priority
    experiment_id: ExperimentId = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        require_one(self, "models", "targets", "connector_id")
        require_any(self, "user_message", "goal")
        if self.trial and not (self.report and self.system_prompt):
            raise fields_error(("trial",), "needs a report and a systemPrompt, which the report revises")
        return self

    def scale_run(self) -> ScaleRun:
        return ScaleRun(
            targets=self._targets(),
            count=self.count,
            system=self.system_prompt,
            opening=self.user_message,
            goal=self.goal,
            persona_ids=tuple(self.persona_ids),
            settings=RunSettings(**self._settings()),
            choices=self.evaluators.choices(),
            format_checks=tuple(self.format.checks()) if self.format else (),
            trial=self.trial,
            is_of_connector=self.connector_id is not None,
        )

    def _targets(self) -> tuple[Target, ...]:
        if self.connector_id is not None:
            return (target_of(None, self.connector_id),)
        return targets_of(self.models, self.targets)

    def _settings(self) -> dict[str, Any]:
        params, graders = {"temperature": self.temperature, "maxOutputTokens": self.max_output_tokens}, self._graders()
        return {
            **same_fields(self, names_of(RunSettings)),
            "params": {name: value for name, value in params.items() if value is not None},
            "grader_config": GraderConfig(**graders),
            "disabled_graders": tuple(sorted(name for name, value in graders.items() if value is None)),
            "labels": self.labels(),
        }

    def _graders(self) -> dict[str, Any]:
        """Fields of GraderConfig that the request sets; None for those that it switches off."""
        given: dict[str, Any] = {name: getattr(self, name) for name in _GRADERS if name in self.model_fields_set}
        if "external" in self.evaluators.model_fields_set:
            external = self.evaluators.external
            given["evaluator_url"] = external.url if external else None
        return given


class EstimateScaleRun(CreateScaleRun):
    """The body of a start."""
