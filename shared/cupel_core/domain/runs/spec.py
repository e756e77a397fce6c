"""Requests to start runs: by the API, a schedule, an eval or the playground."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import WRITTEN
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.runs.labels import LabelChanges
from cupel_core.domain.runs.pace import Pace, Stagger
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig


@dataclass(frozen=True)
class RunSpec:
    """A requested run."""

    definition_id: str
    targets: tuple[Target, ...]
    sample_percentage: int = 100
    sample_seed: int | None = None
    """Drawn and recorded in the run if None."""
    priority: Priority = Priority.NORMAL
    experiment_id: str | None = None
    schedule_id: str | None = None
    repeats: int = 1
    params: ParameterFields = field(default_factory=dict)
    """Take precedence over the eval's, which take precedence over the definition's; null removes one."""
    max_attempts: int | None = None
    retry_delay_seconds: float | None = None
    call_timeout_seconds: float | None = None
    max_turns: int | None = None
    max_concurrency: int | None = None
    stagger_ms: Stagger | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    """Takes precedence over the eval's, which takes precedence over the workspace's."""
    scenario_ids: tuple[str, ...] = ()
    """Only these, in the definition's order; all if empty."""
    persona_ids: tuple[str, ...] | None = None
    """Replace each scenario's own personas."""
    eval_id: str | None = None
    playground: bool = False
    definition_version: int | None = None
    """The latest when the run starts if None."""
    disabled_graders: tuple[str, ...] = ()
    """Fields of GraderConfig that are None for this run even if the eval or the workspace sets them."""
    rerun_of: str | None = None
    """The run whose definition version, scenarios and personas it has, exactly as they were."""
    labels: LabelChanges = field(default_factory=LabelChanges)
    """A rerun has those of the run that it repeats, except for these."""
    evaluators: Mapping[str, str] = field(default_factory=dict)
    """The statuses of a scale run's default evaluators by name; empty for other runs."""
    report: bool = False
    """Whether a report is written when it completes."""
    trial: bool = False
    """Whether the revised prompt of that report is tried."""
    scale: bool = False
    """Whether it was started as a scale run."""
    max_budget_usd: float | None = None
    """What may be spent; no limit if None."""
    allow_unpriced: bool = False
    """Whether a run with a budget may call models whose price is unknown."""
    confirmed_usd: float | None = None
    """The greatest expected cost that the caller has agreed to, although it exceeds the budget."""
    profile_id: str | None = None
    profile_version: int | None = None
    """The newest when the run starts if None."""

    @property
    def pace(self) -> Pace:
        return Pace(self.max_concurrency, self.stagger_ms)


@dataclass(frozen=True)
class EvalRunOptions:
    """Options of a run of an eval or of a playground scenario."""

    priority: Priority = Priority.NORMAL
    repeats: int = 1
    experiment_id: str | None = None
    params: ParameterFields = field(default_factory=dict)
    max_attempts: int | None = None
    retry_delay_seconds: float | None = None
    call_timeout_seconds: float | None = None
    max_turns: int | None = None
    max_concurrency: int | None = None
    stagger_ms: Stagger | None = None
    grader_config: GraderConfig = field(default_factory=GraderConfig)
    disabled_graders: tuple[str, ...] = ()
    labels: LabelChanges = field(default_factory=LabelChanges)
    max_budget_usd: float | None = None
    allow_unpriced: bool = False
    confirmed_usd: float | None = None
    profile_id: str | None = None
    profile_version: int | None = None
    report: bool = False


@dataclass(frozen=True)
class EvalRunSpec:
    """A requested run of an eval as it is when the run starts."""

    eval_id: str
    options: Annotated[EvalRunOptions, WRITTEN] = field(default_factory=EvalRunOptions)


@dataclass(frozen=True)
class PlaygroundSpec:
    """A playground run: one scenario and one target (connector or model), without a persona unless one is named."""

    scenario_id: str
    target: Target
    persona_id: str | None = None
    definition_id: str | None = None
