from collections.abc import Mapping
from dataclasses import field
from typing import TypedDict

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.periods import PeriodLimitChanges, PeriodLimits
from cupel_core.domain.limits.open_runs import OpenRunLimits
from cupel_core.domain.limits.scale_runs import ScaleRunLimits
from cupel_core.domain.scoring.grader_config import GraderConfig


@dataclass(frozen=True)
class EvaluatorEndpoint:
    """Describes an external evaluator; None as headers retains the stored ones."""

    url: str
    headers: Mapping[str, str] | None = field(default=None, repr=False)


class SettingsChanges(TypedDict, total=False):
    """In an update, omitted fields are unchanged, and None unsets a field."""

    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    analysis_model: str | None
    evaluator: EvaluatorEndpoint | None
    open_runs_per_owner: int | None
    open_runs: int | None
    max_scale_run_count: int | None
    max_scale_run_concurrency: int | None
    budgets: PeriodLimitChanges | None
    summarizer_model: str | None


@dataclass(frozen=True)
class EvaluationSettings:
    """Contains a workspace's settings, with the names of the evaluator's headers but not their secret values."""

    grader_config: GraderConfig
    header_names: tuple[str, ...]
    revision: int = 0
    open_runs: OpenRunLimits = field(default_factory=OpenRunLimits)
    analysis_model: str | None = None
    """The model writes the narratives of deep analyses; rules do if None."""
    budgets: PeriodLimits = field(default_factory=PeriodLimits)
    scale_runs: ScaleRunLimits = field(default_factory=ScaleRunLimits)
