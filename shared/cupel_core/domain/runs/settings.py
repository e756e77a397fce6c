from dataclasses import field, fields
from typing import Any, Self

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.runs.labels import LabelChanges
from cupel_core.domain.runs.pace import Pace, Stagger
from cupel_core.domain.runs.priority import Priority
from cupel_core.domain.scoring.grader_config import GraderConfig

MAX_REPEATS = 1_000


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    priority: Priority = Priority.NORMAL
    experiment_id: str | None = None
    params: ParameterFields = field(default_factory=dict)
    """A request's parameters take precedence over the eval's, these over the definition's, and those of a target over
    all of them. Null removes a parameter."""
    max_attempts: int | None = None
    """Each call to a target has at most this many attempts; the default applies if None."""
    retry_delay_seconds: float | None = None
    """The longest wait before the second attempt of a call to a target; None is the default."""
    call_timeout_seconds: float | None = None
    """One call to a target may take this long; the stack's limit applies if None."""
    max_turns: int | None = None
    max_concurrency: int | None = None
    stagger_ms: Stagger | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    """A request's grading models take precedence over the eval's, and these over the workspace's."""
    report: bool = False

    @property
    def pace(self) -> Pace:
        return Pace(self.max_concurrency, self.stagger_ms)


@dataclass(frozen=True, kw_only=True)
class BudgetTerms:
    """Limits what a run, a scale run or a trial may spend."""

    max_budget_usd: float | None = None
    """The spending limit; None means no limit."""
    allow_unpriced: bool = False
    """A run with a budget may call models whose price is unknown."""
    confirmed_usd: float | None = None
    """The caller has confirmed an expected cost up to this, although it exceeds the budget."""


@dataclass(frozen=True, kw_only=True)
class RunSettings(RunConfig, BudgetTerms):
    repeats: int = 1
    disabled_graders: tuple[str, ...] = ()
    """Fields of GraderConfig that are None for this run even if the eval or the workspace sets them."""
    labels: LabelChanges = field(default_factory=LabelChanges)
    """A rerun has the labels of the run that it repeats, except for these."""
    profile_id: str | None = None
    profile_version: int | None = None
    """None stands for the newest version when the run starts."""

    def graders(self, defaults: GraderConfig) -> GraderConfig:
        return self.grader_config.with_defaults(defaults).without(self.disabled_graders)

    def with_judge(self, model: str | None) -> Self:
        others = {name for name in self.disabled_graders if name != "judge_model"}
        disabled = others if model is not None else {*others, "judge_model"}
        config = replace(self.grader_config, judge_model=model)
        return replace(self, grader_config=config, disabled_graders=tuple(sorted(disabled)))


def names_of(kind: type[RunConfig | BudgetTerms]) -> list[str]:
    return [each.name for each in fields(kind)]


def values_of(kind: type[RunConfig], source: RunConfig) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names_of(kind)}
