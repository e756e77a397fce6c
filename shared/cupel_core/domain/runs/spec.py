"""Requests to start runs: by the API, a schedule, an eval or the playground."""

from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any, Self

from cupel_core.base.deferred import dataclass
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

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that is stored with an idempotency key and in a schedule."""
        return asdict(replace(self, targets=())) | {
            "labels": self.labels.to_json(),
            "grader_config": self.grader_config.to_json(),
            "targets": [target.to_json() for target in self.targets],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        persona_ids = data["persona_ids"]
        return cls(
            **{
                **data,
                "targets": tuple(map(Target.from_json, data["targets"])),
                "priority": Priority(data["priority"]),
                "grader_config": GraderConfig.from_json(data["grader_config"]),
                "scenario_ids": tuple(data["scenario_ids"]),
                "disabled_graders": tuple(data["disabled_graders"]),
                "persona_ids": None if persona_ids is None else tuple(persona_ids),
                "labels": LabelChanges.from_json(data["labels"]),
                "stagger_ms": _stagger(data),
            }
        )


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
    options: EvalRunOptions = field(default_factory=EvalRunOptions)

    def to_json(self) -> dict[str, Any]:
        labels, grader_config = self.options.labels.to_json(), self.options.grader_config.to_json()
        options = asdict(self.options) | {"labels": labels, "grader_config": grader_config}
        return {"eval_id": self.eval_id, "eval_options": options}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        options = data["eval_options"]
        changed = {
            **options,
            "priority": Priority(options["priority"]),
            "grader_config": GraderConfig.from_json(options["grader_config"]),
            "disabled_graders": tuple(options["disabled_graders"]),
            "labels": LabelChanges.from_json(options["labels"]),
            "stagger_ms": _stagger(options),
        }
        return cls(data["eval_id"], EvalRunOptions(**changed))


@dataclass(frozen=True)
class PlaygroundSpec:
    """A playground run: one scenario and one target (connector or model), without a persona unless one is named."""

    scenario_id: str
    target: Target
    persona_id: str | None = None
    definition_id: str | None = None


def _stagger(data: Mapping[str, Any]) -> Stagger | None:
    gaps = data["stagger_ms"]
    return (gaps[0], gaps[1]) if gaps else None
